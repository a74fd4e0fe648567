"""A6: models and a decoder layer to search with."""

from __future__ import annotations

import math
from functools import reduce
from typing import Any

import torch
from torch import Tensor, nn

from nmt_lib import EOS, PAD, SOS

from ..check.kit import beside_answer, kind


class Model:
    """Random numbers in place of a trained Transformer: ``model(src, prefix)`` gives
    the scores of each next token.

    Whatever stands in the source (``<pad>`` apart) and in the prefix up to a position
    changes the scores of that position.
    """

    __name__ = "model"  # for hints

    def __init__(
        self,
        seed: int,
        size: int = 24,
        favour: dict[int, float] | None = None,
        longest: int = 1000,
    ) -> None:
        draw = torch.Generator().manual_seed(seed)
        self.size, self.longest, self.calls = size, longest, list[tuple[int, int]]()
        self.words, self.turn = (
            torch.randn(size, 16, generator=draw),
            0.3 * torch.randn(16, 16, generator=draw),
        )
        self.out = torch.randn(16, size, generator=draw)
        self.favour = torch.tensor(
            [(favour or {}).get(token, 0.0) for token in range(size)]
        )

    def __call__(self, src: Tensor, prefix: Tensor) -> Tensor:
        """``(B, S)`` and ``(B, t)`` ids to ``(B, t, V)`` scores (logits: the softmax is
        not taken yet)."""
        for name, ids in (("src", src), ("the prefix", prefix)):
            if not isinstance(ids, Tensor) or ids.dim() != 2 or ids.is_floating_point():
                raise ValueError(
                    f"{name} has to be a tensor of whole numbers, (rows, ids); "
                    f"here it is {kind(ids)}"
                )
        if len(src) != len(prefix) or not prefix.numel() or (prefix[:, 0] != SOS).any():
            raise ValueError(
                f"{len(src)} rows of src and {len(prefix)} prefixes: as many, "
                "and each begins with <sos>"
            )
        if prefix.size(1) > 120:
            raise RuntimeError(
                "the prefix has more than 120 ids: when does the search stop?"
            )
        self.calls.append((len(prefix), prefix.size(1)))
        return self.scores(src, prefix)

    def scores(self, src: Tensor, prefix: Tensor) -> Tensor:
        """``(B, t, V)``."""
        state = (self.words[src] * (src != PAD).unsqueeze(-1)).sum(1).tanh()  # (B, 16)
        positions: list[Tensor] = []
        for token in prefix.T:  # (B,)
            state = (state @ self.turn + self.words[token]).tanh()
            scores = state @ self.out + self.favour  # (B, V)
            scores[:, EOS] += 100.0 * (len(positions) >= self.longest)
            positions.append(scores)
        return torch.stack(positions, dim=1)


class Toy(Model):
    """Probabilities made by hand. ``table[6, 9, 8]`` are those of the next token, by
    id, where 6 is the first word of the source, and 9 and 8 are written already. Where
    the table says nothing, the next token is 4: it talks on."""

    def __init__(self, table: dict[Any, dict[int, float]], size: int = 24) -> None:
        super().__init__(0, size)
        self.table = table

    def scores(self, src: Tensor, prefix: Tensor) -> Tensor:
        logits = torch.full((*prefix.shape, self.size), -30.0)
        for row, (source, read) in enumerate(
            zip(src.tolist(), prefix.tolist(), strict=True)
        ):
            for t in range(len(read)):
                for token, p in self.table.get(
                    (source[1], *read[1 : t + 1]), {4: 1.0}
                ).items():
                    logits[row, t, token] = math.log(p)
        return logits + 2.0  # scores, no log-probabilities


class Heads(nn.Module):
    """Attention in small steps."""

    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        self.n_heads, self.seen = n_heads, 0
        self.W_q, self.W_k, self.W_v, self.W_o = (
            nn.Linear(d_model, d_model) for _ in range(4)
        )

    def query(self, x: Tensor) -> Tensor:  # (B, n, D) → (B, H, n, d_k)
        return self.W_q(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def key(self, x: Tensor) -> Tensor:  # (B, n, D) → (B, H, n, d_k)
        self.seen += x.shape[1]  # how many positions were computed, for the checks
        return self.W_k(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def value(self, x: Tensor) -> Tensor:  # (B, n, D) → (B, H, n, d_k)
        return self.W_v(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def mix(
        self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
    ) -> Tensor:
        scores = query @ key.mT / math.sqrt(query.size(-1))  # (B, H, n, m)
        scores = (
            scores if mask is None else scores.masked_fill(~mask, -1e9)
        )  # True = may be attended to
        return self.W_o(
            (scores.softmax(-1) @ value).transpose(1, 2).flatten(2)
        )  # (B, n, D)


class Layer(nn.Module):
    """The attention of one decoder layer, without a cache."""

    def __init__(
        self,
        seed: int,
        size: int = 24,
        d_model: int = 12,
        n_heads: int = 3,
        positions: float = 1.0,
    ) -> None:
        super().__init__()
        self.own, self.cross = Heads(d_model, n_heads), Heads(d_model, n_heads)
        draw = torch.Generator().manual_seed(seed)
        for parameter in self.parameters():
            parameter.data = 0.5 * torch.randn(parameter.shape, generator=draw)
        self.words = torch.randn(size, d_model, generator=draw)
        self.positions = positions * torch.randn(200, d_model, generator=draw)

    def embed(
        self, tokens: Tensor, start: int = 0
    ) -> Tensor:  # (B, n) → (B, n, D) at positions start, start + 1, …
        return self.words[tokens] + self.positions[start : start + tokens.size(1)]

    def forward(
        self, tokens: Tensor, memory: Tensor, src_mask: Tensor
    ) -> Tensor:  # (B, t), (B, S, D), (B, 1, 1, S)
        x = self.embed(tokens)  # (B, t, D)
        causal = torch.ones(
            tokens.size(1), tokens.size(1), dtype=torch.bool
        ).tril()  # (t, t)
        x = x + self.own.mix(
            self.own.query(x), self.own.key(x), self.own.value(x), causal
        )
        return x + self.cross.mix(
            self.cross.query(x),
            self.cross.key(memory),
            self.cross.value(memory),
            src_mask,
        )


class Asked(BaseException):
    """What an answer wants to know next."""


class Stub:
    """Stands where a model or a layer stands, and computes nothing: it gives the
    replies, in order, and then asks."""

    __name__ = "model"  # for hints

    def __init__(self, replies: Any, path: str = "", n_heads: int = 0) -> None:
        self._replies, self._path, self.n_heads = (
            iter(replies) if isinstance(replies, list) else replies,
            path,
            n_heads,
        )

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        part = Stub(self._replies, f"{self._path} {name}".strip(), self.n_heads)
        return part() if name in ("words", "positions") else part

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        for reply in self._replies:
            return reply.clone()
        raise Asked(
            self._path,
            list(map(_compact, args)),
            {name: _compact(arg) for name, arg in kwargs.items()},
        )


def _compact(thing: Any) -> Any:
    return (
        thing.clone(memory_format=torch.contiguous_format)
        if isinstance(thing, Tensor)
        else thing
    )


@beside_answer
def replay(answer: Any, replies: list[Tensor], n_heads: int, *args: Any) -> list[Any]:
    """Runs an answer from the start with a stub: what it asks after all replies, or
    what comes back at the end."""
    stub = Stub(replies, "", n_heads)
    try:
        if not n_heads:
            return ["done", answer(stub, *args)]
        *given, tokens = args
        cached = answer(stub, *given)
        return ["done", [cached.step(token) for token in tokens.T.contiguous()][-1]]
    except Asked as asked:
        return ["asked", *asked.args]


def talk(
    answer: Any, model: Any, n_heads: int, *args: Any
) -> tuple[list[tuple[str, tuple[Any, ...]]], Any]:
    """All that an answer asks a model or layer, which stays on our side, and what comes
    back.

    So nothing that is done to the checks in the answer's process can change what is
    counted.
    """
    replies: list[Tensor] = []
    asked: list[tuple[str, tuple[Any, ...]]] = []
    while len(asked) < 1000:
        what, *rest = replay(answer, replies, n_heads, *args)
        if what != "asked":
            return asked, rest[0]
        path, given, named = rest
        asked.append((path, (*given, *named.values())))
        part = reduce(getattr, path.split(), model)
        replies.append((part(*given, **named) if callable(part) else part).detach())
    raise RuntimeError("the model is asked a thousand times: when does this end?")


def steps(function: Any, model: Model, src: Tensor) -> tuple[int, list[list[int]]]:
    """How often a search asks the model, and what it finds."""
    asked, found = talk(function, model, 0, src)
    return len(asked), [[int(i) for i in row] for row in found]


Work = dict[
    tuple[str, str], int
]  # how many keys or values, of the own attention or of the memory


def positions(
    cached_class: Any, layer: Layer, memory: Tensor, tokens: Tensor
) -> tuple[Work, Tensor]:
    """What is computed for all tokens, one step each, and what the last step gives."""
    seen = torch.ones(len(memory), 1, 1, memory.size(1), dtype=torch.bool)
    asked, found = talk(cached_class, layer, layer.own.n_heads, memory, seen, tokens)
    done = {(side, part): 0 for side in ("own", "cross") for part in ("key", "value")}
    for path, args in asked:
        for side, part in done:
            if path in (
                "",
                f"{side} {part}",
                f"{side} W_{part[0]}",
            ):  # the whole layer computes all of them
                done[side, part] += args[side == "cross" and not path].size(1)
    return done, found
