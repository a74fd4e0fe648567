"""Files say that they are whole: whatever is cut, changed, or put in the place of another is refused by name."""

import json
import os
import random
import re
import shutil
import warnings
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from tests.lib.small import small_translator

import nmt_lib as nmt
from nmt_lib.runs import checkpoints as ckpt
from nmt_lib.runs.checkpoints import Checkpoint, load_checkpoint, save_checkpoint
from nmt_lib.runs.files import PLACE, read_text, write_text
from nmt_lib.runs.folder import load_tokenizer, read_config, write_history
from nmt_lib.translator import PRETRAINED

NAMES = ["config.yaml", "src_tokenizer.json", "tgt_tokenizer.json", "model.safetensors"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    small_translator(3).save(tmp_path / "saved")
    return tmp_path / "saved"


def without_digests(folder: Path) -> None:
    """The folder as older versions wrote it."""
    for path in folder.glob("*_tokenizer.json"):
        path.write_text(
            "{" + path.read_text(encoding="utf-8").partition("\n")[2], encoding="utf-8"
        )
    path = folder / "config.yaml"
    path.write_text(
        path.read_text(encoding="utf-8").partition("\n")[2], encoding="utf-8"
    )
    saved = load_checkpoint(folder / "model.safetensors")
    state = {key: value for key, value in saved.state.items() if key != "config"}
    save_file(saved.tensors, folder / "model.safetensors", {"state": json.dumps(state)})


def test_every_text_that_is_written_says_that_it_is_whole(folder: Path) -> None:
    cards = PRETRAINED.glob("*/*")
    texts = [
        path
        for path in [*folder.iterdir(), *cards]
        if path.suffix in (".yaml", ".json", ".md")
    ]
    assert len(texts) >= 3 + 8 and all(read_text(path)[1] for path in texts)
    json.loads((folder / "src_tokenizer.json").read_text(encoding="utf-8"))
    write_history(
        folder / "history.csv", [{"step": 1, "lr": 0.5}, {"step": 2, "lr": 0.25}]
    )
    assert [
        line.rpartition(",")[2] for line in (folder / "history.csv").read_text().split()
    ] == ["rows", "2", "2"]


@pytest.mark.parametrize("old", [False, True])
@pytest.mark.parametrize("name", NAMES[:3])
def test_a_text_cut_at_any_byte_is_refused(folder: Path, name: str, old: bool) -> None:
    if old:
        without_digests(folder)
    content = (folder / name).read_bytes()
    for end in range(len(content)):
        (folder / name).write_bytes(content[:end])
        with pytest.raises(nmt.CheckpointError, match=name):
            read_config(folder) if name == "config.yaml" else load_tokenizer(
                folder / name
            )


@pytest.mark.parametrize("name", NAMES)
def test_no_damage_is_silent(folder: Path, name: str) -> None:
    """Bits, bytes, blocks of zeros, digits, more at the end: a named error, or the same translator as before."""
    draw, content = random.Random(name), (folder / name).read_bytes()
    good = nmt.Translator.load(folder, device="cpu")
    for case in range(150):
        damaged, at = bytearray(content), draw.randrange(len(content))
        size = [1, 64, 64, 1, 0][case % 5]
        new = [
            bytes([content[at] ^ 1 << draw.randrange(8)]),
            draw.randbytes(64),
            bytes(64),
            b"9",
            draw.randbytes(9),
        ]
        damaged[at : at + size] = new[case % 5] if case % 5 < 4 else b""
        damaged += new[4] if case % 5 == 4 else b""
        (folder / name).write_bytes(damaged)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                found = nmt.Translator.load(folder, device="cpu")
        except nmt.CheckpointError as error:
            assert "\n" not in str(error) and len(str(error)) < 500
        else:
            assert found.config == good.config
            assert [t.dumps() for t in (found.src_tokenizer, found.tgt_tokenizer)] == [
                t.dumps() for t in (good.src_tokenizer, good.tgt_tokenizer)
            ]
            for ours, theirs in zip(
                found.model.parameters(), good.model.parameters(), strict=True
            ):
                assert torch.equal(ours, theirs)


@pytest.mark.parametrize("kind", ["pipe", "folder", "device"])
@pytest.mark.parametrize("name", NAMES)
def test_what_is_no_regular_file_is_refused_before_it_is_opened(
    folder: Path, name: str, kind: str
) -> None:
    path = folder / name
    path.unlink()
    if kind == "device":
        path.symlink_to("/dev/zero")
    else:
        (os.mkfifo if kind == "pipe" else os.mkdir)(path)
    with pytest.raises(nmt.CheckpointError, match=re.escape(str(folder))):
        nmt.Translator.load(folder)


def test_files_of_older_versions_load_with_one_note(folder: Path) -> None:
    text = "ich sehe ein haus"
    before = nmt.Translator.load(folder, device="cpu")(text)
    without_digests(folder)
    with pytest.warns(UserWarning, match="older version .* without digests") as notes:
        assert nmt.Translator.load(folder, device="cpu")(text) == before
    assert len({str(note.message) for note in notes}) == 1


def test_a_text_changed_on_purpose_says_what_to_do(folder: Path) -> None:
    path = folder / "config.yaml"
    changed = path.read_text(encoding="utf-8").replace("beam_size: 1", "beam_size: 2")
    path.write_text(changed, encoding="utf-8")
    for read in (lambda: nmt.Translator.load(folder), lambda: nmt.load_config(path)):
        with pytest.raises(
            nmt.NMTError, match=r"config.yaml is damaged: .*changed it on purpose"
        ):
            read()  # type: ignore[no-untyped-call]
    path.write_text(changed.partition("\n")[2], encoding="utf-8")
    assert nmt.load_config(path).decode.beam_size == 2


def test_line_ends_of_another_system_are_no_damage(folder: Path) -> None:
    path = folder / "config.yaml"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert read_config(folder) == small_translator().config


def test_a_text_too_large_to_be_one_is_refused(tmp_path: Path) -> None:
    write_text(tmp_path / "x.yaml", f"# xxh3_128: {PLACE}\n" + "# \n" * 100)
    assert read_text(tmp_path / "x.yaml")[1]
    with pytest.raises(nmt.CheckpointError, match="more than 100 bytes"):
        read_text(tmp_path / "x.yaml", most=100)


# -------------------------------------------------------------------------------------------- of another model, or none
def test_a_copy_under_another_name_is_refused(tmp_path: Path) -> None:
    save_checkpoint(
        tmp_path / "best.safetensors", Checkpoint({"model.w": torch.ones(3)}, {})
    )
    shutil.copy(tmp_path / "best.safetensors", tmp_path / "model.safetensors")
    with pytest.raises(
        nmt.CheckpointError, match=r"model.safetensors .*copy of best.safetensors"
    ):
        load_checkpoint(tmp_path / "model.safetensors")


def test_weights_of_a_model_with_the_same_shapes_are_refused(
    folder: Path, tmp_path: Path
) -> None:
    small_translator(3, n_heads=2).save(tmp_path / "other")
    shutil.copy(tmp_path / "other" / "model.safetensors", folder)
    with pytest.raises(nmt.CheckpointError, match=r"model.n_heads=2, not 4"):
        nmt.Translator.load(folder)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_weights_that_are_not_finite_are_refused(folder: Path, value: float) -> None:
    translator = nmt.Translator.load(folder, device="cpu")
    translator.model.output.bias.data[0] = value
    file = folder / "model.safetensors"
    saved = ckpt.load_checkpoint(file)
    saved.tensors["model.output.bias"][0] = value
    save_checkpoint(file, saved)
    with pytest.raises(nmt.CheckpointError, match=r"output.bias .* finite"):
        nmt.Translator.load(folder)
    for beam_size in (1, 3):  # a model that is in memory: the search ends
        with pytest.raises(nmt.TrainingError, match="not finite"):
            translator.translate("ich sehe", beam_size)


def test_an_average_names_what_is_missing_or_of_another_run(tmp_path: Path) -> None:
    files = [ckpt.checkpoint_path(tmp_path, step) for step in (1, 2, 3)]
    for file in files:
        save_checkpoint(
            file, Checkpoint({"model.w": torch.ones(3)}, {"config": {"train.lr": 0.1}})
        )
    assert ckpt.average_weights(files)["w"].tolist() == [1, 1, 1]
    save_checkpoint(
        files[2], Checkpoint({"model.w": torch.ones(3)}, {"config": {"train.lr": 0.2}})
    )
    with pytest.raises(nmt.CheckpointError, match=r"step-00000003.* of another run"):
        ckpt.average_weights(files)
    save_checkpoint(
        files[2], Checkpoint({"model.w": torch.ones(3), "model.b": torch.ones(1)}, {})
    )
    with pytest.raises(nmt.CheckpointError, match=r"step-00000003.* of another run"):
        ckpt.average_weights(files)
    files[1].unlink()
    with pytest.raises(nmt.CheckpointError, match=r"step-00000002.*average needs it"):
        ckpt.average_weights(files)


def test_what_another_optimizer_left_is_refused() -> None:
    model = small_translator().model
    adam, sgd = (
        torch.optim.Adam(model.parameters()),
        torch.optim.SGD(model.parameters()),
    )
    sum(parameter.sum() for parameter in model.parameters()).backward()  # type: ignore[union-attr]
    adam.step()
    packed = ckpt.pack(model, adam)
    ckpt.unpack(packed, model, sgd)
    for changes in (
        {"optimizer.0.exp_avg": torch.ones(2)},
        {"optimizer.999.exp_avg": torch.ones(2)},
        {"optimizer.x.exp_avg": torch.ones(2)},
        {"random.cpu": torch.ones(3)},
    ):
        with pytest.raises(nmt.CheckpointError, match="belongs to another run"):
            ckpt.unpack(packed | changes, model, adam)
    with pytest.raises(nmt.CheckpointError, match="belongs to another run"):
        ckpt.unpack(
            {name: value for name, value in packed.items() if name != "random.cpu"},
            model,
            adam,
        )
