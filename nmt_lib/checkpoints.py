"""Model files: one ``model.safetensors`` holds weights, config and tokenizers.

A checkpoint is such a file, too; it also holds the optimizer's state, the state of the
random numbers, and how far the run has come. A digest covers every byte, so damage is
noticed. A file is written beside its place and then renamed: a crash at any moment
leaves the old one or the new one. safetensors stores plain arrays: loading a file never
runs code that somebody put into it.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import torch
from safetensors import SafetensorError
from safetensors.torch import load as load_tensors
from safetensors.torch import save as save_tensors
from torch import Tensor, nn

from .config import Config
from .errors import CheckpointError, warn
from .tokenizers import Tokenizers, load_tokenizer

DIGEST = b'"digest":"'  # in the file's header; 32 hexadecimal digits follow
# Keys that may differ between a run on disk and the config that asks for it: they don't
# change what has been learnt so far.
FREE_KEYS = (
    "train.max_steps",
    "train.validate_every",
    "train.checkpoint_every",
    "train.keep_checkpoints",
    "train.select",
    "train.threads",
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
    checkpoints: list[int] = field(default_factory=list)  # the steps of those kept


class ModelFile(NamedTuple):
    """What one file holds."""

    config: Config
    tokenizers: Tokenizers
    tensors: dict[str, Tensor]  # "model.…"; in a checkpoint "optimizer.…", "random.…"
    state: dict[str, Any]  # of a run: its progress and history; else empty

    @property
    def weights(self) -> dict[str, Tensor]:
        """The model's weights by name; a matrix that is used twice is listed once."""
        return part(self.tensors, "model.")


def save(path: Path, saved: ModelFile) -> None:
    """Writes a file; its tensors may lie on any device."""
    src, tgt = (tokenizer.dumps() for tokenizer in saved.tokenizers)
    metadata = {"config": saved.config.model_dump_json(), "src_tokenizer": src}
    if tgt != src:
        metadata["tgt_tokenizer"] = tgt
    metadata |= {"state": json.dumps(saved.state), "digest": "0" * 32}
    # Cloned, since safetensors refuses tensors that share memory.
    tensors = {
        k: v.detach().cpu().contiguous().clone() for k, v in saved.tensors.items()
    }
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
    return ModelFile(found, (src, tgt), tensors, state)


def _digest(data: bytes | bytearray, start: int) -> bytes:
    """Of all bytes but the 32 from ``start``, where it stands itself."""
    digest = hashlib.blake2b(data[:start], digest_size=16)
    digest.update(memoryview(data)[start + 32 :])
    return digest.hexdigest().encode()


def write_file(path: Path, data: bytes | bytearray) -> None:
    """Writes beside the place, forces it to the disk, then moves it there."""
    name = f".{path.name}-{os.getpid()}-{threading.get_ident()}.tmp"  # one a writer
    beside = path.with_name(name)
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


def checkpoint_path(folder: Path, step: int) -> Path:
    return folder / f"step-{step:08d}.safetensors"


def checkpoint_files(folder: Path) -> list[Path]:
    """The checkpoints of a run, oldest first."""
    return sorted(folder.glob(f"step-{'[0-9]' * 8}.safetensors"))


def newest_checkpoint(folder: Path, config: Config) -> ModelFile | None:
    """The last checkpoint that can be read; a warning names damaged ones after it.

    Raises:
        CheckpointError: it is of another run.
    """
    for path in reversed(checkpoint_files(folder)):
        try:
            saved = load_checkpoint(path)
        except CheckpointError as error:
            warn(f"{error}; the run resumes from the checkpoint before it")
        else:
            check_same_run(config, saved.config, path)
            return saved
    return None


def load_checkpoint(path: Path, config: Config | None = None) -> ModelFile:
    """As ``load``; a CheckpointError, too, if it is that of another step."""
    saved = load(path, config)
    step = saved.state.get("progress", {}).get("step", 0)
    if path != checkpoint_path(path.parent, step):
        raise CheckpointError(f"{path} is a copy of the checkpoint of step {step}")
    return saved


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
    saved: ModelFile, model: nn.Module, optimizer: torch.optim.Optimizer
) -> None:
    """Puts back what ``pack`` collected."""
    load_weights(model, saved.weights)
    state: dict[int, dict[str, Tensor]] = {}
    for name, value in part(saved.tensors, "optimizer.").items():
        index, _, key = name.partition(".")
        state.setdefault(int(index), {})[key] = value
    optimizer.load_state_dict(optimizer.state_dict() | {"state": state})
    torch.set_rng_state(saved.tensors["random.cpu"])
    if torch.cuda.is_available() and "random.cuda" in saved.tensors:
        torch.cuda.set_rng_state(saved.tensors["random.cuda"])


def part(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    """The entries under a prefix, without it."""
    return {
        k.removeprefix(prefix): v for k, v in tensors.items() if k.startswith(prefix)
    }


@torch.no_grad()
def load_weights(model: nn.Module, weights: dict[str, Tensor]) -> None:
    """Copies weights of the same names and shapes into a model."""
    for name, parameter in model.named_parameters():
        parameter.copy_(weights[name])


def average_weights(paths: list[Path], config: Config) -> dict[str, Tensor]:
    """The mean of the weights of several checkpoints of a run (paper, section 6.1).

    Raises:
        CheckpointError: there are none, or one is missing, damaged, or of another run.
    """
    if not paths:
        raise CheckpointError(
            "there are no checkpoints to average: lower train.checkpoint_every"
        )
    total: dict[str, Tensor] = {}
    for path in paths:
        for name, weight in load_checkpoint(path, config).weights.items():
            total[name] = total.get(name, 0) + weight.double()
    return {name: (value / len(paths)).float() for name, value in total.items()}


def check_same_run(config: Config, found: Config, path: Path) -> None:
    """Stops a config that would resume the run of another one.

    Raises:
        CheckpointError: it names the first key that differs.
    """
    for section in ("data", "model", "train"):
        for key, value in getattr(config, section):
            theirs = getattr(getattr(found, section), key)
            if value != theirs and f"{section}.{key}" not in FREE_KEYS:
                raise CheckpointError(
                    f"{path} is of a run with {section}.{key}={theirs!r}, not "
                    f"{value!r}: give this one a folder of its own (run_dir=…), or "
                    "delete that one"
                )


def write_history(path: Path, history: list[dict[str, float]]) -> None:
    """The history as CSV, for people: nothing reads it back."""
    lines = ["step,epoch,lr,train_loss,valid_loss"]
    for row in history:
        lines.append(",".join(str(round(value, 6)) for value in row.values()))
    write_file(path, ("\n".join(lines) + "\n").encode())
