"""The optimizer, and its learning rate from update to update (paper, section 5.3)."""

from __future__ import annotations

import math
from collections.abc import Iterable

import torch
from torch import nn

from ..config import TrainConfig


def learning_rate(step: int, train: TrainConfig, d_model: int) -> float:
    """The learning rate for an update.

    Args:
        step: number of the update; the first is 1.
        train: ``schedule``, ``lr``, ``warmup``, ``max_steps``.
        d_model: for ``noam``, the paper's formula
            ``d_model^-0.5 · min(step^-0.5, step · warmup^-1.5)``.

    Returns:
        All schedules except ``noam`` rise linearly to ``lr`` over ``warmup`` updates.
        Then ``constant`` stays there, ``inverse-sqrt`` falls as 1/√step, and ``cosine``
        falls to 0 at ``max_steps``.
    """
    warmup = max(1, train.warmup)
    if train.schedule == "noam":
        return train.lr * d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)
    if step < warmup:
        return train.lr * step / warmup
    if train.schedule == "inverse-sqrt":
        return train.lr * math.sqrt(warmup / step)
    if train.schedule == "cosine":
        fraction = (step - warmup) / max(1, train.max_steps - warmup)
        return train.lr * 0.5 * (1 + math.cos(math.pi * min(1.0, fraction)))
    return train.lr


def build_optimizer(
    train: TrainConfig, parameters: Iterable[nn.Parameter]
) -> torch.optim.Optimizer:
    """Adam or SGD; the learning rate is set before each update."""
    if train.optimizer == "sgd":
        return torch.optim.SGD(parameters, lr=train.lr, momentum=train.momentum)
    return torch.optim.Adam(
        parameters, lr=train.lr, betas=train.betas, eps=train.eps, fused=True
    )
