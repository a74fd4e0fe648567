"""Embeddings: ids to vectors, and where in the sentence each of them stands (paper, sections 3.4 and 3.5)."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from .errors import ShapeError


def sinusoids(n_positions: int, d_model: int, start: int = 0) -> Tensor:
    """Sines and cosines whose wavelengths grow from 2π to 10000 · 2π (paper, section 3.5).

    Place p has ``sin(p / 10000^(2i / d_model))`` at 2i and the cosine of the same angle at 2i + 1.

    Returns:
        ``(n_positions, d_model)``, the rows of places ``start``, ``start + 1`` …
    """
    position = torch.arange(start, start + n_positions, dtype=torch.float64)[:, None]  # (n, 1)
    even = torch.arange(0, d_model, 2, dtype=torch.float64)  # (D/2,) this is 2i already
    angle = position / 10000 ** (even / d_model)  # (n, D/2)
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1).float()  # (n, D)


class PositionalEncoding(nn.Module):
    """Adds its place to each vector.

    Args:
        d_model: width, even.
        max_positions: rows of the table at the start.
        growing: compute more rows when a longer sentence comes; otherwise that is an error.
    """

    table: Tensor

    def __init__(self, d_model: int, max_positions: int = 512, growing: bool = True) -> None:
        super().__init__()
        self.growing = growing
        self.register_buffer("table", sinusoids(max_positions, d_model), persistent=False)  # (n, D)

    def forward(self, x: Tensor, start: int = 0) -> Tensor:
        """Adds places ``start`` … ``start + T - 1``.

        Args:
            x: ``(B, T, D)``.

        Raises:
            ShapeError: the sentence is longer than a fixed table.
        """
        end = start + x.size(1)
        if end > len(self.table):
            self._grow(end)
        return x + self.table[start:end]  # (B, T, D)

    def _grow(self, needed: int) -> None:
        rows, d_model = self.table.shape
        if not self.growing:
            raise ShapeError(
                f"a sentence of {needed} tokens is longer than the table of {rows} positions: "
                "raise model.max_positions or set model.position_table to growing"
            )
        more = sinusoids(max(needed, 2 * rows), d_model)
        self.table = more.to(self.table)  # the same device and dtype


class Embedding(nn.Module):
    """Looks up a vector for each id, scales it, adds its place, and applies dropout.

    Args:
        vocab_size: V.
        d_model: D.
        positions: adds the places.
        scale: multiply by √D, so that the vectors are not drowned by the places (paper, section 3.4).
        dropout: share of entries set to zero while training.
    """

    def __init__(
        self, vocab_size: int, d_model: int, positions: PositionalEncoding, scale: bool = True, dropout: float = 0.1
    ) -> None:
        super().__init__()
        self.lookup = nn.Embedding(vocab_size, d_model)
        self.positions = positions
        self.factor = math.sqrt(d_model) if scale else 1.0
        self.dropout = nn.Dropout(dropout)

    def forward(self, ids: Tensor, start: int = 0) -> Tensor:
        """``(B, T)`` ids to ``(B, T, D)`` vectors; the first id stands at place ``start``."""
        x = self.lookup(ids) * self.factor  # (B, T, D)
        return self.dropout(self.positions(x, start))  # (B, T, D)
