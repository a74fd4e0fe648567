"""Masks: who may look at what. Boolean, and **True means: may be attended to**.

A padding mask has one row for all queries, since a ``<pad>`` is hidden from everybody: ``(B, 1, 1, S)``.
A causal mask has one for each query, since each sees a longer past: ``(1, 1, T, T)``. Both broadcast to the
weights' shape ``(B, H, T, S)``.
"""

from __future__ import annotations

import torch
from torch import Tensor

from .errors import ShapeError
from .special import PAD


def padding_mask(ids: Tensor, pad: int = PAD) -> Tensor:
    """``(B, S)`` ids to ``(B, 1, 1, S)``: True where a token stands, False where ``<pad>`` fills up."""
    return (ids != pad)[:, None, None, :]  # (B, 1, 1, S)


def causal_mask(length: int, device: torch.device | str | None = None) -> Tensor:
    """``(1, 1, T, T)``, True on and below the diagonal: position t sees positions 0 … t (paper, section 3.2.3)."""
    return torch.ones(length, length, dtype=torch.bool, device=device).tril()[
        None, None
    ]  # (1, 1, T, T)


def target_mask(tgt_in: Tensor, pad: int = PAD) -> Tensor:
    """``(B, T)`` ids to ``(B, 1, T, T)``: a target token sees the tokens up to itself that are no padding."""
    return padding_mask(tgt_in, pad) & causal_mask(
        tgt_in.size(1), tgt_in.device
    )  # (B, 1, T, T)


def check_mask(
    mask: Tensor | None, shape: tuple[int, int, int, int], name: str
) -> None:
    """Stops a mask that would silently mean something else; ``None`` hides nothing.

    Raises:
        ShapeError: not boolean, or a size that is neither 1 nor that of ``shape``, the weights' ``(B, H, T, S)``.
    """
    if mask is None:
        return
    if mask.dtype != torch.bool:
        raise ShapeError(
            f"{name} must be boolean (True = may be attended to), not {mask.dtype}: compare, as in ids != 0"
        )
    if mask.dim() != 4 or any(
        have not in (1, want) for have, want in zip(mask.shape, shape, strict=True)
    ):
        raise ShapeError(
            f"{name} has shape {tuple(mask.shape)}, which does not broadcast to (B, H, T, S) = {shape}"
        )
