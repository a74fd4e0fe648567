"""Checkpoints: whatever happens while one is written, the last good one can be read, and no file runs code."""

import os
import pickle
import resource
import signal
import time
import warnings
from itertools import count
from pathlib import Path

import pytest
import torch
from tests.lib.forked import exit_codes, start
from torch import Tensor, nn

import nmt_lib as nmt
from nmt_lib.config import ModelConfig
from nmt_lib.runs import checkpoints as ckpt
from nmt_lib.runs.checkpoints import (
    Checkpoint,
    checkpoint_path,
    load_checkpoint,
    newest_checkpoint,
    save_checkpoint,
)
from nmt_lib.runs.folder import write_text

SMALL = ModelConfig(d_model=16, n_heads=2, n_layers=1, d_ff=16, tying="target")


def checkpoint(step: int = 1, size: int = 100) -> Checkpoint:
    return Checkpoint(
        {"model.w": torch.full((size,), float(step))}, {"step": step, "name": "Straße"}
    )


def test_what_was_saved_loads_equal(tmp_path: Path) -> None:
    tensors: dict[str, Tensor] = {
        "a": torch.randn(3, 4).t(),  # not contiguous
        "b": torch.arange(5, dtype=torch.uint8),
        "c": torch.tensor(1.5, dtype=torch.bfloat16),
        "d": torch.zeros(0, 3),
    }
    tensors["e"] = tensors["a"][0]  # shares its memory
    state = {
        "step": 3,
        "loss": 0.1 + 0.2,
        "best": float("inf"),
        "history": [{"step": 1}],
        "text": "Straße 😀",
    }
    save_checkpoint(tmp_path / "x.safetensors", Checkpoint(tensors, state))
    again = load_checkpoint(tmp_path / "x.safetensors")
    assert again.state == state
    assert again.tensors.keys() == tensors.keys()
    assert all(
        torch.equal(again.tensors[name], value) for name, value in tensors.items()
    )
    assert all(
        again.tensors[name].dtype == value.dtype for name, value in tensors.items()
    )


def test_the_folder_is_made_and_nothing_else_is_left_in_it(tmp_path: Path) -> None:
    save_checkpoint(checkpoint_path(tmp_path / "a" / "b", 7), checkpoint())
    assert [path.name for path in (tmp_path / "a" / "b").iterdir()] == [
        "step-00000007.safetensors"
    ]


def test_a_full_disk_leaves_the_old_file_and_no_half_one(tmp_path: Path) -> None:
    """A real limit of the operating system on the size of a file stops the write in its middle."""
    path = tmp_path / "x.safetensors"
    save_checkpoint(path, checkpoint(1))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, hard))
    try:
        with pytest.raises(
            nmt.CheckpointError, match=r"cannot write .*x.safetensors .*are kept"
        ):
            save_checkpoint(path, checkpoint(2, size=100_000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert load_checkpoint(path).state["step"] == 1
    assert list(tmp_path.iterdir()) == [path]


def test_a_disk_that_cannot_be_written_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.safetensors"
    save_checkpoint(path, checkpoint(1))

    def fail(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(nmt.CheckpointError, match="No space left on device"):
        save_checkpoint(path, checkpoint(2))
    assert load_checkpoint(path).state["step"] == 1
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_where_the_folder_should_be_is_an_error_with_the_path(
    tmp_path: Path,
) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(nmt.CheckpointError, match=r"cannot write .*file/x.safetensors"):
        save_checkpoint(tmp_path / "file" / "x.safetensors", checkpoint())
    with pytest.raises(nmt.CheckpointError, match=r"cannot write .*file/x.csv"):
        write_text(tmp_path / "file" / "x.csv", "text")


def write_for_ever(path: Path) -> None:
    for step in count(1):
        save_checkpoint(
            path, Checkpoint({"w": torch.full((500_000,), float(step))}, {"step": step})
        )


def test_a_process_killed_while_it_writes_leaves_a_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "step-00000001.safetensors"
    writer, deadline = start(write_for_ever, path), time.monotonic() + 60
    while not path.exists() and time.monotonic() < deadline:
        pass
    while not path.with_suffix(".tmp").exists() and time.monotonic() < deadline:
        pass  # the next write is on its way
    writer.kill()
    assert exit_codes(writer) == [-signal.SIGKILL]
    saved = load_checkpoint(path)
    assert torch.equal(
        saved.tensors["w"], torch.full((500_000,), float(saved.state["step"]))
    )


def test_a_half_written_file_is_not_taken_for_a_checkpoint(tmp_path: Path) -> None:
    save_checkpoint(checkpoint_path(tmp_path, 1), checkpoint(1))
    for name in (
        "step-00000002.tmp",
        "step-2.safetensors",
        "step-00000003.safetensors.tmp",
        "best.safetensors",
    ):
        (tmp_path / name).write_bytes(b"half")
    assert ckpt.checkpoint_files(tmp_path) == [checkpoint_path(tmp_path, 1)]


def damage(path: Path, kind: str) -> None:
    content = path.read_bytes()
    path.write_bytes(
        {
            "cut": content[: len(content) // 2],
            "last byte gone": content[:-1],
            "cut in the header": content[:20],
            "empty": b"",
            "garbage": os.urandom(500),
            "huge header": b"\xff" * 8 + content[8:],
            "text": b"this is no checkpoint",
        }[kind]
    )


KINDS = (
    "cut",
    "last byte gone",
    "cut in the header",
    "empty",
    "garbage",
    "huge header",
    "text",
)


@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_file_is_named(tmp_path: Path, kind: str) -> None:
    path = checkpoint_path(tmp_path, 1)
    save_checkpoint(path, checkpoint())
    damage(path, kind)
    with pytest.raises(
        nmt.CheckpointError, match=r"step-00000001.safetensors is damaged"
    ):
        load_checkpoint(path)


@pytest.mark.parametrize("kind", KINDS)
def test_the_last_good_one_is_found_behind_a_damaged_one(
    tmp_path: Path, kind: str
) -> None:
    for step in (1, 2, 10):
        save_checkpoint(checkpoint_path(tmp_path, step), checkpoint(step))
    damage(checkpoint_path(tmp_path, 10), kind)
    with pytest.warns(UserWarning, match=r"step-00000010.safetensors is damaged"):
        found = newest_checkpoint(tmp_path)
    assert found is not None
    assert found[0] == checkpoint_path(tmp_path, 2)
    assert found[1].state["step"] == 2


def test_no_checkpoint_is_no_error(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert newest_checkpoint(tmp_path / "nowhere") is None


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(nmt.CheckpointError, match=r"no checkpoint .*x.safetensors"):
        load_checkpoint(tmp_path / "x.safetensors")


def test_a_file_of_somebody_else_is_refused(tmp_path: Path) -> None:
    from safetensors.torch import save_file

    save_file({"w": torch.zeros(2)}, tmp_path / "x.safetensors")
    with pytest.raises(nmt.CheckpointError, match="damaged"):
        load_checkpoint(tmp_path / "x.safetensors")


class Bomb:
    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, (self.path,)


@pytest.mark.parametrize("writer", ["pickle", "torch"])
def test_a_pickle_under_the_name_of_a_checkpoint_is_refused_and_not_executed(
    tmp_path: Path, writer: str
) -> None:
    path, trace = checkpoint_path(tmp_path, 1), tmp_path / "executed"
    if writer == "pickle":
        path.write_bytes(pickle.dumps(Bomb(str(trace))))
    else:
        torch.save({"model.w": torch.zeros(2), "bomb": Bomb(str(trace))}, path)
    with pytest.raises(nmt.CheckpointError, match="damaged"):
        load_checkpoint(path)
    assert not trace.exists()


def model(
    config: ModelConfig = SMALL, src_size: int = 10, tgt_size: int = 12
) -> nn.Module:
    return nmt.build_model(config, src_size, tgt_size)


def test_weights_optimizer_and_random_numbers_come_back(tmp_path: Path) -> None:
    one, other = model(), model()
    optimizers = [torch.optim.Adam(m.parameters(), lr=0.1) for m in (one, other)]

    def step(network: nn.Module, optimizer: torch.optim.Optimizer) -> None:
        optimizer.zero_grad()
        sum((p * torch.randn_like(p)).sum() for p in network.parameters()).backward()
        optimizer.step()

    step(one, optimizers[0])
    save_checkpoint(
        tmp_path / "x.safetensors", Checkpoint(ckpt.pack(one, optimizers[0]), {})
    )
    step(one, optimizers[0])
    torch.manual_seed(12345)
    ckpt.unpack(
        load_checkpoint(tmp_path / "x.safetensors").tensors, other, optimizers[1]
    )
    step(other, optimizers[1])
    assert all(
        torch.equal(a, b)
        for a, b in zip(one.parameters(), other.parameters(), strict=True)
    )


def test_a_matrix_used_twice_is_stored_once() -> None:
    network = model()
    assert len(ckpt.model_state(network)) < len(network.state_dict(keep_vars=True))


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (
            model(SMALL.model_copy(update={"n_layers": 2})),
            "belong to another model: 0 are missing",
        ),
        (model(SMALL.model_copy(update={"bias": False})), "belong to another model"),
        (model(SMALL.model_copy(update={"d_ff": 32})), "another config or vocabulary"),
        (model(tgt_size=13), r"has shape \(13, 16\) in the file and \(12, 16\)"),
    ],
    ids=["layers", "bias", "width", "vocabulary"],
)
def test_weights_of_another_config_or_vocabulary_are_refused_and_change_nothing(
    other: nn.Module, message: str
) -> None:
    own = model()
    before = {name: value.clone() for name, value in ckpt.model_state(own).items()}
    with pytest.raises(nmt.CheckpointError, match=message):
        ckpt.load_weights(own, ckpt.model_state(other))
    assert all(
        torch.equal(value, before[name])
        for name, value in ckpt.model_state(own).items()
    )


def test_the_average_is_the_mean_of_the_weights_only(tmp_path: Path) -> None:
    for step, value in ((1, 1.0), (2, 4.0)):
        tensors = {
            "model.w": torch.full((3,), value),
            "optimizer.0.step": torch.tensor(9.0),
        }
        save_checkpoint(checkpoint_path(tmp_path, step), Checkpoint(tensors, {}))
    average = ckpt.average_weights(ckpt.checkpoint_files(tmp_path))
    assert {name: value.tolist() for name, value in average.items()} == {
        "w": [2.5, 2.5, 2.5]
    }


def test_a_text_file_is_replaced_in_one_step(tmp_path: Path) -> None:
    write_text(tmp_path / "a.csv", "old")
    write_text(tmp_path / "a.csv", "Straße\n")
    assert (tmp_path / "a.csv").read_bytes() == "Straße\n".encode()
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]
