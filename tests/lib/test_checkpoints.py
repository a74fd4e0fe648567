"""Model files: damage is named, and a crash leaves the old file."""

import json
import random
import resource
import zlib
from base64 import b64decode, b64encode
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
import torch
from safetensors.torch import save as safetensors_bytes

import nmt_lib as nmt
from nmt_lib.config import DataConfig
from nmt_lib.data.tokens import SPECIALS
from nmt_lib.training.model_file import ModelFile, load, pack, save
from nmt_lib.training.run_folder import RunFolder
from tests.lib.small import (
    ENGLISH,
    GERMAN,
    little_memory,
    rewritten,
    small_translator,
)


def model_file(step: int = 1, size: int = 100, **options: Any) -> ModelFile:
    translator = small_translator(**options)
    tokenizers = translator.src_tokenizer, translator.tgt_tokenizer
    weights = pack(translator.model)
    weights = {k: torch.full_like(w, float(step)) for k, w in weights.items()}
    weights["optimizer.0.exp_avg"] = torch.full((size,), float(step))
    state = {"step": step, "best_loss": float("inf"), "text": "Straße 😀"}
    return ModelFile(translator.config, tokenizers, weights, state)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The first checkpoint of three in a folder."""
    for step in (10, 2, 1):
        path = tmp_path / f"a/checkpoints/step-{step:08}.safetensors"
        save(path, model_file(step))
    return path


@pytest.mark.parametrize("src_specials", [True, False])
@pytest.mark.parametrize("joint", [True, False])
def test_what_was_saved_loads_equal(
    tmp_path: Path, src_specials: bool, joint: bool
) -> None:
    saved = model_file(src_specials=src_specials)
    if joint:
        saved = saved._replace(tokenizers=(saved.tokenizers[1],) * 2)
    values = torch.randn(3, 4).t()  # not contiguous
    saved.tensors.update(
        a=values,
        b=values[0],  # shares its memory
        c=torch.arange(5, dtype=torch.uint8),
        d=torch.tensor(1.5, dtype=torch.bfloat16),
        e=torch.zeros(0, 3),
    )
    path = tmp_path / "new folder" / "x.safetensors"
    save(path, saved)
    assert [*path.parent.iterdir()] == [path]
    again = load(path)
    assert (again.config, again.state) == (saved.config, saved.state)
    torch.testing.assert_close(again.tensors, saved.tensors, rtol=0, atol=0)
    pairs = zip(again.tokenizers, saved.tokenizers, strict=True)
    assert all(ours.dumps() == theirs.dumps() for ours, theirs in pairs)
    assert [tokenizer.sos for tokenizer in again.tokenizers] == [src_specials, True]


# --- damage
def test_any_damage_is_named_on_one_line(path: Path) -> None:
    content, draw = path.read_bytes(), random.Random(0)
    cases = [content[:end] for end in (0, 7, 20, 300, len(content) - 1)]
    cases += [content + b"\0", b"\xff" * 8 + content[8:], b"some text"]
    for _ in range(200):
        damaged = bytearray(content)
        damaged[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
        cases.append(bytes(damaged))
    for data in cases:
        path.write_bytes(data)
        with pytest.raises(nmt.CheckpointError, match=r"001.safe.* is dam") as error:
            load(path)
        said = str(error.value).removeprefix(str(path))
        assert "\n" not in said and len(said) < 450


def test_a_missing_file_and_one_of_another_library_are_named(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    with pytest.raises(nmt.CheckpointError, match=r"no model file .*x.safetensors"):
        load(path)
    for metadata in (None, {"format": "pt"}):
        path.write_bytes(safetensors_bytes({"w": torch.zeros(2)}, metadata))
        with pytest.raises(nmt.CheckpointError, match="not a model file") as error:
            load(path)
        assert "delete" not in str(error.value)


def made_elsewhere(path: Path, **changes: str) -> str:
    """The refusal of a whole file, its digest right, whose metadata were changed."""
    name = path.with_name("other.safetensors")
    name.write_bytes(rewritten(path, **changes))
    with pytest.raises(nmt.CheckpointError) as error:
        load(name)
    assert "delete" not in str(error.value) and "damaged" not in str(error.value)
    assert "\n" not in str(error.value) and len(str(error.value)) < 450 + len(str(path))
    return str(error.value)


def test_a_file_of_another_version_is_not_called_damaged(path: Path) -> None:
    config = model_file().config.model_dump()
    assert "made by a newer nmt_lib (format 2)" in made_elsewhere(path, format="2")
    config["train"]["weight_decay"] = 0.1
    said = made_elsewhere(path, config=json.dumps(config))
    assert "another version" in said and "unknown key 'train.weight_decay'" in said


@pytest.mark.parametrize(
    "sizes",
    [
        {"d_model": 2**13},
        {"d_ff": 2**20},
        {"d_value": 2**18},
        {"n_layers": 999, "n_decoder_layers": 1},
        {"n_decoder_layers": 999},
        {"d_model": 2**11, "max_positions": 10**5},
    ],
)
def test_sizes_of_a_config_are_not_trusted(path: Path, sizes: dict[str, int]) -> None:
    config = model_file().config.model_dump()
    config["model"] |= sizes
    assert "weights are fewer" in made_elsewhere(path, config=json.dumps(config))


def packed(model: bytes) -> str:
    """A SentencePiece model as a tokenizer's JSON holds it."""
    return b64encode(zlib.compress(model)).decode()


def test_a_zipped_tokenizer_of_any_size_is_not_trusted(path: Path) -> None:
    fields = {"kind": "bpe", "lowercase": False, "model": packed(bytes(100_000_000))}
    with little_memory(20_000_000):
        said = made_elsewhere(path, src_tokenizer=json.dumps(fields))
    assert "far too large" in said


def test_a_tokenizer_that_could_not_be_used_is_refused(path: Path) -> None:
    words: dict[str, Any] = json.loads(load(path).tokenizers[0].dumps())
    pairs = [nmt.Pair(GERMAN, ENGLISH)] * 4
    data = DataConfig(tokenizer="bpe", vocab_size=40)
    subwords = json.loads(nmt.build_tokenizers(data, pairs)[0].dumps())
    model = zlib.decompress(b64decode(subwords["model"]))
    undecodable = packed(model.replace("▁h".encode(), b"\xff" * 4))
    for reason, fields in (
        ("rules for 'pl'", words | {"kind": "spacy", "lang": "pl"}),
        ("rules for 'de '", words | {"kind": "other", "lang": "de "}),
        ("surrogates not allowed", words | {"tokens": [*SPECIALS, "\ud800"]}),
        ("can't decode", subwords | {"model": undecodable}),
    ):
        assert reason in made_elsewhere(path, src_tokenizer=json.dumps(fields))


@pytest.mark.parametrize("rename", [False, True])
def test_weights_of_another_shape_are_refused(tmp_path: Path, rename: bool) -> None:
    """One row is not spread over a whole matrix."""
    saved, name = model_file(), "output.weight"
    weight = saved.tensors.pop(f"model.{name}")
    if not rename:
        saved.tensors[f"model.{name}"] = weight[:1]
    saved.tensors["model.other"] = weight
    save(tmp_path / "x.safetensors", saved)
    with pytest.raises(nmt.CheckpointError, match=r"no weights output.weight of shape"):
        load(tmp_path / "x.safetensors").build_model("cpu")


# --- writing
def test_a_run_begins_without_what_killed_writes_left_and_waits_aloud(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = path.parents[1]
    left = path.with_name(".step-00000011.safetensors-1-2.tmp")
    mine = folder / ".notes.tmp"
    for half in (left, folder / ".history.csv-1-2.tmp", mine):
        half.write_bytes(b"half")
    run = RunFolder(model_file().config.model_copy(update={"run_dir": str(folder)}))
    with run.lock():
        assert list(folder.rglob(".*.tmp")) == [mine]
    assert len(run.checkpoints()) == 3
    lock = Mock(side_effect=[TimeoutError, None])  # another process has it
    monkeypatch.setattr("filelock.FileLock.acquire", lock)
    with pytest.warns(UserWarning, match="waiting for whoever"), run.lock():
        pass


def test_a_full_disk_leaves_the_old_file_and_no_half_one(path: Path) -> None:
    """A limit of the operating system on the size of a file stops the write."""
    names = sorted(path.parent.iterdir())
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, hard))
    try:
        with pytest.raises(nmt.CheckpointError, match=r"cannot write .*are kept"):
            save(path, model_file(2, size=100_000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert load(path).state["step"] == 1
    assert sorted(path.parent.iterdir()) == names
    with pytest.raises(nmt.CheckpointError, match=r"cannot write .*x.safetensors"):
        save(path / "x.safetensors", model_file())  # a file where a folder should be
