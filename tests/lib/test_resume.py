"""A run killed at any moment ends, resumed, like a run left alone, bit for bit."""

import os
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest
import torch

import nmt_lib as nmt
from nmt_lib.training.model_file import load
from nmt_lib.training.trainer import Trainer
from tests.lib.forked import exit_codes, start
from tests.lib.small import small_run

STEPS, EVERY = 16, 2
OPTIONS = f"""data.tokenizer=bpe data.vocab_size=60 data.bpe_dropout=0.3
 model.dropout=0.1 model.d_model=16 train.batch_sentences=4 train.max_steps={STEPS}
 train.validate_every={EVERY} train.checkpoint_every={EVERY}"""
PLACES: dict[str, tuple[Any, str]] = {
    "update": (Trainer, "update"),
    "half-written": (os, "fsync"),
    "rename": (os, "replace"),
    "delete": (Path, "unlink"),
    "finish": (Trainer, "finish"),
}


def train(folder: Path, run: str, select: str = "average") -> nmt.Run:
    """Dropout, BPE dropout, and many checkpoints."""
    return nmt.train(small_run(folder, f"{OPTIONS} train.select={select}", run))


def train_and_die(folder: Path, moment: str, n: int) -> None:
    """Trains, and kills itself (as `kill -9` would) at the n-th call of a function.

    Calls of ``fsync`` and ``replace`` count where a model file is written.
    """
    home, name = PLACES[moment]
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
    train(folder, "run")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the runs and of their corpus."""
    return tmp_path_factory.mktemp("resume")


@pytest.fixture(scope="module")
def alone(folder: Path) -> nmt.Run:
    """The same run, left alone."""
    return train(folder, "alone")


def killed(folder: Path, moment: str, n: int) -> None:
    """Trains in another process until it kills itself."""
    assert exit_codes(start(train_and_die, folder, moment, n)) == [-signal.SIGKILL]


def assert_same_run(run: nmt.Run, alone: nmt.Run, files: str = "*") -> None:
    """Weights, optimizers, random numbers, progress and history."""
    assert run.history == alone.history
    pattern = f"{files}.safetensors"
    ours, theirs = (
        {file.relative_to(r.path): load(file) for file in r.path.rglob(pattern)}
        for r in (run, alone)
    )
    assert ours.keys() == theirs.keys()
    for name, file in ours.items():
        assert file.state == theirs[name].state
        torch.testing.assert_close(file.tensors, theirs[name].tensors, rtol=0, atol=0)


def test_killed_three_times_and_while_a_file_is_written(
    folder: Path, alone: nmt.Run
) -> None:
    run = folder / "run"
    shutil.rmtree(run, ignore_errors=True)
    killed(folder, "update", EVERY + 1)
    killed(folder, "half-written", 3)
    assert list(run.rglob(".*.tmp"))
    killed(folder, "rename", 3)
    for select in ("best", "last"):  # the same killed run, ended in other ways
        shutil.copytree(run, folder / select)
        shutil.copytree(alone.path, folder / f"alone-{select}")
        ours = train(folder, select, select)
        assert_same_run(ours, train(folder, f"alone-{select}", select))
    assert_same_run(train(folder, "run"), alone)


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
    assert f"{STEPS}.safetensors" in str(max(run.glob("checkpoints/step-*")))
    assert_same_run(train(folder, "run"), alone, files="model")
