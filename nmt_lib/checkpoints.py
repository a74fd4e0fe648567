"""Model files, and the folder of a run.

One ``model.safetensors`` holds weights, config and tokenizers. A checkpoint is such a
file, too; it also holds the optimizer's state, the state of the random numbers, and how
far the run has come. A digest covers every byte, so damage is noticed. A file is
written beside its place and then renamed: a crash at any moment leaves the old or the
new one. safetensors stores plain arrays: loading a file never runs code in it.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from filelock import FileLock
from safetensors import SafetensorError
from safetensors.torch import load as load_tensors
from safetensors.torch import save as save_tensors
from torch import Tensor, nn

from .config import Config
from .errors import CheckpointError, ConfigError
from .tokenizers import Tokenizers, load_tokenizer
from .transformer import Transformer, empty_model

if TYPE_CHECKING:
    from .translator import Translator

DIGEST = b'"digest":"'  # in the file's header; 32 hexadecimal digits follow
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


class ModelFile(NamedTuple):
    """What one file holds."""

    config: Config
    tokenizers: Tokenizers
    tensors: dict[str, Tensor]  # "model.…"; in a checkpoint "optimizer.…", "random.…"
    state: dict[str, Any]  # of a run: its ``Progress``; else empty

    @property
    def weights(self) -> dict[str, Tensor]:
        """The model's weights by name; a matrix that is used twice is listed once."""
        return part(self.tensors, "model.")

    def build_model(self, device: str | None = None) -> Transformer:
        """The model with these weights; default device: the GPU where there is one."""
        model = empty_model(self.config.model, *map(len, self.tokenizers))
        load_weights(model, self.weights)
        device = device or ("cuda" if torch.cuda.is_available() else "cpu")
        try:
            return model.to(device)
        except (RuntimeError, AssertionError) as error:  # it says which devices exist
            reason = str(error).splitlines()[0]
            raise ConfigError(f"cannot use device={device!r}: {reason}") from None


def save(path: Path, saved: ModelFile) -> None:
    """Writes a file."""
    src, tgt = (tokenizer.dumps() for tokenizer in saved.tokenizers)
    metadata = {"config": saved.config.model_dump_json(), "src_tokenizer": src}
    if tgt != src:
        metadata["tgt_tokenizer"] = tgt
    metadata |= {"state": json.dumps(saved.state), "digest": "0" * 32}
    tensors = {}
    for name, tensor in saved.tensors.items():  # safetensors wants them in one piece
        tensors[name] = tensor.detach().cpu().contiguous().clone()
    data = bytearray(save_tensors(tensors, metadata))
    start = data.index(DIGEST) + len(DIGEST)
    data[start : start + 32] = _digest(data, start)
    write_file(path, data)


def load(path: Path, config: Config | None = None) -> ModelFile:
    """Reads a file.

    Args:
        path: of the file.
        config: of the run that the file must be of; None: any.

    Raises:
        CheckpointError: it is missing, damaged, or of another run.
    """
    if not path.is_file():
        raise CheckpointError(
            f"no model file {path}: train first, or give the folder of a run"
        )
    try:
        data = path.read_bytes()
        start = data.index(DIGEST) + len(DIGEST)
        if data[start : start + 32] != _digest(data, start):
            raise ValueError("its digest does not fit")
        length = int.from_bytes(data[:8], "little")  # of the header, which is JSON
        metadata = json.loads(data[8 : 8 + length])["__metadata__"]
        found = Config.model_validate_json(metadata["config"])
        src = load_tokenizer(metadata["src_tokenizer"])
        tgt = load_tokenizer(metadata.get("tgt_tokenizer", metadata["src_tokenizer"]))
        state = json.loads(metadata["state"])
        tensors = load_tensors(data)
    except (OSError, ValueError, KeyError, SafetensorError) as error:
        raise CheckpointError(
            f"{path} is damaged, or not a model file of this library ({error}): "
            "restore it, or delete it and train again"
        ) from None
    src.sos = found.data.src_specials
    if config is not None:
        check_same_run(config, found, path)
        name = state.get("file", path.stem)
        if not path.with_suffix("").as_posix().endswith(name):
            raise CheckpointError(
                f"{path} is a copy of {name}.safetensors: restore it, or delete it and "
                "train again"
            )
    return ModelFile(found, (src, tgt), tensors, state)


def _digest(data: bytes | bytearray, start: int) -> bytes:
    """Of all bytes but the 32 from ``start``, where the digest itself is."""
    digest = hashlib.blake2b(data[:start], digest_size=16)
    digest.update(memoryview(data)[start + 32 :])
    return digest.hexdigest().encode()


def write_file(path: Path, data: bytes | bytearray) -> None:
    """Writes beside the place, forces it to the disk, then moves it there."""
    writer = f"{os.getpid()}-{threading.get_ident()}"  # each has a file of its own
    beside = path.with_name(f".{path.name}-{writer}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(beside, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except OSError as error:
        with suppress(OSError):
            beside.unlink()
        raise CheckpointError(
            f"cannot write {path} ({error.strerror}); files written before are kept, "
            "and a run resumes from its last checkpoint"
        ) from None


def check_same_run(config: Config, found: Config, path: Path) -> None:
    """Stops a config that would resume the run of another one.

    Raises:
        CheckpointError: it names the first key that differs.
    """
    for name in ("data", "model", "train"):
        for key, value in getattr(config, name):
            theirs = getattr(getattr(found, name), key)
            if value != theirs and not (name == "train" and key in FREE_KEYS):
                raise CheckpointError(
                    f"{path} is of a run with {name}.{key}={theirs!r}, not {value!r}: "
                    "give this one a folder of its own (run_dir=…), or delete that one"
                )


def model_tensors(model: nn.Module) -> dict[str, Tensor]:
    """The weights as ``ModelFile.tensors`` names them."""
    return {f"model.{name}": weight for name, weight in model.named_parameters()}


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


def part(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    """The entries under a prefix, without it."""
    names = [name for name in tensors if name.startswith(prefix)]
    return {name.removeprefix(prefix): tensors[name] for name in names}


@torch.no_grad()
def load_weights(model: nn.Module, weights: dict[str, Tensor]) -> None:
    """Copies weights of the same names and shapes into a model."""
    for name, parameter in model.named_parameters():
        parameter.copy_(weights[name])


def average_weights(paths: list[Path], config: Config) -> dict[str, Tensor]:
    """The mean of the weights of several checkpoints of a run (paper, section 6.1).

    Raises:
        CheckpointError: one is missing, damaged, or of another run.
    """
    total: dict[str, Tensor] = {}
    for path in paths:
        for name, weight in load_checkpoint(path, config).weights.items():
            total[name] = total.get(name, 0) + weight.double()
    return {name: (value / len(paths)).float() for name, value in total.items()}


def checkpoint_name(step: int) -> str:
    return f"checkpoints/step-{step:08d}"


def load_checkpoint(path: Path, config: Config) -> ModelFile:
    """As ``load``; a CheckpointError, too, if it is that of another step."""
    saved = load(path, config)
    step = saved.state.get("step", 0)
    if not checkpoint_name(step).endswith(path.stem):
        raise CheckpointError(f"{path} is a copy of the checkpoint of step {step}")
    return saved


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

        processes = Accelerator(mixed_precision="no")
        lock = FileLock(self.path / ".lock")
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            if processes.is_main_process:
                lock.acquire()
        except OSError as error:
            raise CheckpointError(
                f"cannot use {self.path} for a run: {error}"
            ) from None
        processes.wait_for_everyone()
        try:
            yield
        finally:
            lock.release()

    def finished(self) -> Run | None:
        """The run, if it has nothing left to do."""
        path, train = self.path / "model.safetensors", self.config.train
        if not path.exists():
            return None
        saved = load(path, self.config)
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
        return load_checkpoint(paths[-1], self.config) if paths else None

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
            return load(self.path / "best.safetensors", self.config).weights
        if train.select == "average":
            paths = self.checkpoints()[-train.keep_checkpoints :]
            return average_weights(paths, self.config)
        return None
