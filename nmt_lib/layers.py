"""What encoder and decoder layers are made of, beside attention: feed-forward networks
and residual connections."""

from __future__ import annotations

from collections.abc import Callable

import torch.nn.functional as F
from torch import Tensor, nn

from .config import ModelConfig


class FeedForward(nn.Module):
    """Two linear layers with ReLU between them, the same at every position (paper,
    section 3.3)."""

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

    Post-LN, the paper's, normalises the sum. Pre-LN normalises what the sub-layer
    reads: the path from the last layer to the first is then a plain sum, which
    gradients pass unchanged.
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
    """One more layer norm on a stack: pre-LN leaves the sum unnormalised otherwise."""
    wanted = config.norm == "pre" if config.final_norm is None else config.final_norm
    if not wanted:
        return nn.Identity()
    return nn.LayerNorm(config.d_model, bias=config.norm_bias)


def make_feed_forward(config: ModelConfig) -> FeedForward:
    return FeedForward(config.d_model, config.d_ff, config.bias, config.ffn_dropout)
