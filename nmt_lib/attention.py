"""Attention: each query takes a weighted mean of the values, by how well it fits their
keys (paper, section 3.2)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .masks import check_mask

_collected: ContextVar[list[Tensor] | None] = ContextVar("collected", default=None)


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None = None,
    dropout: float = 0.0,
) -> tuple[Tensor, Tensor]:
    """softmax(QKᵀ / √d_k) V, written out (paper, equation 1).

    Args:
        query, key, value: ``(B, H, T, d_k)``, ``(B, H, S, d_k)``, ``(B, H, S, d_v)``.
        mask: boolean, broadcasts to ``(B, H, T, S)``, True = may be attended to.
        dropout: share of the weights set to zero.

    Returns:
        The mean values ``(B, H, T, d_v)`` and the weights ``(B, H, T, S)``, which are
        zero where a query may attend to nothing.
    """
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))  # (B, H, T, S)
    if mask is not None:
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    weights = scores.softmax(dim=-1)  # (B, H, T, S) each row sums to 1
    if mask is not None:  # this changes only rows in which everything is hidden
        weights = weights.masked_fill(~mask, 0.0)
    return F.dropout(weights, dropout) @ value, weights  # (B, H, T, d_v), (B, H, T, S)


@contextmanager
def collect_weights() -> Iterator[list[Tensor]]:
    """A list to which every attention inside the ``with`` block appends its weights.

    They are ``(B, H, T, S)``, in the order of the calls. What other threads compute
    meanwhile is not among them.
    """
    weights: list[Tensor] = []
    token = _collected.set(weights)
    try:
        yield weights
    finally:
        _collected.reset(token)


class KVCache:
    """The keys and values that one attention has computed already.

    Args:
        keys: ``(B, H, S, d_k)``.
        values: ``(B, H, S, d_v)``.
        grows: True in self-attention, where each step appends its own keys and values;
            False in cross-attention, where the memory's are all there are.
    """

    def __init__(self, keys: Tensor, values: Tensor, grows: bool) -> None:
        self.keys, self.values, self.grows = keys, values, grows

    def extend(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Appends those of new positions, and returns all."""
        self.keys = torch.cat([self.keys, keys], dim=2)  # (B, H, t + 1, d_k)
        self.values = torch.cat([self.values, values], dim=2)  # (B, H, t + 1, d_v)
        return self.keys, self.values

    def select(self, rows: Tensor) -> None:
        """Keeps the rows of the batch with these numbers, in this order."""
        self.keys, self.values = self.keys[rows], self.values[rows]


class MultiHeadAttention(nn.Module):
    """H attentions side by side, each on its own projection (paper, section 3.2.2).

    Args:
        d_model: D, a multiple of ``n_heads``.
        n_heads: H.
        d_value: width of one head's values; default D / H.
        bias: whether the four projections have one.
        dropout: on the weights in training; above 0 the written-out function is used.
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        d_value: int | None = None,
        bias: bool = True,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        d_value = d_value or d_model // n_heads
        self.n_heads, self.dropout = n_heads, dropout
        self.W_q = nn.Linear(d_model, d_model, bias)
        self.W_k = nn.Linear(d_model, d_model, bias)
        self.W_v = nn.Linear(d_model, n_heads * d_value, bias)
        self.W_o = nn.Linear(n_heads * d_value, d_model, bias)

    def forward(
        self,
        x: Tensor,
        memory: Tensor,
        mask: Tensor | None = None,
        cache: KVCache | None = None,
    ) -> Tensor:
        """Each vector of ``x`` attends to ``memory``, in self-attention to ``x``.

        Args:
            x: ``(B, T, D)``.
            memory: ``(B, S, D)``.
            mask: boolean, broadcasts to ``(B, H, T, S)``; another one is a ShapeError.
            cache: keys and values of earlier steps, which are not computed again.

        Returns:
            ``(B, T, D)``.
        """
        if cache is None:
            keys, values = self.keys_values(memory)  # (B, H, S, d_k), (B, H, S, d_v)
        elif cache.grows:
            keys, values = cache.extend(*self.keys_values(memory))
        else:
            keys, values = cache.keys, cache.values
        queries = self.split_heads(self.W_q(x))  # (B, H, T, d_k)
        check_mask(mask, (*queries.shape[:3], keys.size(2)))
        dropout = self.dropout if self.training else 0.0
        collected = _collected.get()
        if collected is None and dropout == 0.0:  # fused: the same heads in one call
            heads = F.scaled_dot_product_attention(queries, keys, values, mask)
        else:
            heads, weights = scaled_dot_product_attention(
                queries, keys, values, mask, dropout
            )  # (B, H, T, d_v), (B, H, T, S)
            if collected is not None:
                collected.append(weights)
        return self.W_o(self.join_heads(heads))  # (B, T, D)

    def keys_values(self, memory: Tensor) -> tuple[Tensor, Tensor]:
        """``(B, S, D)`` to keys ``(B, H, S, d_k)`` and values ``(B, H, S, d_v)``."""
        return self.split_heads(self.W_k(memory)), self.split_heads(self.W_v(memory))

    def split_heads(self, x: Tensor) -> Tensor:
        """``(B, T, H · d)`` to ``(B, H, T, d)``: cut the width first, then swap.

        The other order would mix up positions.
        """
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)  # (B, H, T, d)

    def join_heads(self, heads: Tensor) -> Tensor:
        """``(B, H, T, d)`` back to ``(B, T, H · d)``."""
        return heads.transpose(1, 2).flatten(2)  # (B, T, H · d)
