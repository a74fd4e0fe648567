"""Attention: each query gets a mean of the values, weighted by how well the query
matches their keys (paper, section 3.2)."""

from __future__ import annotations

import copy
import math
from functools import partial
from typing import TypeVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ..config import ModelConfig
from ..data.tokens import PAD
from ..errors import ShapeError

M = TypeVar("M", bound=nn.Module)


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
        dropout: fraction of the weights set to zero.

    Returns:
        The weighted means of the values, ``(B, H, T, d_v)``, and the weights,
        ``(B, H, T, S)``. The weights of a query that may attend to nothing are zero.
    """
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))  # (B, H, T, S)
    if mask is not None:
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    weights = scores.softmax(dim=-1)  # (B, H, T, S) each row sums to 1
    if mask is not None:  # this changes only rows in which everything is hidden
        weights = weights.masked_fill(~mask, 0.0)
    return F.dropout(weights, dropout) @ value, weights  # (B, H, T, d_v), (B, H, T, S)


class KVCache:
    """A cache of the keys and values that one attention layer has already computed.

    Args:
        keys: ``(B, H, S, d_k)``.
        values: ``(B, H, S, d_v)``.
        grows: True in self-attention, where each step appends its own keys and values;
            False in cross-attention, which needs only those of the memory.
    """

    def __init__(self, keys: Tensor, values: Tensor, grows: bool) -> None:
        self.keys, self.values, self.grows = keys, values, grows
        self.length = keys.size(2)  # positions in use; behind them is room for more

    def extend(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Appends the keys and values of new positions, and returns all of them."""
        start, end = self.length, self.length + keys.size(2)
        if end > self.keys.size(2):  # full: make room for twice as many
            self.keys = F.pad(self.keys, (0, 0, 0, end))  # (B, H, room, d_k)
            self.values = F.pad(self.values, (0, 0, 0, end))  # (B, H, room, d_v)
        self.keys[:, :, start:end] = keys
        self.values[:, :, start:end] = values
        self.length = end
        return self.keys[:, :, :end], self.values[:, :, :end]  # (B, H, t + 1, d)

    def select(self, rows: Tensor) -> None:
        """Keeps the rows of the batch with these indices, in this order."""
        self.keys, self.values = self.keys[rows], self.values[rows]


class MultiHeadAttention(nn.Module):
    """Multi-head attention: H attentions side by side, each on its own projections
    (paper, section 3.2.2).

    Args:
        d_model: D, a multiple of ``n_heads``.
        n_heads: H.
        d_value: width of one head's values; default D / H.
        bias: whether the four projections have one.
        dropout: on the weights in training; above 0, the attention is written out.

    Raises:
        ShapeError: ``d_model`` cannot be divided among the heads.
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
        if d_model % n_heads:
            raise ShapeError(
                f"d_model={d_model} cannot be divided among n_heads={n_heads}: choose "
                "a multiple of n_heads"
            )
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
        """Attention from each vector of ``x`` to ``memory`` (in self-attention: ``x``).

        Args:
            x: ``(B, T, D)``.
            memory: ``(B, S, D)``.
            mask: boolean, broadcasts to ``(B, H, T, S)``; any other is a ShapeError.
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
        heads = self.attend(queries, keys, values, mask)  # (B, H, T, d_v)
        return self.W_o(self.join_heads(heads))  # (B, T, D)

    def attend(
        self, queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None
    ) -> Tensor:
        """The weighted means of the values, ``(B, H, T, d_v)``, in one fused call.

        The fused call returns no weights. With dropout on the weights, the attention
        is written out.
        """
        if self.training and self.dropout:
            return scaled_dot_product_attention(
                queries, keys, values, mask, self.dropout
            )[0]
        return F.scaled_dot_product_attention(queries, keys, values, mask)

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


def make_attention(config: ModelConfig) -> MultiHeadAttention:
    return MultiHeadAttention(
        config.d_model,
        config.n_heads,
        config.d_value,
        config.bias,
        config.attention_dropout,
    )


def copy_modules(model: M) -> M:
    """A copy of the modules, which share all their weights with those of ``model``."""
    tensors = [*model.parameters(), *model.buffers()]
    return copy.deepcopy(model, {id(tensor): tensor for tensor in tensors})


def collect_weights(model: M) -> tuple[M, dict[nn.Module, Tensor]]:
    """A copy of ``model`` that records its attention weights.

    The copy shares all parameters with ``model``, but its attention is written out.
    ``model`` itself keeps using the fused call, in other threads as well.

    Returns:
        The copy, and a dict. Each call of the copy fills the dict: the key is a
        ``MultiHeadAttention`` of ``model``, the value its weights, ``(B, H, T, S)``.
    """
    twin = copy_modules(model)
    weights: dict[nn.Module, Tensor] = {}

    def attend(
        clone: MultiHeadAttention,
        module: nn.Module,
        queries: Tensor,
        keys: Tensor,
        values: Tensor,
        mask: Tensor | None,
    ) -> Tensor:
        dropout = clone.dropout if clone.training else 0.0
        heads, weights[module] = scaled_dot_product_attention(
            queries, keys, values, mask, dropout
        )
        return heads  # (B, H, T, d_v)

    for module, clone in zip(model.modules(), twin.modules(), strict=True):
        if isinstance(clone, MultiHeadAttention):
            clone.attend = partial(attend, clone, module)  # type: ignore[method-assign]
    return twin, weights


def padding_mask(ids: Tensor, pad: int = PAD) -> Tensor:
    """Padding mask: ``(B, S)`` ids to ``(B, 1, 1, S)``, False at ``<pad>``."""
    return (ids != pad)[:, None, None, :]  # (B, 1, 1, S)


def causal_mask(length: int, device: torch.device | str | None = None) -> Tensor:
    """Causal mask ``(1, 1, T, T)``, True on and below the diagonal (section 3.2.3).

    Position t attends to positions 0 … t.
    """
    square = torch.ones(length, length, dtype=torch.bool, device=device)  # (T, T)
    return square.tril()[None, None]  # (1, 1, T, T)


def target_mask(tgt_in: Tensor, pad: int = PAD) -> Tensor:
    """Target mask: ``(B, T)`` ids to ``(B, 1, T, T)``, causal, and padding hidden.

    A token attends to itself and the tokens before it.
    """
    past = causal_mask(tgt_in.size(1), tgt_in.device)  # (1, 1, T, T)
    return padding_mask(tgt_in, pad) & past  # (B, 1, T, T)


def check_mask(
    mask: Tensor | None, shape: tuple[int, int, int, int], name: str = "mask"
) -> None:
    """Rejects a mask that would silently hide the wrong things; ``None`` is allowed.

    Raises:
        ShapeError: the mask is not boolean, or one of its sizes is neither 1 nor that
            of ``shape``, the weights' ``(B, H, T, S)``.
    """
    if mask is None:
        return
    if mask.dtype != torch.bool:
        raise ShapeError(
            f"{name} must be boolean (True = may be attended to), not {mask.dtype}: "
            "compare, as in ids != 0"
        )
    if mask.dim() != 4 or any(
        size not in (1, full_size)
        for size, full_size in zip(mask.shape, shape, strict=True)
    ):
        raise ShapeError(
            f"{name} has shape {tuple(mask.shape)}, which does not broadcast to "
            f"(B, H, T, S) = {shape}"
        )
