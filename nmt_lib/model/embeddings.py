"""Embeddings: from ids to vectors that also encode the position in the sentence (paper,
sections 3.4 and 3.5)."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from ..errors import ShapeError


def sinusoids(n_positions: int, d_model: int, start: int = 0) -> Tensor:
    """Sines and cosines with wavelengths from 2π to 10000 · 2π (paper, section 3.5).

    Feature 2i of position p is ``sin(p / 10000^(2i / d_model))``, and feature 2i + 1 is
    the cosine of the same angle.

    Returns:
        ``(n_positions, d_model)``, the rows of positions ``start``, ``start + 1`` …

    Raises:
        ShapeError: ``d_model`` is odd.
    """
    if d_model % 2:
        raise ShapeError(
            f"d_model must be even (sines and cosines come in pairs), not {d_model}"
        )
    end = start + n_positions
    position = torch.arange(start, end, dtype=torch.float64)[:, None]  # (n, 1)
    even = torch.arange(0, d_model, 2, dtype=torch.float64)  # (D/2,) this is 2i already
    angle = position / 10000 ** (even / d_model)  # (n, D/2)
    table = torch.stack([angle.sin(), angle.cos()], dim=-1)  # (n, D/2, 2)
    return table.flatten(1).float()  # (n, D)


class PositionalEncoding(nn.Module):
    """Positional encodings, added to vectors of an even ``d_model``.

    The table grows when a sentence is longer than the table.
    """

    table: Tensor

    def __init__(self, d_model: int, max_positions: int = 512) -> None:
        super().__init__()
        table = sinusoids(max_positions, d_model)  # (n, D)
        self.register_buffer("table", table, persistent=False)

    def forward(self, x: Tensor, start: int = 0) -> Tensor:
        """Adds positions ``start`` … ``start + T - 1`` to ``x``, ``(B, T, D)``."""
        end = start + x.size(1)
        if end > len(self.table):
            rows = max(end, 2 * len(self.table))
            self.table = sinusoids(rows, x.size(2)).to(self.table)  # (rows, D)
        return x + self.table[start:end]  # (B, T, D)


class Embedding(nn.Module):
    """Token embeddings: looked up, scaled, with positions added and dropout applied.

    ``scale`` multiplies by √D, so that the positions do not drown out the vectors
    (paper, section 3.4).
    """

    def __init__(
        self,
        vocab_size: int,
        d_model: int,
        positions: PositionalEncoding,
        scale: bool = True,
        dropout: float = 0.1,
    ) -> None:
        super().__init__()
        self.lookup = nn.Embedding(vocab_size, d_model)
        self.positions = positions
        self.factor = math.sqrt(d_model) if scale else 1.0
        self.dropout = nn.Dropout(dropout)

    def forward(self, ids: Tensor, start: int = 0) -> Tensor:
        """``(B, T)`` ids to ``(B, T, D)`` vectors; the first id is at ``start``."""
        x = self.lookup(ids) * self.factor  # (B, T, D)
        return self.dropout(self.positions(x, start))  # (B, T, D)
