"""A6: models and a decoder layer to search with."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import torch
from torch import Tensor, nn

from nmt_lib import EOS, PAD, SOS

from ..check.kit import beside_answer, expect


class Model:
    """Random numbers in place of a trained Transformer: ``model(src, prefix)`` gives
    the scores of each next token.

    Whatever stands in the source (``<pad>`` apart) and in the prefix up to a position
    changes the scores of that position.
    """

    __name__ = "model"  # for hints

    def __init__(
        self, seed: int, size: int = 24, favour: Any = None, longest: int = 1000
    ) -> None:
        draw = torch.Generator().manual_seed(seed)
        self.size, self.longest, self.asked = size, longest, 0
        self.words, self.turn, self.out = (
            torch.randn(*shape, generator=draw)
            for shape in ((size, 16), (16, 16), (16, size))
        )
        self.favour = torch.zeros(size)
        for token, score in (favour or {}).items():
            self.favour[token] = score

    def __call__(self, src: Tensor, prefix: Tensor) -> Tensor:
        """``(B, S)`` and ``(B, t)`` ids to ``(B, t, V)`` scores (logits: the softmax is
        not taken yet)."""
        shapes = f"src {tuple(src.shape)}, prefix {tuple(prefix.shape)}"
        good = prefix.dim() == 2 and len(src) == len(prefix) and prefix.size(1) > 0
        expect(good, f"{shapes}: two tables of ids with as many rows are wanted")
        expect((prefix[:, 0] == SOS).all(), "each prefix begins with <sos>")
        expect(prefix.size(1) <= 120, "the prefix has more than 120 ids: stop earlier")
        self.asked += 1
        return self.scores(src, prefix)

    def scores(self, src: Tensor, prefix: Tensor) -> Tensor:
        """``(B, t, V)``."""
        state = (self.words[src] * (src != PAD).unsqueeze(-1)).sum(1).tanh()  # (B, 16)
        positions: list[Tensor] = []
        for token in prefix.T:  # (B,)
            state = (0.3 * state @ self.turn + self.words[token]).tanh()
            scores = state @ self.out + self.favour  # (B, V)
            scores[:, EOS] += 100.0 * (len(positions) >= self.longest)
            positions.append(scores)
        return torch.stack(positions, dim=1)


class Toy(Model):
    """Probabilities made by hand. ``table[6, 9, 8]`` are those of the next token, by
    id, where 6 is the first word of the source, and 9 and 8 are written already. Where
    the table says nothing, the next token is 4: it talks on."""

    def __init__(self, table: dict[Any, dict[int, float]]) -> None:
        super().__init__(0)
        self.table = table

    def scores(self, src: Tensor, prefix: Tensor) -> Tensor:
        logits = torch.full((*prefix.shape, self.size), -30.0)
        for row, read in enumerate(torch.cat([src[:, 1:2], prefix], 1).tolist()):
            for t in range(1, len(read)):
                written = read[0], *read[2 : t + 1]
                for token, p in self.table.get(written, {4: 1.0}).items():
                    logits[row, t - 1, token] = math.log(p)
        return logits + 2.0  # scores, no log-probabilities


class Heads(nn.Module):
    """Attention in small steps."""

    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        four = (nn.Linear(d_model, d_model) for _ in range(4))
        self.W_q, self.W_k, self.W_v, self.W_o = four

    def query(self, x: Tensor) -> Tensor:  # (B, n, D) → (B, H, n, d_k)
        return self.W_q(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def key(self, x: Tensor) -> Tensor:  # (B, n, D) → (B, H, n, d_k)
        return self.W_k(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def value(self, x: Tensor) -> Tensor:  # (B, n, D) → (B, H, n, d_k)
        return self.W_v(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def mix(
        self, query: Tensor, key: Tensor, value: Tensor, mask: Any = None
    ) -> Tensor:
        scores = query @ key.mT / math.sqrt(query.size(-1))  # (B, H, n, m)
        if mask is not None:  # True = may be attended to
            scores = scores.masked_fill(~mask, -1e9)
        return self.W_o((scores.softmax(-1) @ value).transpose(1, 2).flatten(2))


class Layer(nn.Module):
    """The attention of one decoder layer, without a cache: a position attends to itself
    and to the positions before it, as many as the window has, and to the source."""

    def __init__(
        self, seed: int, window: int, n_heads: int = 3, positions: float = 1.0
    ) -> None:
        super().__init__()
        self.own, self.cross = Heads(12, n_heads), Heads(12, n_heads)
        self.window = window
        draw = torch.Generator().manual_seed(seed)
        for parameter in self.parameters():
            parameter.data = 0.5 * torch.randn(parameter.shape, generator=draw)
        self.words = torch.randn(24, 12, generator=draw)
        self.positions = positions * torch.randn(200, 12, generator=draw)

    def embed(self, tokens: Tensor, start: int = 0) -> Tensor:
        """(B, n) → (B, n, D), at positions start, start + 1, …"""
        return self.words[tokens] + self.positions[start : start + tokens.size(1)]

    def forward(self, tokens: Tensor, memory: Tensor, src_mask: Tensor) -> Tensor:
        """(B, t), (B, S, D), (B, 1, 1, S) → (B, t, D)"""
        x, own, cross = self.embed(tokens), self.own, self.cross
        past = torch.ones(x.size(1), x.size(1)).tril().bool()  # (t, t)
        past = past & ~past.tril(-self.window)
        x = x + own.mix(own.query(x), own.key(x), own.value(x), past)
        keys, values = cross.key(memory), cross.value(memory)
        return x + cross.mix(cross.query(x), keys, values, src_mask)


@beside_answer
def steps(function: Any, model: Model, src: Tensor) -> list[Any]:
    """How often a search asks the model, and what it finds."""
    found = function(model, src)
    return [model.asked, found]


@beside_answer
def positions(cached_class: Any, layer: Layer, memory: Any, tokens: Any) -> list[int]:
    """Of how many positions keys and values are computed for all tokens, one step each:
    of the target's (two numbers), of the memory's (two)."""
    done, four = Counter[int](), [layer.own.W_k, layer.own.W_v]
    for i, linear in enumerate([*four, layer.cross.W_k, layer.cross.W_v]):
        linear.register_forward_hook(
            lambda _, given, __, i=i: done.update({i: given[0].size(1)})
        )
    seen = torch.ones(len(memory), 1, 1, memory.size(1), dtype=torch.bool)
    cached = cached_class(layer, memory, seen)
    for token in tokens.T:
        cached.step(token)
    return [done[i] for i in range(4)]
