"""A run killed at any moment ends, resumed, like a run left alone, bit for bit."""

import os
import random
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest

import nmt_lib as nmt
from nmt_lib.training.model_file import load
from nmt_lib.training.trainer import Trainer
from tests.lib.forked import exit_codes, start
from tests.lib.small import write_corpus

STEPS, EVERY = 24, 3
Places = dict[str, tuple[Any, str]]


def train(config: Path, path: Path, **overrides: Any) -> nmt.Run:
    options = {key.replace("__", "."): value for key, value in overrides.items()}
    return nmt.train(nmt.load_config(config, run_dir=str(path), **options))


def train_and_die(folder: Path, moment: str, n: int) -> None:
    """Trains, and kills itself (as `kill -9` would) at the n-th call of a function.

    Calls of ``fsync`` and ``replace`` count where a model file is written.
    """
    places: Places = {
        "update": (Trainer, "update"),
        "validate": (Trainer, "validate"),
        "half-written": (os, "fsync"),
        "rename": (os, "replace"),
        "delete": (Path, "unlink"),
        "finish": (Trainer, "finish"),
    }
    home, name = places[moment]
    original, calls = getattr(home, name), []

    def deadly(*arguments: Any, **options: Any) -> Any:
        file = str(arguments[0])
        if name == "fsync":
            file = os.readlink(f"/proc/self/fd/{file}")
        if name not in ("fsync", "replace") or ".safetensors" in file:
            calls.append(file)
        if len(calls) == n:
            if name == "fsync":  # only half of the file has reached the disk
                os.truncate(file, os.path.getsize(file) // 2)
            os.kill(os.getpid(), signal.SIGKILL)
        return original(*arguments, **options)

    setattr(home, name, deadly)
    train(folder / "config.yaml", folder / "run")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a config: dropout, BPE dropout, and many checkpoints."""
    folder = tmp_path_factory.mktemp("resume")
    options = {
        "data.corpus": str(write_corpus(folder / "corpus")),
        "data.tokenizer": "bpe",
        "data.vocab_size": 60,
        "data.bpe_dropout": 0.3,
        "model.dropout": 0.1,
        "model.d_model": 16,
        "train.batch_sentences": 4,
        "train.max_steps": STEPS,
        "train.validate_every": EVERY,
        "train.checkpoint_every": EVERY,
        "train.select": "average",
    }
    config = nmt.load_config("toy", **options)
    (folder / "config.yaml").write_text(config.to_yaml(), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def alone(folder: Path) -> nmt.Run:
    """The same run, left alone."""
    return train(folder / "config.yaml", folder / "alone")


def killed(folder: Path, moment: str, n: int) -> None:
    """Trains in another process until it kills itself."""
    assert exit_codes(start(train_and_die, folder, moment, n)) == [-signal.SIGKILL]


def checkpoints(run: Path) -> list[Path]:
    return sorted(run.glob("checkpoints/step-*"))


def assert_same_run(run: nmt.Run, alone: nmt.Run, files: str = "*") -> None:
    """Weights, optimizers, random numbers, progress and history."""
    assert run.history == alone.history
    names = [
        [file.relative_to(path) for file in sorted(path.rglob(f"{files}.safetensors"))]
        for path in (run.path, alone.path)
    ]
    assert names[0] == names[1]
    for name in names[0]:
        ours, theirs = load(run.path / name), load(alone.path / name)
        assert ours.state == theirs.state
        assert ours.tensors.keys() == theirs.tensors.keys()
        for key, tensor in ours.tensors.items():
            assert tensor.equal(theirs.tensors[key]), (name, key)


def test_killed_three_times_and_while_a_file_is_written(
    folder: Path, alone: nmt.Run
) -> None:
    draw, config, run = random.Random(2017), folder / "config.yaml", folder / "run"
    shutil.rmtree(run, ignore_errors=True)
    killed(folder, "update", draw.randint(EVERY + 1, 2 * EVERY))
    killed(folder, "half-written", draw.randint(2, 4))
    assert list(run.rglob(".*.tmp"))
    killed(folder, draw.choice(["validate", "rename"]), draw.randint(2, 4))
    for select in ("best", "last"):  # the same killed run, ended in other ways
        shutil.copytree(run, folder / select)
        ours = train(config, folder / select, train__select=select)
        theirs = train(config, folder / f"alone-{select}", train__select=select)
        assert_same_run(ours, theirs)
    assert_same_run(train(config, run), alone)


@pytest.mark.parametrize(
    ("moment", "n"), [("delete", STEPS // EVERY - 3), ("finish", 1)]
)
def test_killed_after_the_last_checkpoint(
    folder: Path, alone: nmt.Run, moment: str, n: int
) -> None:
    """The mean must not include older checkpoints that were not deleted."""
    run = folder / "run"
    shutil.rmtree(run, ignore_errors=True)
    killed(folder, moment, n)
    assert not (run / "model.safetensors").exists()
    assert f"{STEPS}.safetensors" in str(checkpoints(run)[-1])
    assert_same_run(train(folder / "config.yaml", run), alone, files="model")
