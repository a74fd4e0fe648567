"""The folder of a run: checkpoints, from which it resumes, and the finished model."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, field
from pathlib import Path
from typing import Annotated, Any, Literal

import torch
from filelock import FileLock
from pydantic import Field
from pydantic.dataclasses import dataclass
from torch import distributed

from ..config import Config, TrainConfig
from ..data.tokenizers import Tokenizers
from ..errors import CheckpointError, warn
from ..model.transformer import Transformer
from .atomic_write import write_file
from .model_file import ModelFile, load, pack, save

# Keys of ``train`` that may change when a run is resumed.
RESUMABLE_KEYS = {
    "max_steps",  # except with a cosine schedule, which ends there
    "patience",
    "validate_every",
    "checkpoint_every",
    "keep_checkpoints",
    "select",
    "threads",
}


def runs_folder() -> Path:
    """The folder of all runs: ``$NMT_RUNS``, or ``runs`` in the current repository."""
    if named := os.environ.get("NMT_RUNS"):
        return Path(os.path.expanduser(named))
    for folder in (Path.cwd(), *Path.cwd().parents):
        if (folder / "nmt_lib").is_dir():
            return folder / "runs"
    return Path("runs")


def run_path(config: Config) -> Path:
    """The folder of a run: ``run_dir``, or ``name`` in ``runs_folder()`` by default."""
    if config.run_dir:
        return Path(os.path.expanduser(config.run_dir))
    return runs_folder() / config.name


PRETRAINED = Path(__file__).parents[1] / "pretrained"


def find_model(path: str | os.PathLike[str]) -> Path:
    """The model file that a path or a name refers to.

    The name of a bundled model always means that model, since pages and other people's
    configs rely on it. A run of the same name is loaded by its path, as a warning says.

    Args:
        path: a model file, the folder of a run, its name in ``runs_folder()``, or the
            name of a bundled model.

    Raises:
        CheckpointError: there is none.
    """
    name, file = os.fspath(path), Path(os.path.expanduser(path))
    if not os.path.exists(file) and not name.startswith("."):
        file = runs_folder() / file
    if name in pretrained():
        if os.path.exists(file):
            other = file.absolute()
            warn(f"{name} is the bundled model, not {other}: give that path to load it")
        file = PRETRAINED / name
    if not os.path.isfile(file):
        file = file / "model.safetensors"
    if os.path.exists(file):
        return file
    raise CheckpointError(
        f"no trained model in {path}: train it with nmt_lib.train (a run that was cut "
        f"off resumes), check the path, or name a bundled model "
        f"({', '.join(pretrained())})"
    )


def pretrained() -> list[str]:
    """The names of the bundled models."""
    return sorted(file.parent.name for file in PRETRAINED.glob("*/model.safetensors"))


Count = Annotated[int, Field(ge=0, le=10**18)]
Sum = Annotated[float, Field(ge=0, lt=math.inf)]  # NaN is refused, too
Column = Literal["step", "epoch", "lr", "train_loss", "valid_loss"]
Row = Annotated[dict[Column, Count | Sum], Field(min_length=5)]


@dataclass
class Progress:
    """The progress of a run, which a checkpoint saves.

    Raises:
        ValueError: an entry of another type.
    """

    corpus: str = ""  # digest of the pairs that it learns from
    step: Count = 0  # updates done
    epoch: Count = 0
    position: Count = 0  # batches used in this epoch
    loss_sum: Sum = 0.0  # since the last validation, over loss_tokens tokens
    loss_tokens: Count = 0
    best_loss: Annotated[float, Field(ge=0)] = math.inf
    best_step: Count = 0
    checkpoints: list[str] = field(default_factory=list)  # all that were written
    history: list[Row] = field(default_factory=list)  # see ``Run``
    scale: Sum = 0.0  # of the loss, with train.precision=fp16
    scale_age: Count = 0  # updates without an overflow

    @property
    def checkpoint(self) -> str:
        """The name of the checkpoint at this step."""
        return f"checkpoints/step-{self.step:08d}"


class RunFolder:
    """The files of a run.

    ``checkpoints/`` holds what the run resumes from, and ``best.safetensors`` its best
    weights so far. ``model.safetensors``, written at the end, is the translator.
    ``config.yaml`` and ``history.csv`` are for people; nothing reads them back.
    """

    def __init__(self, config: Config, writes: bool = True) -> None:
        self.config, self.path = config, run_path(config)
        self.writes = writes  # only the main process does

    @contextmanager
    def lock(self) -> Iterator[None]:
        """A lock: other processes that train the same run wait until it is released."""
        file_lock = FileLock(self.path / ".lock")
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            if self.writes:
                try:
                    file_lock.acquire(2)
                except TimeoutError:
                    warn(f"waiting for whoever else trains in {self.path}")
                    file_lock.acquire()
                for folder in (self.path, self.path / "checkpoints"):
                    for path in folder.glob(".*.*-*-*.tmp"):  # of killed writes
                        path.unlink(missing_ok=True)
        except (OSError, ValueError) as error:
            raise CheckpointError(
                f"cannot use {self.path} for a run: {error}"
            ) from None
        if distributed.is_available() and distributed.is_initialized():
            distributed.barrier()
        try:
            yield
        finally:
            file_lock.release()

    def final_model(self) -> ModelFile | None:
        """The final model, if the run has nothing left to do."""
        path = self.path / "model.safetensors"
        if not os.path.exists(path):
            return None
        saved = self.read(path)
        if not saved.state:
            raise CheckpointError(
                f"{path} is a saved translator, not a run: choose another run_dir, or "
                "load it with Translator.load"
            )
        progress, n_weights = Progress(**saved.state), len(saved.weights)
        is_saved = progress.checkpoint in progress.checkpoints  # before the model is
        if len(saved.tensors) > n_weights or not is_saved:
            raise CheckpointError(
                f"{path} is a checkpoint, not the final model: move it away, and the "
                "run writes the weights that train.select asks for"
            )
        return None if self.mismatch(saved) else saved

    def mismatch(self, saved: ModelFile) -> str:
        """How a final model differs from what the config asks for; empty if not at all.

        A translator that was saved here is accepted as it is.
        """
        train, saved_train = self.config.train, saved.config.train
        if saved.state and not is_over(train, progress := Progress(**saved.state)):
            return f"has {progress.step} of train.max_steps={train.max_steps} updates"
        for key in ("select", "keep_checkpoints"):
            value, saved_value = getattr(train, key), getattr(saved_train, key)
            if value != saved_value and (key == "select" or train.select == "average"):
                return f"was made with train.{key}={saved_value}, not {value}"
        return ""

    def last_checkpoint(self) -> ModelFile | None:
        """The last checkpoint, or None if there is none yet."""
        if paths := self.checkpoints():
            return self.read(paths[-1])
        if (self.path / "model.safetensors").exists():
            raise CheckpointError(
                f"{self.path} has a final model, but no checkpoint to resume from: "
                "restore its checkpoints/, or set run_dir to another folder"
            )
        return None

    def read(self, path: Path) -> ModelFile:
        """Loads a checkpoint or the final model of this run.

        Raises:
            CheckpointError: as in ``load``; or the file is of another run (the message
                names the first key that differs); or it has more than ``max_steps``
                updates.
        """
        saved, max_steps = load(path), self.config.train.max_steps
        if difference := first_difference(saved.config, self.config):
            reason = f"is of a run with {difference}"
        elif saved.state and not is_progress(saved.state):
            reason = "is of a run of another version of nmt_lib"
        elif (step := saved.state.get("step", 0)) > max_steps:
            reason = f"has {step} updates, more than train.max_steps={max_steps}"
        else:
            return saved
        raise CheckpointError(
            f"{path} {reason}: set run_dir to another folder, or move {self.path} away"
        )

    def checkpoints(self) -> list[Path]:
        """The checkpoint files, oldest first."""
        return sorted(self.path.glob("checkpoints/step-*.safetensors"))

    def write(
        self,
        name: str,
        model: Transformer,
        tokenizers: Tokenizers,
        progress: Progress,
        optimizer: torch.optim.Optimizer | None = None,
    ) -> None:
        """Writes a model file and the history; deletes old checkpoints.

        With an ``optimizer``, the file is a checkpoint, from which a run can resume.
        """
        if not self.writes:
            return
        tensors = pack(model, optimizer)
        saved = ModelFile(self.config, tokenizers, tensors, asdict(progress))
        save(self.path / f"{name}.safetensors", saved)
        table = "step,epoch,lr,train_loss,valid_loss\n"
        for row in progress.history:
            table += ",".join(str(round(value, 6)) for value in row.values()) + "\n"
        write_file(self.path / "history.csv", table.encode())
        write_file(self.path / "config.yaml", self.config.to_yaml().encode())
        for path in self.checkpoints()[: -self.config.train.keep_checkpoints]:
            path.unlink()


def is_over(train: TrainConfig, progress: Progress) -> bool:
    """Whether a run has all its updates, or its patience has ended."""
    waited = sum(row["step"] > progress.best_step for row in progress.history)
    ended = train.patience is not None and waited >= train.patience
    return ended or progress.step >= train.max_steps


def is_progress(state: dict[str, Any]) -> bool:
    """Whether the state of a model file is a run's ``Progress``, whole and sound."""
    try:
        return asdict(Progress(**state)) == {"scale": 0.0, "scale_age": 0} | state
    except (TypeError, ValueError):
        return False


def first_difference(saved: Config, config: Config) -> str:
    """The first key that keeps a run from being resumed; empty if there is none."""
    free = RESUMABLE_KEYS - (
        {"max_steps"} if config.train.schedule == "cosine" else set()
    )
    for section in ("data", "model", "train"):
        for key, value in getattr(config, section):
            saved_value = getattr(getattr(saved, section), key)
            if value != saved_value and not (section == "train" and key in free):
                return f"{section}.{key}={saved_value!r}, not {value!r}"
    return ""
