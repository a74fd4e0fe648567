"""Attention: each query takes a weighted mean of the values, by how well it fits their keys (paper, section 3.2)."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .masks import check_mask

# From 2.5 on the fused call gives zeros, not NaN, where a query may attend to nothing.
FUSED_GIVES_ZEROS = tuple(int(part) for part in torch.__version__.split(".")[:2]) >= (
    2,
    5,
)


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
        The mean values ``(B, H, T, d_v)`` and the weights ``(B, H, T, S)``: zeros where a query may attend to nothing.
    """
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))  # (B, H, T, S)
    if mask is not None:
        scores = scores.masked_fill(
            ~mask, torch.finfo(scores.dtype).min
        )  # the lowest number this dtype has
    weights = scores.softmax(dim=-1)  # (B, H, T, S) each row sums to 1
    if mask is not None:
        weights = weights.masked_fill(
            ~mask, 0.0
        )  # changes only the rows in which everything is hidden
    return F.dropout(weights, dropout) @ value, weights  # (B, H, T, d_v), (B, H, T, S)


class MultiHeadAttention(nn.Module):
    """H attentions side by side, each on its own projection (paper, section 3.2.2).

    Args:
        d_model: D, a multiple of ``n_heads``.
        n_heads: H.
        d_value: width of one head's values; default D / H.
        bias: whether the four projections have one.
        dropout: on the weights while training; above 0 it takes the written-out path.
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
        self.keep_weights = False
        self.weights: Tensor | None = None
        self.W_q = nn.Linear(d_model, d_model, bias)
        self.W_k = nn.Linear(d_model, d_model, bias)
        self.W_v = nn.Linear(d_model, n_heads * d_value, bias)
        self.W_o = nn.Linear(n_heads * d_value, d_model, bias)

    def forward(self, x: Tensor, memory: Tensor, mask: Tensor | None = None) -> Tensor:
        """Each vector of ``x``, ``(B, T, D)``, attends to ``memory``, ``(B, S, D)`` (self-attention: pass ``x`` twice).

        The mask is boolean and broadcasts to ``(B, H, T, S)``; one of another dtype or shape is a ShapeError.

        Returns:
            ``(B, T, D)``. While ``keep_weights`` is set, ``weights`` then holds those of this call, ``(B, H, T, S)``.
        """
        return self.attend(x, *self.keys_values(memory), mask)

    def keys_values(self, memory: Tensor) -> tuple[Tensor, Tensor]:
        """``(B, S, D)`` to keys ``(B, H, S, d_k)`` and values ``(B, H, S, d_v)``; decoding keeps them."""
        return self.split_heads(self.W_k(memory)), self.split_heads(self.W_v(memory))

    def attend(
        self, x: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None = None
    ) -> Tensor:
        """As ``forward``, with keys and values at hand."""
        queries = self.split_heads(self.W_q(x))  # (B, H, T, d_k)
        check_mask(mask, (*queries.shape[:3], keys.size(2)), "mask")
        dropout = self.dropout if self.training else 0.0
        if self.keep_weights or dropout > 0 or not FUSED_GIVES_ZEROS:
            heads, weights = scaled_dot_product_attention(
                queries, keys, values, mask, dropout
            )  # … and (B, H, T, S)
            self.weights = weights if self.keep_weights else None
        else:  # fused: the same result in one call, which never holds all weights at once
            heads = F.scaled_dot_product_attention(
                queries, keys, values, attn_mask=mask
            )  # (B, H, T, d_v)
        return self.W_o(self.join_heads(heads))  # (B, T, D)

    def split_heads(self, x: Tensor) -> Tensor:
        """``(B, T, H · d)`` to ``(B, H, T, d)``: cut the width first, then swap; the other order mixes up positions."""
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)  # (B, H, T, d)

    def join_heads(self, heads: Tensor) -> Tensor:
        """``(B, H, T, d)`` back to ``(B, T, H · d)``."""
        return heads.transpose(1, 2).flatten(2)  # (B, T, H · d)
