"""Encoder: N layers, each self-attention and a feed-forward network, with residual sums (paper, section 3.1)."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor, nn

from .attention import MultiHeadAttention
from .config import ModelConfig


class FeedForward(nn.Module):
    """Two linear layers with ReLU between, the same at every place (paper, section 3.3)."""

    def __init__(self, d_model: int, d_ff: int, bias: bool = True, dropout: float = 0.0) -> None:
        super().__init__()
        self.W_1 = nn.Linear(d_model, d_ff, bias)
        self.W_2 = nn.Linear(d_ff, d_model, bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        """``(B, T, D)`` to ``(B, T, D)``."""
        return self.W_2(self.dropout(F.relu(self.W_1(x))))  # (B, T, D) → (B, T, d_ff) → (B, T, D)


class Residual(nn.Module):
    """The sum around a sub-layer, and where the LayerNorm stands.

    post (the paper): x ← norm(x + sublayer(x)). pre: x ← x + sublayer(norm(x)); then the way from the last
    layer to the first is a plain sum, and gradients pass it unchanged.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.pre = config.norm == "pre"
        self.norm = make_norm(config)
        self.dropout = nn.Dropout(config.dropout)

    def enter(self, x: Tensor) -> Tensor:
        """What the sub-layer reads."""
        return self.norm(x) if self.pre else x  # (B, T, D)

    def leave(self, x: Tensor, out: Tensor) -> Tensor:
        """What goes on: the input plus the sub-layer's output."""
        x = x + self.dropout(out)  # (B, T, D)
        return x if self.pre else self.norm(x)  # (B, T, D)


class EncoderLayer(nn.Module):
    """Self-attention, then feed-forward."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.self_attention = make_attention(config)
        self.around_attention = Residual(config)
        self.feed_forward = FeedForward(config.d_model, config.d_ff, config.bias, config.ffn_dropout)
        self.around_feed_forward = Residual(config)

    def forward(self, x: Tensor, src_mask: Tensor | None, need_weights: bool = False) -> tuple[Tensor, Tensor | None]:
        """``(B, S, D)`` to ``(B, S, D)`` and the weights ``(B, H, S, S)``, or None."""
        h = self.around_attention.enter(x)  # (B, S, D)
        h, weights = self.self_attention(h, h, src_mask, need_weights)
        x = self.around_attention.leave(x, h)  # (B, S, D)
        h = self.feed_forward(self.around_feed_forward.enter(x))  # (B, S, D)
        return self.around_feed_forward.leave(x, h), weights


class Encoder(nn.Module):
    """A stack of layers; ``final_norm`` adds one more LayerNorm (pre-LN leaves the sum unnormalised otherwise)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.layers = nn.ModuleList(EncoderLayer(config) for _ in range(config.n_layers))
        self.norm = make_norm(config) if has_final_norm(config) else nn.Identity()

    def forward(self, x: Tensor, src_mask: Tensor | None, need_weights: bool = False) -> tuple[Tensor, list[Tensor]]:
        """``(B, S, D)`` to the memory ``(B, S, D)`` and, if asked for, one ``(B, H, S, S)`` for each layer."""
        all_weights = []
        for layer in self.layers:
            x, weights = layer(x, src_mask, need_weights)
            all_weights += [weights] if need_weights else []
        return self.norm(x), all_weights


def make_norm(config: ModelConfig) -> nn.LayerNorm:
    return nn.LayerNorm(config.d_model, eps=config.norm_eps, bias=config.norm_bias)


def make_attention(config: ModelConfig) -> MultiHeadAttention:
    return MultiHeadAttention(config.d_model, config.n_heads, config.d_value, config.bias, config.attention_dropout)


def has_final_norm(config: ModelConfig) -> bool:
    return config.norm == "pre" if config.final_norm is None else config.final_norm
