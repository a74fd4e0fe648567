"""Decoder: as the encoder, but it sees only the past of its own side, and all of the source (paper, section 3.1)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from .config import ModelConfig
from .encoder import FeedForward, Residual, has_final_norm, make_attention, make_norm


class LayerCache:
    """The keys and values that one decoder layer has computed already, so that no step computes them again.

    ``own`` holds those of the target so far, ``(B, H, t, d)``, and grows by one at each step; ``source`` holds
    those of the memory, ``(B, H, S, d)``, and never changes.
    """

    def __init__(self, source: tuple[Tensor, Tensor]) -> None:
        self.own: tuple[Tensor, Tensor] | None = None
        self.source = source

    def extend(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Appends the new places and returns all of them."""
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
        self.feed_forward = FeedForward(config.d_model, config.d_ff, config.bias, config.ffn_dropout)
        self.around_feed_forward = Residual(config)

    def forward(
        self,
        x: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None,
        src_mask: Tensor | None,
        need_weights: bool = False,
        cache: LayerCache | None = None,
    ) -> tuple[Tensor, Tensor | None, Tensor | None]:
        """One layer.

        Args:
            x: ``(B, T, D)``; with a cache only the new places.
            memory: ``(B, S, D)``, what the encoder made; with a cache it is not read, so pass anything.
            tgt_mask: broadcasts to ``(B, H, T, T)``.
            src_mask: broadcasts to ``(B, H, T, S)``.

        Returns:
            ``(B, T, D)``; the weights of self-attention ``(B, H, T, T)`` and of cross-attention ``(B, H, T, S)``,
            or None.
        """
        h = self.around_self_attention.enter(x)  # (B, T, D)
        keys, values = self.self_attention.keys_values(h)  # (B, H, T, d)
        if cache is not None:
            keys, values = cache.extend(keys, values)  # (B, H, t + T, d)
        h, own_weights = self.self_attention.attend(h, keys, values, tgt_mask, need_weights)
        x = self.around_self_attention.leave(x, h)  # (B, T, D)

        h = self.around_cross_attention.enter(x)  # (B, T, D)
        keys, values = cache.source if cache is not None else self.cross_attention.keys_values(memory)
        h, cross_weights = self.cross_attention.attend(h, keys, values, src_mask, need_weights)
        x = self.around_cross_attention.leave(x, h)  # (B, T, D)

        h = self.feed_forward(self.around_feed_forward.enter(x))  # (B, T, D)
        return self.around_feed_forward.leave(x, h), own_weights, cross_weights


class Decoder(nn.Module):
    """A stack of layers."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.layers = nn.ModuleList(DecoderLayer(config) for _ in range(config.n_decoder_layers or config.n_layers))
        self.norm = make_norm(config) if has_final_norm(config) else nn.Identity()

    def forward(
        self,
        x: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None,
        src_mask: Tensor | None,
        need_weights: bool = False,
        caches: list[LayerCache] | None = None,
    ) -> tuple[Tensor, list[Tensor], list[Tensor]]:
        """Arguments as of a layer, and one cache for each; returns ``(B, T, D)`` and the weights of each layer."""
        own, cross = [], []
        for i, layer in enumerate(self.layers):
            cache = caches[i] if caches is not None else None
            x, own_weights, cross_weights = layer(x, memory, tgt_mask, src_mask, need_weights, cache)
            own += [own_weights] if need_weights else []
            cross += [cross_weights] if need_weights else []
        return self.norm(x), own, cross

    def make_caches(self, memory: Tensor) -> list[LayerCache]:
        """One for each layer, with the memory's keys and values computed."""
        return [LayerCache(layer.cross_attention.keys_values(memory)) for layer in self.layers]  # type: ignore[operator, union-attr]
