"""Decoder: as the encoder, but it sees only the past of its own side, and all of the source (paper, section 3.1)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from .config import ModelConfig
from .layers import Residual, make_attention, make_feed_forward, make_final_norm


class LayerCache:
    """The keys and values that one decoder layer has computed already, so that no step computes them again.

    ``own`` holds those of the target so far, ``(B, H, t, d)``, and grows by one at each step; ``source`` holds
    those of the memory, ``(B, H, S, d)``, and never changes.
    """

    def __init__(self, source: tuple[Tensor, Tensor]) -> None:
        self.own: tuple[Tensor, Tensor] | None = None
        self.source = source

    def __len__(self) -> int:
        """How many positions of the target it holds."""
        return 0 if self.own is None else self.own[0].size(2)

    def extend(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Appends the new positions and returns all of them."""
        if self.own is not None:
            keys = torch.cat([self.own[0], keys], dim=2)  # (B, H, t + 1, d)
            values = torch.cat([self.own[1], values], dim=2)  # (B, H, t + 1, d)
        self.own = (keys, values)
        return self.own

    def select(self, rows: Tensor, sources: Tensor | None = None) -> None:
        """Keeps the rows with these numbers, in this order; ``sources`` does so for the memory's, where given."""
        if self.own is not None:
            self.own = (self.own[0][rows], self.own[1][rows])
        if sources is not None:
            self.source = (self.source[0][sources], self.source[1][sources])


class DecoderLayer(nn.Module):
    """Self-attention over the past, cross-attention over the memory, then feed-forward."""

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
        tgt_mask: Tensor | None,
        src_mask: Tensor | None,
        cache: LayerCache | None = None,
    ) -> Tensor:
        """``(B, T, D)`` to ``(B, T, D)``; with a cache ``x`` holds only the new positions, and ``memory`` is not read.

        ``memory`` is ``(B, S, D)``; the masks broadcast to ``(B, H, T, T)`` and ``(B, H, T, S)``.
        """

        def look_back(h: Tensor) -> Tensor:
            keys, values = self.self_attention.keys_values(h)  # (B, H, T, d)
            if cache is not None:
                keys, values = cache.extend(keys, values)  # (B, H, t + T, d)
            return self.self_attention.attend(h, keys, values, tgt_mask)  # (B, T, D)

        x = self.around_self_attention(x, look_back)  # (B, T, D)
        source = (
            cache.source
            if cache is not None
            else self.cross_attention.keys_values(memory)
        )  # (B, H, S, d), twice
        x = self.around_cross_attention(
            x, lambda h: self.cross_attention.attend(h, *source, src_mask)
        )  # (B, T, D)
        return self.around_feed_forward(x, self.feed_forward)  # (B, T, D)


class Decoder(nn.Module):
    """A stack of layers; with ``final_norm`` one more layer norm on top."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            DecoderLayer(config)
            for _ in range(config.n_decoder_layers or config.n_layers)
        )
        self.norm = make_final_norm(config)

    def forward(
        self,
        x: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None,
        src_mask: Tensor | None,
        caches: list[LayerCache] | None = None,
    ) -> Tensor:
        """``(B, T, D)`` to ``(B, T, D)``; arguments as of a layer, and one cache for each."""
        for i, layer in enumerate(self.layers):
            cache = caches[i] if caches is not None else None
            x = layer(x, memory, tgt_mask, src_mask, cache)  # (B, T, D)
        return self.norm(x)  # (B, T, D)

    def make_caches(self, memory: Tensor) -> list[LayerCache]:
        """One for each layer, with the memory's keys and values computed."""
        return [
            LayerCache(layer.cross_attention.keys_values(memory))
            for layer in self.layers
        ]  # type: ignore[operator, union-attr]
