"""A3: attention and multi-head attention. Each function makes a part's exercise from
the rules of the assignment; a hidden test passes cases of its own."""

from __future__ import annotations

import math
from contextlib import suppress
from functools import partial
from typing import Any

import torch
from torch import Tensor

from nmt_lib import MultiHeadAttention
from nmt_lib.model.attention import scaled_dot_product_attention

from ...cases import numbers
from ...chapter04 import check as chapter
from .kit import *
from .part import Part, gradient

LAYERS = ("W_q", "W_k", "W_v", "W_o")
# What chapter 04 says of an answer that returns no weights, and what they do not show.
OTHER = (
    "^return the|^each row has|^these are|^use them|^right for one|heads in front|√d_v"
    "|^without a mask|^with a mask"  # 04's attention calls a function
)


def qkv(seed: int, B: int, H: int, T: int, S: int, d_k: int, d_v: int = 0) -> Any:
    return numbers(seed, (B, H, T, d_k), (B, H, S, d_k), (B, H, S, d_v or d_k))


def alike(size: float, *mask: Tensor) -> Any:
    """Scores of 2 · size for all keys but the last one, which has half as much."""
    key = torch.tensor([1.0, 1, 1, 0.5])[:, None].expand(2, 2, 4, 4)
    return torch.full((2, 2, 3, 4), float(size)), key, key, *mask


# ------------------------------------------------------------------- part 1, attention


def attention(factor: float, cases: Any, view: Any, known: Any = None) -> Part:
    """The exercise of part 1, of which each check has its own view."""

    def right(query: Tensor, key: Tensor, value: Tensor, mask: Any = None) -> Any:
        return scaled_dot_product_attention(factor * query, key, value, mask)

    return Part(right, cases, known or {}, view)


def usual(factor: float) -> dict[str, Any]:
    """The mistakes of chapter 04, with the weights."""

    def of(mistake: Any, query: Tensor, key: Tensor, value: Tensor, *mask: Any) -> Any:
        each = torch.eye(key.size(-2), dtype=key.dtype).expand(*key.shape[:2], -1, -1)
        return [mistake(factor * query, key, v, *mask) for v in (value, each)]

    known: dict[str, Any] = {
        why: [partial(of, mistake) for mistake in several]
        for why, several in chapter.attention.mistakes.items()
        if not re.search(OTHER, why)
    }
    known["the inverse temperature is missing"] = scaled_dot_product_attention
    return known


def weights(factor: float, more: Any = None) -> Part:
    key = torch.tensor([1.0, 0, 0])[:, None].expand(1, 1, 3, 4)
    cases = more or {"dot products 4, 0 and 0": (torch.ones(1, 1, 5, 4), key, key)}
    return attention(factor, cases, lambda *args: run(*args)[1], usual(factor))


def mean(more: Any = None) -> Part:
    def off(answer: Any, *args: Tensor) -> Tensor:
        out, weights = run(answer, *args)
        return out - weights @ args[2]

    return attention(1, more or {"out − weights @ value": qkv(1, 1, 2, 3, 5, 4)}, off)


def mask(factor: float, more: Any = None) -> Part:
    def seen(answer: Any, *args: Tensor) -> Any:
        out, weights = run(answer, *args)
        exactly_0 = (weights == 0) | args[3]
        types = [str(x.dtype) for x in (out, weights)]
        return weights, exactly_0, types, more and out

    seen_keys, examples = torch.tensor([True, True, True, False])[None, None, None], {}
    half_as_much = torch.tensor([1, 1, 1, 0.5])[:, None].expand(1, 1, 4, 4)
    for size, kind in ((1, "float"), (50, "float"), (-2000, "float"), (1, "half")):
        three = torch.ones(1, 1, 2, 4), size * half_as_much, size * half_as_much
        args = [getattr(x, kind)() for x in three]
        examples[f"scores {2 * size}, a hidden {size}, {kind}"] = [*args, seen_keys]
    return attention(factor, more or examples, seen, usual(factor))


def nothing(more: Any = None) -> Part:
    def empty(answer: Any, *args: Tensor) -> Any:
        out, weights = run(answer, *args)
        with suppress(RuntimeError):  # whether there is one at all: below
            nan = any(slope.isnan().any() for slope in slopes(answer, args).values())
            expect(not nan, "out is right, but its gradient is nan: add no −inf")
        attends = args[3].any(-1, keepdim=True)
        hint = "a query that sees something gets weights, whatever the others see"
        expect(not more or (weights.any(-1, keepdim=True) == attends).all(), hint)
        return out * ~attends, weights * ~attends

    x = [torch.ones(1, 1, n, 4) for n in (2, 3, 3)]
    row = torch.tensor([[True, True, False], [False] * 3])[None, None]
    cases = more or {"a query that may attend to nothing": (*x, row)}
    return attention(1, cases, empty)


def attention_gradient(more: Any = None) -> Part:
    return attention(1, more or {"no mask": qkv(2, 1, 2, 2, 4, 3)}, gradient)


# ----------------------------------------------------------------------- part 2, heads


def cut(order: Any, x: Tensor, H: int) -> Tensor:
    blocks = x.unflatten(-1, (H, -1)).transpose(1, 2)  # (B, H, T, d)
    return blocks[:, [order(h, H) for h in range(H)]]


def joined(order: Any, heads: Tensor) -> Tensor:
    H = heads.size(1)
    place = sorted(range(H), key=lambda h: order(h, H))
    return heads[:, place].transpose(1, 2).flatten(2)  # (B, T, D)


def with_slope(answer: Any, *args: Any) -> Any:
    return ask(answer, *args), ask(slopes, answer, args)["0"]


# 21 is position 2, column 1; each of five heads has one column.
COLUMNS = (10 * torch.arange(3)[:, None] + torch.arange(5)).float()[None]


def split(order: Any, more: Any = None) -> Part:
    known: dict[str, Any] = {
        why: [
            lambda x, H, m=m: m(x, H)[:, [order(h, H) for h in range(H)]]
            for m in several
        ]
        for why, several in chapter.split_heads.mistakes.items()
    }
    known["here head h has block h; the rules say another one"] = (
        chapter.split_heads.right
    )
    cases = more or {"five heads of one column": (COLUMNS, 5)}
    return Part(partial(cut, order), cases, known, with_slope if more else ask)


def merge(order: Any, more: Any = None) -> Part:
    cases = more or {"five heads of one column": (cut(order, COLUMNS, 5),)}
    known = {
        "each head's numbers go back to its block": partial(joined, lambda h, H: h),
        "swap two axes, then join": lambda heads: heads.flatten(1).view(
            len(heads), heads.size(2), -1
        ),
    }
    return Part(partial(joined, order), cases, known, with_slope if more else ask)


# ----------------------------------------------------------------------- part 3, layer


def layer(
    view: Any, cases: Any, order: Any = None, factor: float = 1, biased: str = ""
) -> Part:
    order = order or (lambda h, H: h)

    class Right(MultiHeadAttention):
        def __init__(self, D: int, H: int, d_value: int) -> None:
            super().__init__(D, H, d_value)
            for name in LAYERS:
                if name not in biased:
                    getattr(self, name).bias = None

        def forward(self, x: Tensor, memory: Tensor, *mask: Any) -> Any:
            three = self.W_q(x), self.W_k(memory), self.W_v(memory)
            query, key, value = (cut(order, part, self.n_heads) for part in three)
            out, weights = scaled_dot_product_attention(
                factor * query, key, value, *mask
            )
            return self.W_o(joined(order, out)), weights

    class Swapped(Right):
        def forward(self, x: Tensor, memory: Tensor, *mask: Any) -> Any:
            self.W_q, self.W_k = self.W_k, self.W_q
            return super().forward(x, memory, *mask)

    return Part(
        Right, cases, {"W_q makes the keys, and W_k the queries": Swapped}, view
    )


def made(answer: Any, sizes: Any, kind: str = "") -> Any:
    """A layer with the weights that these sizes get: biases only if ``biased``; where
    roles do not matter, queries and keys have the same matrix, ``one`` of ones."""
    own, (D, H, d_value) = ask(answer, *sizes), sizes
    state = state_of(own)
    lost = [name for name in LAYERS if f"{name}.weight" not in state]
    expect(not lost, f"the layer has no nn.Linear named {', '.join(lost)}")
    shapes = (D, D), (D, D), (H * d_value, D), (D, H * d_value)
    for i, (name, shape) in enumerate(zip(LAYERS, shapes, strict=True)):
        fresh = 0.5 * random_numbers(*shape, seed=i * (i > 1 or kind != "twins"))
        state[f"{name}.weight"] = torch.eye(D) if kind == "one" and i < 2 else fresh
        if f"{name}.bias" in state:
            bias = 0.5 * random_numbers(shape[0], seed=10 + i)
            state[f"{name}.bias"] = bias if kind == "biased" else 0 * bias
    own.load_state_dict(state)
    return own


def direction(scores: Tensor) -> Tensor:
    """What is left of the scores of each head if their unit does not count."""
    each = (scores - scores.mean(-1, keepdim=True)).transpose(0, 1).flatten(1)
    return each / each.norm(dim=1, keepdim=True).clamp(min=1e-9)


def projections(biased: str, more: Any = None) -> Part:
    def value(answer: Any, D: int, x: Tensor) -> Any:
        own = made(answer, (D, 1, D), "biased")
        have = [name for name in LAYERS if f"{name}.bias" in state_of(own)]
        return have, run(own, x, x)[0]

    return layer(value, more or {"one key": (6, *numbers(1, (1, 1, 6)))}, biased=biased)


def roles(more: Any = None) -> Part:
    def scores(answer: Any, D: int, x: Tensor, memory: Tensor) -> Any:
        own = made(answer, (D, 1, D))
        weights = run(own, x, memory)[1]
        at_x, moved = (run(own, y, memory[:, :1])[0] for y in (x, x + 1))
        return direction(weights.clamp(min=1e-30).log()), at_x - moved

    cases = more or {
        "two positions of x, three of memory": (6, *numbers(1, (1, 2, 6), (1, 3, 6)))
    }
    return layer(scores, cases)


def several(order: Any, more: Any = None) -> Part:
    """Heads have blocks of their own; a layer remembers nothing."""

    def heads(answer: Any, sizes: Any, x: Tensor, memory: Tensor) -> Any:
        own = made(answer, sizes, "twins")
        out, weights = run(own, x, memory)
        if not more:
            return weights.shape, out.shape
        for each in (own, ask(answer, *sizes)):
            run(each, x, memory.flip(1) + 1)
        expect(run(own, x, memory)[0].equal(out), "the layer remembers something")
        state = state_of(own)
        value = cut(order, linear(memory, state, "W_v"), sizes[1])
        right = linear(joined(order, weights @ value), state, "W_o")
        return direction(weights.clamp(min=1e-30).log()), out - right

    sizes = (6, 2, 5)
    return layer(
        heads,
        more or {"2 heads, d_value = 5": (sizes, *numbers(1, (1, 2, 6), (1, 4, 6)))},
        order,
    )


def layer_weights(order: Any, factor: float, more: Any = None) -> Part:
    def seen(answer: Any, sizes: Any, x: Any, memory: Any, mask: Any = None) -> Any:
        return run(made(answer, sizes, "one"), x, memory, mask)[1]

    memory = torch.tensor([1.0, 0])[:, None].expand(1, 2, 8)
    cases = more or {
        "dot products 4 and 0, d_k = 4": ((8, 2, 4), torch.ones(1, 2, 8), memory)
    }
    return layer(seen, cases, order, factor)


def layer_gradient(more: Any = None) -> Part:
    def slope(answer: Any, sizes: Any, x: Any, memory: Any, mask: Any = None) -> bool:
        return gradient(made(answer, sizes, "biased"), x, memory, mask, but="W_k.bias")

    return layer(
        slope, more or {"no mask": ((6, 2, 3), *numbers(1, (1, 2, 6), (1, 4, 6)))}
    )


# --------------------------------------------------------------------- part 4, entropy


def entropies(answer: Any, n_keys: int) -> None:
    expect(answer is not None, "entropies is not written yet: set it, and run its cell")
    got, most = [number(x, "each entropy") for x in answer], math.log(n_keys)
    hint = f"three numbers that rise, from 0 to log {n_keys} at most (0 · log 0 is 0)"
    rises = len(got) == 3 and 0 <= got[0] <= got[1] <= got[2] <= most + 0.001
    expect(rises, f"expected {hint}, got {got}")
    hint = "divided by d_k, all scores are near 0 and the weights nearly equal"
    expect(got[2] > most - 0.03, f"the last is {got[2]:.4g}, not {most:.4g}: {hint}")
    done("the entropies")


def run(function: Any, *args: Any) -> tuple[Tensor, Tensor]:
    """The mean and the weights; float64 is accepted for float32."""
    out, weights = two_tensors(ask(function, *args), "out and weights")
    return single(out), single(weights)
