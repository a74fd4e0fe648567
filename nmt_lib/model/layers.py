"""Encoder and decoder: layers of attention and feed-forward networks, each with a
residual connection and a norm (paper, section 3.1)."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch.nn.functional as F
from torch import Tensor, nn

from ..config import ModelConfig
from .attention import KVCache, check_mask, make_attention


class FeedForward(nn.Module):
    """Feed-forward network: two linear layers with a ReLU between them, the same at
    every position (paper, section 3.3)."""

    def __init__(
        self, d_model: int, d_ff: int, bias: bool = True, dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.W_1 = nn.Linear(d_model, d_ff, bias)
        self.W_2 = nn.Linear(d_ff, d_model, bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        """``(B, T, D)`` to ``(B, T, D)``."""
        hidden = self.dropout(F.relu(self.W_1(x)))  # (B, T, d_ff)
        return self.W_2(hidden)  # (B, T, D)


class Residual(nn.Module):
    """The residual connection around a sub-layer, and its norm (paper, section 3.1).

    Post-LN, as in the paper, normalises the sum. Pre-LN normalises the input of the
    sub-layer instead. The path from the last layer to the first is then a plain sum,
    through which gradients pass unchanged.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.pre = config.norm == "pre"
        self.norm = nn.LayerNorm(config.d_model, bias=config.norm_bias)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        """``(B, T, D)`` to ``(B, T, D)``, as ``sublayer`` does."""
        if self.pre:
            return x + self.dropout(sublayer(self.norm(x)))  # (B, T, D)
        return self.norm(x + self.dropout(sublayer(x)))  # (B, T, D)


def make_final_norm(config: ModelConfig) -> nn.Module:
    """The layer norm on top of a stack: pre-LN needs one, since its sums have none."""
    is_default = config.final_norm is None
    if config.norm == "pre" if is_default else config.final_norm:
        return nn.LayerNorm(config.d_model, bias=config.norm_bias)
    return nn.Identity()


def make_feed_forward(config: ModelConfig) -> FeedForward:
    return FeedForward(config.d_model, config.d_ff, config.bias, config.ffn_dropout)


class EncoderLayer(nn.Module):
    """Self-attention, then feed-forward, each with its residual connection and norm.

    Post-LN, as in the paper, with dropout left out::

        x = norm(x + self_attention(x, x, src_mask))
        x = norm(x + feed_forward(x))

    Pre-LN (``model.norm="pre"``)::

        h = norm(x)
        x = x + self_attention(h, h, src_mask)
        x = x + feed_forward(norm(x))
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.self_attention = make_attention(config)
        self.around_attention = Residual(config)
        self.feed_forward = make_feed_forward(config)
        self.around_feed_forward = Residual(config)

    def forward(self, x: Tensor, src_mask: Tensor | None) -> Tensor:
        """``(B, S, D)`` to ``(B, S, D)``; the mask broadcasts to ``(B, H, S, S)``."""
        x = self.around_attention(
            x, lambda h: self.self_attention(h, h, src_mask)
        )  # (B, S, D)
        return self.around_feed_forward(x, self.feed_forward)  # (B, S, D)


class Encoder(nn.Module):
    """A stack of encoder layers, and a final layer norm where pre-LN needs one."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            EncoderLayer(config) for _ in range(config.n_layers)
        )
        self.norm = make_final_norm(config)

    def forward(self, x: Tensor, src_mask: Tensor | None) -> Tensor:
        """``(B, S, D)`` to the memory ``(B, S, D)``."""
        for layer in self.layers:
            x = layer(x, src_mask)  # (B, S, D)
        return self.norm(x)  # (B, S, D)


class LayerCache(NamedTuple):
    """The keys and values that a decoder layer keeps from one step to the next."""

    own: KVCache  # for self-attention: of the target so far
    source: KVCache  # for cross-attention: of the memory


class DecoderLayer(nn.Module):
    """Self-attention over the past, cross-attention over the memory, feed-forward."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.self_attention = make_attention(config)
        self.around_self_attention = Residual(config)
        self.cross_attention = make_attention(config)
        self.around_cross_attention = Residual(config)
        self.feed_forward = make_feed_forward(config)
        self.around_feed_forward = Residual(config)

    def forward(
        self,
        x: Tensor,
        memory: Tensor,
        src_mask: Tensor | None,
        tgt_mask: Tensor | None,
        cache: LayerCache | None = None,
    ) -> Tensor:
        """``(B, T, D)`` to ``(B, T, D)``; with a cache, ``x`` has new positions only.

        ``memory`` is ``(B, S, D)``; the masks broadcast to ``(B, H, T, S)`` and
        ``(B, H, T, T)``.
        """
        own, source = cache or (None, None)
        x = self.around_self_attention(
            x, lambda h: self.self_attention(h, h, tgt_mask, own)
        )  # (B, T, D)
        x = self.around_cross_attention(
            x, lambda h: self.cross_attention(h, memory, src_mask, source)
        )  # (B, T, D)
        return self.around_feed_forward(x, self.feed_forward)  # (B, T, D)


class Decoder(nn.Module):
    """A stack of decoder layers, and a final layer norm where pre-LN needs one."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        n_layers = config.n_decoder_layers or config.n_layers
        self.layers = nn.ModuleList(DecoderLayer(config) for _ in range(n_layers))
        self.norm = make_final_norm(config)

    def forward(
        self,
        x: Tensor,
        memory: Tensor,
        src_mask: Tensor | None,
        tgt_mask: Tensor | None,
        caches: list[LayerCache] | None = None,
    ) -> Tensor:
        """``(B, T, D)`` to ``(B, T, D)``; see ``DecoderLayer``; one cache per layer.

        Raises:
            ShapeError: ``src_mask`` is not ``(B, 1, 1, S)``, or ``tgt_mask`` does not
                broadcast to ``(B, H, T, T)``.
        """
        check_mask(src_mask, (len(memory), 1, 1, memory.size(1)), "src_mask")
        for i, layer in enumerate(self.layers):
            cache = None if caches is None else caches[i]
            x = layer(x, memory, src_mask, tgt_mask, cache)  # (B, T, D)
        return self.norm(x)  # (B, T, D)

    def make_caches(self, memory: Tensor) -> list[LayerCache]:
        """A cache per layer, with the keys and values of ``memory``, ``(B, S, D)``."""
        caches = []
        for layer in self.layers:
            assert isinstance(layer, DecoderLayer)
            keys, values = layer.cross_attention.keys_values(memory)  # (B, H, S, d)
            own = KVCache(keys[:, :, :0], values[:, :, :0], grows=True)  # nothing yet
            caches.append(LayerCache(own, KVCache(keys, values, grows=False)))
        return caches
