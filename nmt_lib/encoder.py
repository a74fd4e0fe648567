"""Encoder: N layers of self-attention and a feed-forward network, each with a residual
connection (paper, section 3.1)."""

from __future__ import annotations

from torch import Tensor, nn

from .attention import make_attention
from .config import ModelConfig
from .layers import Residual, make_feed_forward, make_final_norm


class EncoderLayer(nn.Module):
    """Self-attention, then feed-forward."""

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
    """A stack of layers; with ``final_norm`` one more layer norm on top."""

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
