"""Checkpoints, written so that a crash at any moment leaves the last good one.

A checkpoint is one file: the weights, the optimizer's state, the state of the random numbers, and how far the run has
come. safetensors stores plain arrays: loading one never runs code that somebody put into it.
"""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from pydantic import BaseModel, ValidationError
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn
from xxhash import xxh3_128

from ..errors import CheckpointError, warn
from .files import note_old, write_file

if TYPE_CHECKING:
    from ..config import TrainConfig

# What safetensors, JSON, PyTorch and missing or odd values raise, where a file holds something else than was saved.
DAMAGE = (
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    ArithmeticError,
    RuntimeError,
    OSError,
)


class Checkpoint(NamedTuple):
    """What one file holds: named arrays, and the run's state as plain values."""

    tensors: dict[str, Tensor]
    state: dict[str, Any]


class Progress(BaseModel):
    """How far a run has come; saved with each checkpoint."""

    step: int = 0  # updates done
    epoch: int = 0
    position: int = 0  # updates done in this epoch
    loss_sum: float = 0.0  # since the last validation, over loss_tokens tokens
    loss_tokens: int = 0
    best_loss: float = math.inf
    best_step: int = 0
    checkpoints: list[int] = []  # the steps of those that are kept

    @classmethod
    def read(cls, path: Path, saved: Checkpoint) -> Progress:
        """From a checkpoint; older versions wrote more. A CheckpointError where it is none of a run."""
        try:
            return cls.model_validate(saved.state["progress"], strict=True)
        except (KeyError, ValidationError):
            raise CheckpointError(
                f"{path} is no checkpoint of a run: use another run_dir, or Translator.load where a translator was "
                "saved there; restore it where it is damaged"
            ) from None

    def is_done(self, train: TrainConfig) -> bool:
        return self.step >= train.max_steps


def save_checkpoint(path: Path, checkpoint: Checkpoint) -> None:
    """Writes a file in one step, with its own name and a digest of all that it holds."""
    tensors = {
        name: tensor.detach().cpu().contiguous().clone()
        for name, tensor in checkpoint.tensors.items()
    }
    state = json.dumps({"file": path.name} | checkpoint.state)
    write_file(path, save(tensors, {"whole": _digest(tensors, state) + state}))


def load_checkpoint(path: Path) -> Checkpoint:
    """Reads a file; a CheckpointError where it is missing, damaged, cut, or another one under this name."""
    if not os.path.isfile(path):
        raise CheckpointError(
            f"no checkpoint {path}: train first, or give the folder of a run"
        )
    try:
        with safe_open(str(path), framework="pt") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dict)
            metadata = file.metadata() or {}
        whole = "whole" in metadata
        text = (
            metadata["whole"][32:] if whole else metadata["state"]
        )  # older versions wrote "state"
        if whole and _digest(tensors, text) != metadata["whole"][:32]:
            raise ValueError("its digest does not fit")
        state = json.loads(text)
        name = state.pop("file", path.name)
        if name != path.name:
            raise ValueError(f"it is a copy of {name}")
    except (SafetensorError, *DAMAGE) as error:
        message = f"checkpoint {path} is damaged ({error}): restore or delete it (a run goes on from the one before)"
        raise CheckpointError(message) from None
    if not whole:
        note_old(path)
    return Checkpoint(tensors, state)


def _digest(tensors: dict[str, Tensor], state: str) -> str:
    found = xxh3_128(state.encode())
    for name, tensor in sorted(tensors.items()):
        found.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        found.update(tensor.reshape(-1).view(torch.uint8).numpy().data)
    return found.hexdigest()


def checkpoint_files(folder: Path) -> list[Path]:
    """The numbered checkpoints of a run, oldest first."""
    return sorted(folder.glob(f"step-{'[0-9]' * 8}.safetensors"))


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
        tensors |= {
            f"optimizer.{index}.{name}": value
            for name, value in values.items()
            if torch.is_tensor(value)
        }
    tensors["random.cpu"] = torch.get_rng_state()
    if torch.cuda.is_available():
        tensors["random.cuda"] = torch.cuda.get_rng_state()
    return tensors


def unpack(
    tensors: dict[str, Tensor], model: nn.Module, optimizer: torch.optim.Optimizer
) -> None:
    """Puts back what ``pack`` collected; a CheckpointError where it comes from another model or optimizer."""
    load_weights(model, part(tensors, "model."))
    state: dict[int, dict[str, Tensor]] = {}
    try:
        for name, value in part(tensors, "optimizer.").items():
            index, _, key = name.partition(".")
            if value.shape not in (
                (),
                optimizer.param_groups[0]["params"][int(index)].shape,
            ):
                raise ValueError(f"{name} has shape {tuple(value.shape)}")
            state.setdefault(int(index), {})[key] = value
        optimizer.load_state_dict(
            {"state": state, "param_groups": optimizer.state_dict()["param_groups"]}
        )
        torch.set_rng_state(tensors["random.cpu"])
        if torch.cuda.is_available() and "random.cuda" in tensors:
            torch.cuda.set_rng_state(tensors["random.cuda"])
    except DAMAGE as error:
        raise CheckpointError(
            f"the state of the optimizer or of the random numbers belongs to another run ({error}): "
            "delete this checkpoint, and the run goes on from the one before"
        ) from None


def part(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    """The entries under a prefix, without it."""
    return {
        name.removeprefix(prefix): value
        for name, value in tensors.items()
        if name.startswith(prefix)
    }


def model_state(model: nn.Module) -> dict[str, Tensor]:
    """The weights by name; a matrix that is used twice is listed once."""
    return dict(model.named_parameters())


def load_weights(model: nn.Module, weights: dict[str, Tensor]) -> None:
    """Copies finite weights of the same names and shapes into a model; a CheckpointError where they are others."""
    own = model_state(model)
    missing, extra = (
        sorted(own.keys() - weights.keys()),
        sorted(weights.keys() - own.keys()),
    )
    if missing or extra:
        raise CheckpointError(
            f"these weights belong to another model: {len(missing)} are missing ({', '.join(missing[:2])} …), "
            f"{len(extra)} are not known ({', '.join(extra[:2])} …); use the config they were trained with"
        )
    for name, wanted in own.items():
        value = weights[name]
        if value.shape != wanted.shape:
            raise CheckpointError(
                f"weight {name} has shape {tuple(value.shape)} in the file and {tuple(wanted.shape)} in the model: "
                "the file belongs to another config or vocabulary"
            )
        if not (value.is_floating_point() and value.isfinite().all()):
            raise CheckpointError(
                f"weight {name} holds other things than finite numbers: restore it, or train again"
            )
    model.load_state_dict(
        weights, strict=False
    )  # which also knows the second names of matrices that are used twice


def average_weights(paths: list[Path]) -> dict[str, Tensor]:
    """The mean of the weights of several checkpoints of one run (paper, section 6.1).

    A CheckpointError where there are none, or one is missing, damaged, or of another run.
    """
    if not paths:
        raise CheckpointError(
            "no checkpoints to average: train with a smaller train.checkpoint_every"
        )
    total: dict[str, Tensor] = {}
    ours: dict[str, Any] = {}
    for path in paths:
        try:
            saved = load_checkpoint(path)
        except CheckpointError as error:
            raise CheckpointError(
                f"{error}; the average needs it, or delete those after it as well"
            ) from None
        weights, theirs = part(saved.tensors, "model."), saved.state.get("config", {})
        ours = ours or theirs
        total = total or {
            name: torch.zeros_like(value, dtype=torch.double)
            for name, value in weights.items()
        }
        same_shapes = {n: v.shape for n, v in weights.items()} == {
            n: v.shape for n, v in total.items()
        }
        if not same_shapes or any(
            theirs.get(key, value) != value for key, value in ours.items()
        ):
            raise CheckpointError(
                f"{path} is of another run than {paths[0]}: restore it, or delete all from it on"
            )
        total = {name: value + weights[name] for name, value in total.items()}
    return {name: (value / len(paths)).float() for name, value in total.items()}
