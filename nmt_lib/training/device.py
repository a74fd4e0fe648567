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


def half_precision(train: TrainConfig, device: torch.device) -> torch.dtype | None:
    """The 16-bit type to compute in, or None for float32 throughout.

    ``auto`` is bfloat16 where a GPU has it, else float16; on a CPU float32.

    Raises:
        ConfigError: the config asks for bfloat16, but the device does not have it.
    """
    has_bf16 = device.type == "cpu"
    if device.type == "cuda":  # older GPUs emulate it, slowly
        has_bf16 = torch.cuda.is_bf16_supported(including_emulation=False)
    if train.precision == "bf16" and not has_bf16:
        raise ConfigError(
            f"train.precision=bf16, but this {device.type} device has no bfloat16: use "
            "fp16, fp32 or auto"
        )
    if train.precision == "auto" and device.type == "cuda":
        return torch.bfloat16 if has_bf16 else torch.float16
    return {"bf16": torch.bfloat16, "fp16": torch.float16}.get(train.precision)
