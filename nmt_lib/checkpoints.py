"""The folder of a run: checkpoints, from which it resumes, and the finished model.

A checkpoint is a model file that also holds the optimizer's state, the state of the
random numbers, and how far the run has come.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from filelock import FileLock
from torch import Tensor, nn

from .config import Config
from .errors import CheckpointError
from .model_file import (
    ModelFile,
    load,
    load_weights,
    model_tensors,
    part,
    remove_leftovers,
    save,
    write_file,
)
from .tokenizers import Tokenizers
from .transformer import Transformer

if TYPE_CHECKING:
    from .translator import Translator

# Keys of ``train`` that may differ between a run and the config that resumes it: they
# don't change what has been learnt so far.
FREE_KEYS = (
    "max_steps",
    "validate_every",
    "checkpoint_every",
    "keep_checkpoints",
    "select",
    "threads",
)


@dataclass
class Progress:
    """How far a run has come."""

    step: int = 0  # updates done
    epoch: int = 0
    position: int = 0  # batches used in this epoch
    loss_sum: float = 0.0  # since the last validation, over loss_tokens tokens
    loss_tokens: int = 0
    best_loss: float = math.inf
    best_step: int = 0
    file: str = ""  # that it is saved in: a copy of another one is noticed
    history: list[dict[str, float]] = field(default_factory=list)  # see ``Run``

    def add_row(self, lr: float, valid_loss: float) -> None:
        """Adds a validation to the history; the training loss starts again."""
        train_loss = self.loss_sum / max(1, self.loss_tokens)
        row = {"step": self.step, "epoch": self.epoch, "lr": lr}
        self.history.append(row | {"train_loss": train_loss, "valid_loss": valid_loss})
        self.loss_sum, self.loss_tokens = 0.0, 0


def load_own(path: Path, config: Config) -> ModelFile:
    """Reads a file of this config's run.

    Raises:
        CheckpointError: as ``load``; or it is of another run, and then the first key
            that differs is named; or it is a copy of another file.
    """
    saved = load(path)
    for name in ("data", "model", "train"):
        for key, value in getattr(config, name):
            theirs = getattr(getattr(saved.config, name), key)
            if value != theirs and not (name == "train" and key in FREE_KEYS):
                raise CheckpointError(
                    f"{path} is of a run with {name}.{key}={theirs!r}, not {value!r}: "
                    "give this one a folder of its own (run_dir=…), or delete that one"
                )
    name = saved.state.get("file", path.stem)
    if not path.with_suffix("").as_posix().endswith(name):
        raise CheckpointError(
            f"{path} is a copy of {name}.safetensors: restore it, or delete it and "
            "train again"
        )
    return saved


def pack(model: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """All that a run needs to resume: weights, optimizer state, random numbers."""
    tensors = model_tensors(model)
    for index, values in optimizer.state_dict()["state"].items():
        for name, value in values.items():
            if torch.is_tensor(value):  # SGD without momentum has None
                tensors[f"optimizer.{index}.{name}"] = value
    tensors["random.cpu"] = torch.get_rng_state()
    if torch.cuda.is_available():
        tensors["random.cuda"] = torch.cuda.get_rng_state()
    return tensors


def unpack(
    tensors: dict[str, Tensor], model: nn.Module, optimizer: torch.optim.Optimizer
) -> None:
    """Puts back what ``pack`` collected."""
    load_weights(model, part(tensors, "model."))
    state: dict[int, dict[str, Tensor]] = {}
    for name, value in part(tensors, "optimizer.").items():
        index, _, key = name.partition(".")
        state.setdefault(int(index), {})[key] = value
    optimizer.load_state_dict(optimizer.state_dict() | {"state": state})
    torch.set_rng_state(tensors["random.cpu"])
    if torch.cuda.is_available() and "random.cuda" in tensors:
        torch.cuda.set_rng_state(tensors["random.cuda"])


def average_weights(paths: list[Path], config: Config) -> dict[str, Tensor]:
    """The mean of the weights of several checkpoints of a run (paper, section 6.1).

    Raises:
        CheckpointError: one is missing, damaged, or of another run.
    """
    total: dict[str, Tensor] = {}
    for path in paths:
        for name, weight in load_own(path, config).weights.items():
            total[name] = total.get(name, 0) + weight.double()
    return {name: (value / len(paths)).float() for name, value in total.items()}


def checkpoint_name(step: int) -> str:
    return f"checkpoints/step-{step:08d}"


@dataclass(frozen=True)
class Run:
    """A finished training run; ``path`` is its folder.

    ``history`` has one row for each validation: ``step``, ``epoch``, ``lr``,
    ``train_loss`` (with smoothing, as optimised) and ``valid_loss`` (without, in nats a
    token).
    """

    config: Config
    model: Transformer
    tokenizers: Tokenizers
    progress: Progress

    @property
    def path(self) -> Path:
        return self.config.run_path

    @property
    def history(self) -> list[dict[str, float]]:
        return self.progress.history

    @property
    def best_step(self) -> int:
        return self.progress.best_step

    @cached_property
    def translator(self) -> Translator:
        from .translator import Translator

        return Translator(self.model, *self.tokenizers, self.config)


class RunFolder:
    """The files of a run.

    ``checkpoints/`` holds what it resumes from, ``best.safetensors`` its best weights
    so far, ``model.safetensors``, written at its end, the translator. ``config.yaml``
    and ``history.csv`` are for people; nothing reads them back.
    """

    def __init__(self, config: Config, path: Path, writes: bool = True) -> None:
        self.config, self.path = config, path
        self.writes = writes  # of several processes, one does

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Other trainings of the same run wait until the end."""
        from accelerate import Accelerator

        accelerator = Accelerator(mixed_precision="no")
        lock = FileLock(self.path / ".lock")
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            if accelerator.is_main_process:
                lock.acquire()
                remove_leftovers(self.path, self.path / "checkpoints")
        except OSError as error:
            raise CheckpointError(
                f"cannot use {self.path} for a run: {error}"
            ) from None
        accelerator.wait_for_everyone()
        try:
            yield
        finally:
            lock.release()

    def finished(self) -> Run | None:
        """The run, if it has nothing left to do."""
        path, train = self.path / "model.safetensors", self.config.train
        if not path.exists():
            return None
        saved = self.read(path)
        if not saved.state:
            raise CheckpointError(
                f"{path} is a saved translator, not a run: choose another run_dir, or "
                "load it with Translator.load"
            )
        progress = Progress(**saved.state)
        select = saved.config.train.select
        if progress.step < train.max_steps or select != train.select:
            return None
        return Run(self.config, saved.build_model(), saved.tokenizers, progress)

    def newest(self) -> ModelFile | None:
        """The last checkpoint."""
        paths = self.checkpoints()
        return self.read(paths[-1]) if paths else None

    def read(self, path: Path) -> ModelFile:
        """A file to go on from, or to end with: of this run, and not beyond its end."""
        saved, most = load_own(path, self.config), self.config.train.max_steps
        if (step := saved.state.get("step", 0)) > most:
            raise CheckpointError(
                f"{path} has {step} updates, more than train.max_steps={most}: give "
                "this run a folder of its own (run_dir=…), or delete that one"
            )
        return saved

    def checkpoints(self) -> list[Path]:
        """Oldest first."""
        return sorted(self.path.glob("checkpoints/step-*.safetensors"))

    def write(
        self,
        name: str,
        tokenizers: Tokenizers,
        tensors: dict[str, Tensor],
        progress: Progress,
    ) -> None:
        """Writes a model file and the history; deletes old checkpoints."""
        if not self.writes:
            return
        progress.file = name
        saved = ModelFile(self.config, tokenizers, tensors, asdict(progress))
        save(self.path / f"{name}.safetensors", saved)
        lines = ["step,epoch,lr,train_loss,valid_loss"]
        for row in progress.history:
            lines.append(",".join(str(round(value, 6)) for value in row.values()))
        write_file(self.path / "history.csv", ("\n".join(lines) + "\n").encode())
        write_file(self.path / "config.yaml", self.config.to_yaml().encode())
        for path in self.checkpoints()[: -self.config.train.keep_checkpoints]:
            path.unlink()

    def final_weights(self) -> dict[str, Tensor] | None:
        """What ``train.select`` asks for; None: the last ones."""
        train = self.config.train
        if train.select == "best":
            return load_own(self.path / "best.safetensors", self.config).weights
        if train.select == "average":
            paths = self.checkpoints()[-train.keep_checkpoints :]
            return average_weights(paths, self.config)
        return None
