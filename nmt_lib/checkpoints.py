"""Checkpoints: model files that also hold the state of the optimizer and of the random
numbers, and how far the run has come."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from .model_file import load_weights, model_tensors, part


@dataclass
class Progress:
    """How far a run has come."""

    corpus: str = ""  # digest of the pairs that it learns from
    step: int = 0  # updates done
    epoch: int = 0
    position: int = 0  # batches used in this epoch
    loss_sum: float = 0.0  # since the last validation, over loss_tokens tokens
    loss_tokens: int = 0
    best_loss: float = math.inf
    best_step: int = 0
    checkpoints: list[str] = field(default_factory=list)  # all that were written
    history: list[dict[str, float]] = field(default_factory=list)  # see ``Run``

    def add_row(self, lr: float, valid_loss: float) -> None:
        """Adds a validation to the history; the training loss starts again."""
        train_loss = self.loss_sum / max(1, self.loss_tokens)
        row = {"step": self.step, "epoch": self.epoch, "lr": lr}
        self.history.append(row | {"train_loss": train_loss, "valid_loss": valid_loss})
        self.loss_sum, self.loss_tokens = 0.0, 0


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


def average(weights: Iterable[dict[str, Tensor]]) -> dict[str, Tensor]:
    """The mean of the weights of several checkpoints (paper, section 6.1)."""
    total: dict[str, Tensor] = {}
    count = 0
    for one in weights:
        count += 1
        for name, weight in one.items():
            total[name] = total.get(name, 0) + weight.double()
    return {name: (value / count).float() for name, value in total.items()}
