"""A run that is killed at any moment ends, resumed, with the weights of a run left alone, bit for bit."""

import os
import random
import shutil
import signal
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.lib.forked import exit_codes, start
from tests.lib.small import write_corpus

import nmt_lib as nmt
from nmt_lib.runs.checkpoints import checkpoint_files, load_checkpoint
from nmt_lib.training import Trainer

STEPS, EVERY = 24, 3


def train_and_die(folder: Path, moment: str, n: int) -> None:
    """Trains, and kills itself (as `kill -9` would) at the n-th call of a function, before or after it."""
    places: dict[str, tuple[Any, str]] = {
        "update": (Trainer, "update"),
        "validate": (Trainer, "validate"),
        "sync": (os, "fsync"),
        "write": (Trainer, "_write"),
        "move": (os, "replace"),
        "delete": (Path, "unlink"),
        "hand_out": (Trainer, "hand_out"),
    }
    home, name = places[moment.removeprefix("half-")]
    original, calls = getattr(home, name), []

    def deadly(*arguments: Any, **options: Any) -> Any:
        if name == "replace" and not str(arguments[1]).endswith(".safetensors"):
            return original(*arguments, **options)
        if name == "fsync" and not Path(
            os.readlink(f"/proc/self/fd/{arguments[0]}")
        ).name.startswith(("step", "best")):
            return original(*arguments, **options)
        calls.append(arguments)
        if len(calls) == n:
            if (
                moment == "half-sync"
            ):  # only half of the checkpoint has reached the disk
                os.ftruncate(arguments[0], os.fstat(arguments[0]).st_size // 2)
            os.kill(os.getpid(), signal.SIGKILL)
        return original(*arguments, **options)

    setattr(home, name, deadly)
    train(folder / "config.yaml", folder / "run")


def train(config: Path, path: Path, **overrides: Any) -> nmt.Run:
    return nmt.train(
        nmt.load_config(
            config,
            run_dir=str(path),
            **{k.replace("__", "."): v for k, v in overrides.items()},
        )
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a small corpus and a config with dropout, several batches an epoch and many checkpoints."""
    folder = tmp_path_factory.mktemp("resume")
    config = nmt.load_config(
        "toy",
        **{
            "data.corpus": str(write_corpus(folder / "corpus")),
            "model.dropout": 0.1,
            "model.d_model": 16,
            "train.batch_sentences": 4,
            "train.max_steps": STEPS,
            "train.validate_every": EVERY,
            "train.checkpoint_every": EVERY,
            "train.keep_checkpoints": 3,
            "train.select": "average",
        },
    )
    (folder / "config.yaml").write_text(config.to_yaml(), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def alone(folder: Path) -> nmt.Run:
    """The same run, left alone."""
    return nmt.train(
        nmt.load_config(folder / "config.yaml", run_dir=str(folder / "alone"))
    )


def killed(folder: Path, moment: str, n: int) -> None:
    """Trains in a process of its own until it kills itself."""
    assert exit_codes(start(train_and_die, folder, moment, n)) == [-signal.SIGKILL]


def assert_same_run(run: nmt.Run, alone: nmt.Run) -> None:
    assert run.history == alone.history
    assert (run.path / "history.csv").read_bytes() == (
        alone.path / "history.csv"
    ).read_bytes()
    for name in ("model.safetensors", "best.safetensors"):
        assert (run.path / name).read_bytes() == (alone.path / name).read_bytes()
    ours, theirs = (
        checkpoint_files(path / "checkpoints") for path in (run.path, alone.path)
    )
    assert [file.name for file in ours] == [file.name for file in theirs]
    for a, b in zip(ours, theirs, strict=True):
        assert (
            a.read_bytes() == b.read_bytes()
        )  # weights, optimizer, random numbers and progress


def test_killed_at_three_moments_and_inside_a_checkpoint(
    folder: Path, alone: nmt.Run
) -> None:
    draw = random.Random(2017)
    config = nmt.load_config(folder / "config.yaml", run_dir=str(folder / "run"))
    killed(folder, "update", draw.randint(EVERY + 1, 2 * EVERY))
    killed(
        folder, "half-sync", 2 * draw.randint(1, 2)
    )  # each validation may write best.safetensors, then a checkpoint
    assert list((folder / "run" / "checkpoints").glob("*.tmp"))
    killed(folder, draw.choice(["validate", "write", "move"]), draw.randint(2, 4))
    for select in ("average", "best", "last"):  # the same killed run, ended three ways
        copy = folder / select
        shutil.copytree(folder / "run", copy)
        changes = {
            "run_dir": str(copy),
            "train": config.train.model_copy(update={"select": select}),
        }
        run = nmt.train(config.model_copy(update=changes))
        left = nmt.train(
            config.model_copy(
                update=changes | {"run_dir": str(folder / f"alone-{select}")}
            )
        )
        assert_same_run(run, left)
    assert_same_run(nmt.train(config), alone)


@pytest.mark.parametrize(
    ("moment", "n"), [("delete", STEPS // EVERY - 3), ("hand_out", 1)]
)
def test_killed_after_the_last_checkpoint(
    folder: Path, alone: nmt.Run, moment: str, n: int
) -> None:
    """Before old checkpoints are deleted: the mean must not take in more of them than are kept."""
    shutil.rmtree(folder / "run", ignore_errors=True)
    killed(folder, moment, n)
    assert not (folder / "run" / "model.safetensors").exists()
    assert (
        load_checkpoint(checkpoint_files(folder / "run" / "checkpoints")[-1]).state[
            "progress"
        ]["step"]
        == STEPS
    )
    run = nmt.train(
        nmt.load_config(folder / "config.yaml", run_dir=str(folder / "run"))
    )
    assert (run.path / "model.safetensors").read_bytes() == (
        alone.path / "model.safetensors"
    ).read_bytes()


def test_pieces_that_are_drawn_are_the_same_after_a_kill(
    tmp_path: Path, folder: Path
) -> None:
    """BPE dropout: the process that goes on in the middle of an epoch draws the pieces that the killed one had."""
    pieces = {"data.tokenizer": "bpe", "data.vocab_size": 60, "data.bpe_dropout": 0.3}
    config = nmt.load_config(folder / "config.yaml", **pieces)
    (tmp_path / "config.yaml").write_text(config.to_yaml(), encoding="utf-8")
    killed(tmp_path, "update", 2 * EVERY + 2)
    runs = [
        nmt.train(
            nmt.load_config(tmp_path / "config.yaml", run_dir=str(tmp_path / name))
        )
        for name in ("run", "b")
    ]
    assert_same_run(*runs)
    plain = nmt.train(
        config.model_copy(
            update={
                "data": config.data.model_copy(update={"bpe_dropout": 0.0}),
                "run_dir": str(tmp_path / "plain"),
            }
        )
    )
    assert plain.history[0]["train_loss"] != runs[0].history[0]["train_loss"]


def test_killed_from_outside_at_a_random_moment(tmp_path: Path, folder: Path) -> None:
    config, checkpoints = folder / "config.yaml", tmp_path / "run" / "checkpoints"
    child = start(
        partial(train, train__max_steps=400, train__checkpoint_every=5),
        config,
        tmp_path / "run",
    )
    deadline = time.monotonic() + 60
    while not checkpoint_files(checkpoints) and child.is_alive():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    time.sleep(random.uniform(0, 0.3))
    child.kill()
    assert exit_codes(child) == [-signal.SIGKILL]
    further = {
        "train__checkpoint_every": 5,
        "train__max_steps": int(checkpoint_files(checkpoints)[-1].stem[5:]) + 12,
    }
    assert_same_run(
        *(train(config, tmp_path / name, **further) for name in ("run", "alone"))
    )
