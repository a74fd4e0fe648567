"""Masks: which position may look at which. Boolean, **True = may be attended to**.

A padding mask has one row for all queries, since ``<pad>`` is hidden from each of them:
``(B, 1, 1, S)``. A causal mask has one row for each query, since each sees a longer
past: ``(1, 1, T, T)``. Both broadcast to the shape of the weights, ``(B, H, T, S)``.

Arguments are in the order ``src_mask, tgt_mask``. The methods of ``Transformer``, which
get ids, make a missing mask (None) from them. The layers below get vectors; without a
mask they hide nothing.
"""

from __future__ import annotations

import torch
from torch import Tensor

from .errors import ShapeError
from .special import PAD


def padding_mask(ids: Tensor, pad: int = PAD) -> Tensor:
    """``(B, S)`` ids to ``(B, 1, 1, S)``: True at a token, False at ``<pad>``."""
    return (ids != pad)[:, None, None, :]  # (B, 1, 1, S)


def causal_mask(length: int, device: torch.device | str | None = None) -> Tensor:
    """``(1, 1, T, T)``, True on and below the diagonal (paper, section 3.2.3).

    Position t sees positions 0 … t.
    """
    square = torch.ones(length, length, dtype=torch.bool, device=device)  # (T, T)
    return square.tril()[None, None]  # (1, 1, T, T)


def target_mask(tgt_in: Tensor, pad: int = PAD) -> Tensor:
    """``(B, T)`` ids to ``(B, 1, T, T)``: a token sees the tokens up to itself.

    Those that are padding are hidden as well.
    """
    past = causal_mask(tgt_in.size(1), tgt_in.device)  # (1, 1, T, T)
    return padding_mask(tgt_in, pad) & past  # (B, 1, T, T)


def check_mask(
    mask: Tensor | None, shape: tuple[int, int, int, int], name: str = "mask"
) -> None:
    """Stops a mask that would silently mean something else; ``None`` hides nothing.

    Raises:
        ShapeError: it is not boolean, or has a size that is neither 1 nor that of
            ``shape``, the weights' ``(B, H, T, S)``.
    """
    if mask is None:
        return
    if mask.dtype != torch.bool:
        raise ShapeError(
            f"{name} must be boolean (True = may be attended to), not {mask.dtype}: "
            "compare, as in ids != 0"
        )
    if mask.dim() != 4 or any(
        size not in (1, wanted) for size, wanted in zip(mask.shape, shape, strict=True)
    ):
        raise ShapeError(
            f"{name} has shape {tuple(mask.shape)}, which does not broadcast to "
            f"(B, H, T, S) = {shape}"
        )
