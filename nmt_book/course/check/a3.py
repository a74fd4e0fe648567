"""A3: attention and multi-head attention. Examples that need more than ``gives``."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from .kit import *

LAYERS = ("W_q", "W_k", "W_v", "W_o")


def two_keys(function: Any, args: list[Tensor], n_heads: int, factor: float) -> None:
    """The weights where each of two queries has the dot products 4 and 0 with two keys;
    d_k is 4."""

    def of(gap: float) -> Tensor:
        return torch.tensor([gap, 0.0]).softmax(0).expand(1, n_heads, 2, 2)

    known = [
        (of(4 * factor), "the dot products are not divided"),
        (of(factor), "divided by d_k, not by its root"),
        (of(2.0), "the inverse temperature of the rules is missing"),
    ]
    hint = "the dot products are 4 and 0, and d_k is 4"
    gives(item(function, 1), args, of(2 * factor), hint, *known)


def projections(layer_class: Any, biased: str) -> None:
    layer, x = ask(layer_class, 6, 1, 6), random_numbers(1, 1, 6)
    state = redraw(layer)
    have = [name for name in LAYERS if f"{name}.bias" in state]
    match(have, [name for name in LAYERS if name in biased], "these have a bias:")
    right, hint = linear(x, state, "W_v"), "one key has the weight 1: W_v, then W_o"
    gives(item(layer, 0), [x, x], linear(right, state, "W_o"), hint)


def roles(layer_class: Any) -> None:
    layer = ask(layer_class, 6, 1, 6)
    state, x, memory = redraw(layer), random_numbers(1, 2, 6), random_numbers(1, 3, 6)
    what = "x has two positions, memory three: the table of weights"
    got = tensor(run(layer, x, memory)[1], what, (1, 1, 2, 3))[0]
    right, swapped = (
        linear(x, state, a) @ linear(memory, state, b).mT
        for a, b in (("W_q", "W_k"), ("W_k", "W_q"))
    )
    expect(not fits(got, swapped), "W_q makes the keys, and W_k the queries: swap them")
    expect(fits(got, right), "the scores are not those of W_q x with W_k memory")
    done("queries and keys")


def heads(layer_class: Any) -> None:
    layer = ask(layer_class, 6, 2, 5)
    x, memory = random_numbers(1, 2, 6), random_numbers(1, 4, 6)
    state = redraw(layer)
    for name, shape in (("W_v", (10, 6)), ("W_o", (6, 10))):
        tensor(state[f"{name}.weight"], f"2 heads, d_value = 5: {name}.weight", shape)
    out, weights = run(layer, x, memory)
    tensor(weights, "the table of weights", (1, 2, 2, 4), "(B, H, T, S)")
    tensor(out, "out", (1, 2, 6), "(B, T, D)")
    done("several heads")


def all_weights(layer_class: Any, factor: float) -> None:
    layer = ask(layer_class, 8, 2, 4)
    plain = {
        n: torch.eye(8) if "weight" in n else torch.zeros(8) for n in redraw(layer)
    }
    layer.load_state_dict({**state_of(layer), **plain})  # all are identities
    memory = torch.tensor([1.0, 0])[:, None].expand(1, 2, 8)
    two_keys(layer, [torch.ones(1, 2, 8), memory], 2, factor)


def layer_gradient(layer_class: Any) -> None:
    """All that changes ``out`` learns. (A bias of W_k adds the same to all scores.)"""
    layer, inputs = ask(layer_class, 6, 2, 3), [random_numbers(1, n, 6) for n in (2, 4)]
    redraw(layer)
    learns(layer, inputs, "x memory", but="W_k.bias")


def entropies(answer: Any, n_keys: int) -> None:
    expect(answer is not None, "entropies is not written yet: set it, and run its cell")
    got, most = [number(x, "each entropy") for x in answer], math.log(n_keys)
    hint = f"three numbers that rise, from 0 to log {n_keys} at most (0 · log 0 is 0)"
    rises = len(got) == 3 and 0 <= got[0] <= got[1] <= got[2] <= most + 0.001
    expect(rises, f"expected {hint}, got {got}")
    hint = "divided by d_k, all scores are near 0 and the weights nearly equal"
    expect(got[2] > most - 0.03, f"the last is {got[2]:.4g}, not {most:.4g}: {hint}")
    done("the entropies")


# ---------------------------------------------------- what hidden tests need, too


def run(function: Any, *args: Any) -> tuple[Tensor, Tensor]:
    """The mean and the weights; float64 is accepted for float32."""
    out, weights = two_tensors(ask(function, *args), "out and weights")
    return single(out), single(weights)


def redraw(layer: Any, seed: int = 0, twins: bool = False) -> dict[str, Tensor]:
    """Sets the four projections to random numbers, and returns them by name
    (``"W_q.weight"``). With ``twins``, W_q and W_k get the same weight and a bias of 0,
    so that it does not matter which is which."""
    lost = [name for name in LAYERS if f"{name}.weight" not in state_of(layer)]
    expect(not lost, f"the layer has no nn.Linear named {', '.join(lost)}")
    state = fill(layer, seed, LAYERS)
    if twins:
        state["W_k.weight"] = state["W_q.weight"].clone()
        zero = {"W_q.bias", "W_k.bias"} & set(state)
        state |= {name: torch.zeros_like(state[name]) for name in zero}
        layer.load_state_dict({**state_of(layer), **state})
    return state


def fits(weights: Tensor, scores: Tensor) -> bool:
    """Whether these weights are those of the scores, up to a factor of the scores."""
    theirs = weights.clamp(min=1e-30).log()
    one, two = ((x - x.mean(-1, keepdim=True)).flatten() for x in (scores, theirs))
    return bool(torch.cosine_similarity(one, two, dim=0) > 0.999)
