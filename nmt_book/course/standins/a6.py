"""A6: models to search with, and a decoder layer."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import torch
from torch import Tensor, nn

from nmt_lib import (
    EOS,
    PAD,
    SOS,
    MultiHeadAttention,
    causal_mask,
    scaled_dot_product_attention,
)

from ..check.kit import expect, fill, near, random_numbers
from .outside import overheard


class Model(nn.Module):
    """Random numbers in place of a trained Transformer: ``model(src, prefix)`` gives
    the scores of each next token. They depend on every token of the source (except
    ``<pad>``) and of the prefix so far."""

    __name__ = "model"  # for hints

    def __init__(
        self, seed: int, size: int = 24, favour: Any = None, longest: int = 1000
    ) -> None:
        super().__init__()
        self.words, self.read = nn.Embedding(size, 16), nn.RNN(16, 16, batch_first=True)
        self.output, self.longest = nn.Linear(16, size), longest
        fill(self.requires_grad_(False), seed)
        self.words.weight[PAD] = 0
        self.output.weight *= 2
        for token, score in (favour or {}).items():
            self.output.bias[token] += score

    def forward(self, src: Tensor, prefix: Tensor) -> Tensor:
        """``(B, S)`` and ``(B, t)`` ids to ``(B, t, V)`` scores, before the softmax."""
        good = prefix.dim() == 2 and len(src) == len(prefix) and prefix.size(1) > 0
        shapes = f"src {tuple(src.shape)}, prefix {tuple(prefix.shape)}"
        begins = f"{shapes}: expected a prefix for each row of src, starting with <sos>"
        expect(good and (prefix[:, 0] == SOS).all(), begins)
        expect(prefix.size(1) <= 120, "the prefix has over 120 ids: when do you stop?")
        return self.scores(src, prefix)

    def scores(self, src: Tensor, prefix: Tensor) -> Tensor:
        """``(B, t, V)``."""
        source = self.words(src).sum(1).tanh()  # (B, 16)
        states, _ = self.read(self.words(prefix), source[None])
        scores = self.output(states)  # (B, t, V)
        scores[:, self.longest :, EOS] += 100.0
        return scores  # type: ignore[no-any-return]


class Toy(Model):
    """Probabilities by hand. ``table[6, 9, 8]`` holds those of the next token, by id,
    after 9 and 8 if 6 is the first word of the source. Where the table says nothing,
    the next token is 4, for ever."""

    def __init__(self, table: dict[Any, dict[int, float]]) -> None:
        super().__init__(0)
        self.table = table

    def scores(self, src: Tensor, prefix: Tensor) -> Tensor:
        logits = torch.full((*prefix.shape, 24), -30.0)
        for row, t in product(*map(range, prefix.shape)):
            written = src[row, 1].item(), *prefix[row, 1 : t + 1].tolist()
            for token, p in self.table.get(written, {4: 1.0}).items():
                logits[row, t, token] = math.log(p)
        return logits + 2.0  # scores, no log-probabilities


class Heads(MultiHeadAttention):
    """Attention in steps: ``heads(x, memory, mask)`` equals ``heads.mix(
    heads.query(x), heads.key(memory), heads.value(memory), mask)``."""

    def query(self, x: Tensor) -> Tensor:  # (B, n, D) → (B, H, n, d_k)
        return self.split_heads(self.W_q(x))

    def key(self, x: Tensor) -> Tensor:  # (B, n, D) → (B, H, n, d_k)
        return self.split_heads(self.W_k(x))

    def value(self, x: Tensor) -> Tensor:  # (B, n, D) → (B, H, n, d_k)
        return self.split_heads(self.W_v(x))

    def mix(
        self, query: Tensor, key: Tensor, value: Tensor, mask: Any = None
    ) -> Tensor:
        heads, _ = scaled_dot_product_attention(query, key, value, mask)
        return self.W_o(self.join_heads(heads))  # (B, n, D)


class Layer(nn.Module):
    """The attention of one decoder layer, without a cache: a position attends to itself
    and to the positions before it, as many as the window has, and to the source."""

    def __init__(
        self, seed: int, window: int, n_heads: int = 3, positions: float = 1.0
    ) -> None:
        super().__init__()
        self.own, self.cross = Heads(12, n_heads), Heads(12, n_heads)
        fill(self, seed)
        self.window, self.words = window, random_numbers(24, 12)
        self.positions = positions * random_numbers(200, 12)

    def embed(self, tokens: Tensor, start: int = 0) -> Tensor:
        """(B, n) → (B, n, D), at positions start, start + 1, …"""
        return self.words[tokens] + self.positions[start : start + tokens.size(1)]

    def forward(self, tokens: Tensor, memory: Tensor, src_mask: Tensor) -> Any:
        """(B, t), (B, S, D), (B, 1, 1, S) → (B, t, D)"""
        x, past = self.embed(tokens), causal_mask(tokens.size(1))
        x = x + self.own(x, x, past.triu(1 - self.window))
        return x + self.cross(x, memory, src_mask)


def search(function: Any, model: Any, src: Tensor) -> Any:
    return function(model, src)


def heard(function: Any, model: Model, src: Tensor) -> tuple[Any, int]:
    """What a greedy search returns, and how often it calls the model."""
    got, calls = overheard(function, search, {"model": model}, None, src)
    return got, len(calls)


def steps(class_: Any, layer: Layer, memory: Tensor, tokens: Tensor) -> Tensor:
    """All tokens through a cache, one step each, where nothing of memory is hidden."""
    cached = class_(layer, memory, memory[:, None, None, :, 0].isfinite())
    return torch.stack([cached.step(token) for token in tokens.T], 1)  # (B, T, D)


def positions(class_: Any, layer: Layer, memory: Tensor, tokens: Tensor) -> list[int]:
    """How many positions keys and values are computed for in these steps: two numbers
    for the target, two for the memory."""
    names = "own.W_k", "own.W_v", "cross.W_k", "cross.W_v"
    parts = {name: layer.get_submodule(name) for name in names}
    got, calls = overheard(class_, steps, parts, layer, memory, tokens)
    seen = memory[:, None, None, :, 0].isfinite()
    right = isinstance(got, Tensor) and near(got, layer(tokens, memory, seen))
    expect(right, "the steps are wrong (see the check above), so nothing is counted")
    return [sum(x.size(1) for of, x in calls if of == name) for name in names]
