"""Decoder: like the encoder, but it sees only the past of its own side, and all of the
source (paper, section 3.1)."""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor, nn

from .attention import KVCache, make_attention
from .config import ModelConfig
from .layers import Residual, make_feed_forward, make_final_norm
from .masks import check_mask


class LayerCache(NamedTuple):
    """What a decoder layer keeps from step to step."""

    own: KVCache  # of the target so far, for self-attention
    source: KVCache  # of the memory, for cross-attention


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
        """``(B, T, D)`` to ``(B, T, D)``; with a cache ``x`` holds new positions only.

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
    """A stack of layers; with ``final_norm`` one more layer norm on top."""

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
        """``(B, T, D)`` to ``(B, T, D)``; arguments as of a layer, a cache for each.

        Raises:
            ShapeError: ``src_mask`` is not ``(B, 1, 1, S)``; ``tgt_mask``, perhaps.
        """
        check_mask(src_mask, (len(memory), 1, 1, memory.size(1)), "src_mask")
        for i, layer in enumerate(self.layers):
            cache = None if caches is None else caches[i]
            x = layer(x, memory, src_mask, tgt_mask, cache)  # (B, T, D)
        return self.norm(x)  # (B, T, D)

    def make_caches(self, memory: Tensor) -> list[LayerCache]:
        """One for each layer, with the keys and values of ``memory``, ``(B, S, D)``."""
        caches = []
        for layer in self.layers:
            assert isinstance(layer, DecoderLayer)
            keys, values = layer.cross_attention.keys_values(memory)  # (B, H, S, d)
            own = KVCache(keys[:, :, :0], values[:, :, :0], grows=True)  # nothing yet
            caches.append(LayerCache(own, KVCache(keys, values, grows=False)))
        return caches
