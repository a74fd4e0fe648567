"""Optimizers, their learning rate from update to update (paper, section 5.3), and the
device and precision of a step."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable

import torch
from torch import nn

from ..config import TrainConfig
from ..errors import ConfigError


def learning_rate(step: int, train: TrainConfig, d_model: int) -> float:
    """The learning rate of an update.

    Args:
        step: number of the update; the first is 1.
        train: ``schedule``, ``lr``, ``warmup``, ``max_steps``.
        d_model: for ``noam``, the paper's formula
            ``d_model^-0.5 · min(step^-0.5, step · warmup^-1.5)``.

    Returns:
        All schedules but ``noam`` rise in a straight line to ``lr`` over ``warmup``
        updates; then ``constant`` stays, ``inverse-sqrt`` falls as 1/√step, and
        ``cosine`` falls to 0 at ``max_steps``.
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


def default_device() -> torch.device:
    """The GPU if there is one; processes that share the work on CPUs stay there."""
    if torch.cuda.is_available():
        return torch.device("cuda")
    is_single = os.environ.get("WORLD_SIZE", "1") == "1"
    return torch.device(
        "mps" if torch.backends.mps.is_available() and is_single else "cpu"
    )


def use_bf16(train: TrainConfig, device: torch.device) -> bool:
    """Whether to compute in bfloat16.

    Raises:
        ConfigError: asked for, but the device does not have it.
    """
    has_it = device.type == "cpu"
    if device.type == "cuda":  # older GPUs emulate it, slowly
        has_it = torch.cuda.is_bf16_supported(including_emulation=False)
    if train.precision == "bf16" and not has_it:
        raise ConfigError(
            f"train.precision=bf16, but this {device.type} device has no bfloat16: use "
            "fp32 or auto"
        )
    auto = train.precision == "auto" and device.type == "cuda"
    return has_it and (auto or train.precision == "bf16")
