"""The device of a model, and the precision of its computation."""

from __future__ import annotations

import os

import torch

from ..config import TrainConfig
from ..errors import ConfigError


def default_device() -> torch.device:
    """The GPU if there is one (MPS for a single process only), else the CPU."""
    if torch.cuda.is_available():
        return torch.device("cuda")
    is_single = os.environ.get("WORLD_SIZE", "1") == "1"
    return torch.device(
        "mps" if torch.backends.mps.is_available() and is_single else "cpu"
    )


def use_bf16(train: TrainConfig, device: torch.device) -> bool:
    """Whether to compute in bfloat16.

    Raises:
        ConfigError: the config asks for it, but the device does not have it.
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
