"""A6: models and a decoder layer to search with."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn

from nmt_lib import EOS, PAD, SOS

from ..check.kit import beside_answer, kind


class Model:
    """Random numbers in place of a trained Transformer: ``model(src, prefix)`` gives the scores of each next token.

    Whatever stands in the source (``<pad>`` apart) and in the prefix up to a place changes the scores of that place.
    """

    __name__ = "model"  # for hints

    def __init__(self, seed: int, size: int = 24, favour: dict[int, float] | None = None, longest: int = 1000) -> None:
        draw = torch.Generator().manual_seed(seed)
        self.size, self.longest, self.calls = size, longest, list[tuple[int, int]]()
        self.words, self.turn = torch.randn(size, 16, generator=draw), 0.3 * torch.randn(16, 16, generator=draw)
        self.out = torch.randn(16, size, generator=draw)
        self.favour = torch.tensor([(favour or {}).get(token, 0.0) for token in range(size)])

    def __call__(self, src: Tensor, prefix: Tensor) -> Tensor:
        """``(B, S)`` and ``(B, t)`` ids to ``(B, t, V)`` scores (logits: the softmax is not taken yet)."""
        for name, ids in (("src", src), ("the prefix", prefix)):
            if not isinstance(ids, Tensor) or ids.dim() != 2 or ids.is_floating_point():
                raise ValueError(f"{name} has to be a tensor of whole numbers, (rows, ids); here it is {kind(ids)}")
        if len(src) != len(prefix) or not prefix.numel() or (prefix[:, 0] != SOS).any():
            raise ValueError(f"{len(src)} rows of src and {len(prefix)} prefixes: as many, and each begins with <sos>")
        if prefix.size(1) > 120:
            raise RuntimeError("the prefix has more than 120 ids: when does the search stop?")
        self.calls.append((len(prefix), prefix.size(1)))
        return self.scores(src, prefix)

    def scores(self, src: Tensor, prefix: Tensor) -> Tensor:
        """``(B, t, V)``."""
        state = (self.words[src] * (src != PAD).unsqueeze(-1)).sum(1).tanh()  # (B, 16)
        places: list[Tensor] = []
        for token in prefix.T:  # (B,)
            state = (state @ self.turn + self.words[token]).tanh()
            scores = state @ self.out + self.favour  # (B, V)
            scores[:, EOS] += 100.0 * (len(places) >= self.longest)
            places.append(scores)
        return torch.stack(places, dim=1)


class Toy(Model):
    """Probabilities made by hand. ``table[6, 9, 8]`` are those of the next token, by id, where 6 is the first word of
    the source, and 9 and 8 are written already. Where the table says nothing, the next token is 4: it talks on."""

    def __init__(self, table: dict[Any, dict[int, float]], size: int = 24) -> None:
        super().__init__(0, size)
        self.table = table

    def scores(self, src: Tensor, prefix: Tensor) -> Tensor:
        logits = torch.full((*prefix.shape, self.size), -30.0)
        for row, (source, read) in enumerate(zip(src.tolist(), prefix.tolist(), strict=True)):
            for t in range(len(read)):
                for token, p in self.table.get((source[1], *read[1 : t + 1]), {4: 1.0}).items():
                    logits[row, t, token] = math.log(p)
        return logits + 2.0  # scores, no log-probabilities


class Heads(nn.Module):
    """Attention in small steps."""

    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        self.n_heads, self.seen = n_heads, 0
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model) for _ in range(4))

    def query(self, x: Tensor) -> Tensor:  # (B, n, D) → (B, H, n, d_k)
        return self.W_q(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def key(self, x: Tensor) -> Tensor:  # (B, n, D) → (B, H, n, d_k)
        self.seen += x.shape[1]  # how many places were computed, for the checks
        return self.W_k(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def value(self, x: Tensor) -> Tensor:  # (B, n, D) → (B, H, n, d_k)
        return self.W_v(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def mix(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
        scores = query @ key.mT / math.sqrt(query.size(-1))  # (B, H, n, m)
        scores = scores if mask is None else scores.masked_fill(~mask, -1e9)  # True = may be attended to
        return self.W_o((scores.softmax(-1) @ value).transpose(1, 2).flatten(2))  # (B, n, D)


class Layer(nn.Module):
    """The attention of one decoder layer, without a cache."""

    def __init__(self, seed: int, size: int = 24, d_model: int = 12, n_heads: int = 3, places: float = 1.0) -> None:
        super().__init__()
        self.own, self.cross = Heads(d_model, n_heads), Heads(d_model, n_heads)
        draw = torch.Generator().manual_seed(seed)
        for parameter in self.parameters():
            parameter.data = 0.5 * torch.randn(parameter.shape, generator=draw)
        self.words = torch.randn(size, d_model, generator=draw)
        self.places = places * torch.randn(64, d_model, generator=draw)

    def embed(self, tokens: Tensor, start: int = 0) -> Tensor:  # (B, n) → (B, n, D) at places start, start + 1, …
        return self.words[tokens] + self.places[start : start + tokens.size(1)]

    def forward(self, tokens: Tensor, memory: Tensor, src_mask: Tensor) -> Tensor:  # (B, t), (B, S, D), (B, 1, 1, S)
        x = self.embed(tokens)  # (B, t, D)
        causal = torch.ones(tokens.size(1), tokens.size(1), dtype=torch.bool).tril()  # (t, t)
        x = x + self.own.mix(self.own.query(x), self.own.key(x), self.own.value(x), causal)
        return x + self.cross.mix(self.cross.query(x), self.cross.key(memory), self.cross.value(memory), src_mask)


@beside_answer
def steps(function: Any, model: Model, src: Tensor) -> int:
    """How often a search asks the model."""
    function(model, src)
    return len(model.calls)


@beside_answer
def places(cached_class: Any, layer: Layer, memory: Tensor, tokens: Tensor) -> tuple[int, int]:
    """How many keys of the own attention and of the memory are computed for all tokens, one step each."""
    cached = cached_class(layer, memory, torch.ones(len(memory), 1, 1, memory.size(1), dtype=torch.bool))
    for token in tokens.T:
        cached.step(token)
    return layer.own.seen, layer.cross.seen
