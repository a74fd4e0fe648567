"""Checkpoints, written so that a crash at any moment leaves the last good one.

A checkpoint is one file: the weights, the optimizer's state, the state of the random numbers, and how far the run has
come. safetensors stores plain arrays: loading one never runs code that somebody put into it.
"""

from __future__ import annotations

import json
import os
import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from ..errors import CheckpointError, warn


@dataclass(frozen=True)
class Checkpoint:
    """What one file holds: named arrays, and the run's state as plain values."""

    tensors: dict[str, Tensor]
    state: dict[str, Any]


def save_checkpoint(path: Path, checkpoint: Checkpoint) -> None:
    """Writes beside the place, forces it to the disk, then moves it there in one step.

    Raises:
        CheckpointError: the disk is full or cannot be written; a file that stood there is left as it was.
    """
    from safetensors.torch import save

    part = path.with_suffix(".tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        tensors = {name: tensor.detach().cpu().contiguous().clone() for name, tensor in checkpoint.tensors.items()}
        with open(part, "wb") as file:
            file.write(save(tensors, {"state": json.dumps(checkpoint.state)}))
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except OSError as error:
        with suppress(OSError):
            part.unlink()
        raise CheckpointError(
            f"cannot write {path} ({error.strerror or error}); checkpoints written before are kept: "
            "free some space and start again, the run goes on from the last one"
        ) from None


def load_checkpoint(path: Path) -> Checkpoint:
    """Reads what ``save_checkpoint`` wrote.

    Raises:
        CheckpointError: missing, truncated or not such a file.
    """
    from safetensors import SafetensorError, safe_open

    if not path.is_file():
        raise CheckpointError(f"no checkpoint {path}: train first, or give the folder of a run")
    try:
        with safe_open(str(path), framework="pt") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dict)
            return Checkpoint(tensors, json.loads((file.metadata() or {})["state"]))
    except (SafetensorError, KeyError, ValueError, OSError) as error:
        message = f"checkpoint {path} is damaged ({error}): restore or delete it (a run goes on from the one before)"
        raise CheckpointError(message) from None


def checkpoint_files(folder: Path) -> list[Path]:
    """The numbered checkpoints of a run, oldest first."""
    return sorted(path for path in folder.glob("step-*.safetensors") if re.fullmatch(r"step-\d{8}", path.stem))


def checkpoint_path(folder: Path, step: int) -> Path:
    return folder / f"step-{step:08d}.safetensors"


def newest_checkpoint(folder: Path) -> tuple[Path, Checkpoint] | None:
    """The last checkpoint that can be read; damaged ones after it are passed over, with a warning each."""
    for path in reversed(checkpoint_files(folder)):
        try:
            return path, load_checkpoint(path)
        except CheckpointError as error:
            warn(str(error))
    return None


def pack(model: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """All arrays that a run needs to go on: weights, optimizer state, random number generators."""
    tensors = {f"model.{name}": value for name, value in model_state(model).items()}
    for index, values in optimizer.state_dict()["state"].items():
        tensors |= {f"optimizer.{index}.{name}": value for name, value in values.items() if torch.is_tensor(value)}
    tensors["random.cpu"] = torch.get_rng_state()
    if torch.cuda.is_available():
        tensors["random.cuda"] = torch.cuda.get_rng_state()
    return tensors


def unpack(tensors: dict[str, Tensor], model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
    """Puts back what ``pack`` collected."""
    load_weights(model, part(tensors, "model."))
    state: dict[int, dict[str, Tensor]] = {}
    for name, value in part(tensors, "optimizer.").items():
        index, _, key = name.partition(".")
        state.setdefault(int(index), {})[key] = value
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})
    torch.set_rng_state(tensors["random.cpu"])
    if torch.cuda.is_available() and "random.cuda" in tensors:
        torch.cuda.set_rng_state(tensors["random.cuda"])


def part(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    """The entries under a prefix, without it."""
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}


def model_state(model: nn.Module) -> dict[str, Tensor]:
    """The weights by name; a matrix that is used twice is listed once."""
    return dict(model.named_parameters())


def load_weights(model: nn.Module, weights: dict[str, Tensor]) -> None:
    """Copies weights into a model.

    Raises:
        CheckpointError: names or shapes differ: the file belongs to another config or vocabulary.
    """
    own = model_state(model)
    missing, extra = sorted(own.keys() - weights.keys()), sorted(weights.keys() - own.keys())
    if missing or extra:
        raise CheckpointError(
            f"these weights belong to another model: {len(missing)} are missing ({', '.join(missing[:2])} …), "
            f"{len(extra)} are not known ({', '.join(extra[:2])} …); use the config they were trained with"
        )
    for name, value in own.items():
        if value.shape != weights[name].shape:
            raise CheckpointError(
                f"weight {name} has shape {tuple(weights[name].shape)} in the file and {tuple(value.shape)} in the "
                "model: the file belongs to another config or vocabulary"
            )
    with torch.no_grad():
        for name, value in own.items():
            value.copy_(weights[name])


def average_weights(paths: list[Path]) -> dict[str, Tensor]:
    """The mean of the weights of several checkpoints (paper, section 6.1).

    Raises:
        CheckpointError: there are none.
    """
    if not paths:
        raise CheckpointError("no checkpoints to average: train with a smaller train.checkpoint_every")
    total: dict[str, Tensor] = {}
    for path in paths:
        for name, value in part(load_checkpoint(path).tensors, "model.").items():
            total[name] = total[name] + value.double() if name in total else value.double()
    return {name: (value / len(paths)).float() for name, value in total.items()}
