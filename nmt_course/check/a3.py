"""A3: attention and multi-head attention. Examples that need more than ``gives``."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from . import kit
from .kit import (
    CUT,
    ask,
    beside_answer,
    done,
    expect,
    linear,
    match,
    near,
    number,
    random_numbers,
    state_of,
    tensor,
)
from .kit import gives as gives
from .kit import item as item
from .kit import slopes as slopes
from .kit import spares as spares

LAYERS = ("W_q", "W_k", "W_v", "W_o")


def weights(function: Any, factor: float) -> None:
    query, key = torch.ones(1, 3, 3, 4), torch.tensor([1.0, 0]).view(1, 1, 2, 1)
    key = key.expand(1, 3, 2, 4)
    _scaled(run(function, query, key, key)[1], (1, 3, 3, 2), factor)
    done("the weights")


def mean(function: Any) -> None:
    query, key = random_numbers(1, 2, 3, 4), random_numbers(1, 2, 5, 4)
    out, got = run(function, query, key, torch.eye(5).expand(1, 2, 5, 5))
    tensor(out, "out", (1, 2, 3, 5), "(B, H, T, d_v)")
    tensor(got, "the table of weights", (1, 2, 3, 5), "(B, H, T, S)")
    hint = "value s is 1 at position s and 0 elsewhere, so out shows the weights"
    match(out[0, 0, 0], got[0, 0, 0], "head 0, query 0: out is", hint=hint)
    expect(near(out, got), "out is not the mean in all heads, for all queries")
    done("the mean")


def gradient(function: Any) -> None:
    inputs = [random_numbers(1, 2, n, 3) for n in (2, 4, 4)]
    for i, slope in enumerate(ask(gradients, function, inputs, None)):
        name = ("query", "key", "value")[i]
        expect(slope.abs().max() > 0, f"no gradient reaches the {name}: {CUT}")
    done("the gradient")


def projections(layer_class: Any, biased: str) -> None:
    layer = ask(layer_class, 6, 1, 6)
    state, x = fill(layer), random_numbers(1, 1, 6)
    have = [name for name in LAYERS if f"{name}.bias" in state]
    match(have, [name for name in LAYERS if name in biased], "these have a bias:")
    value = linear(x, state, "W_v")
    what, unused = "with a single key, out is", (value[0, 0], "W_o is not used")
    match(run(layer, x, x)[0][0, 0], linear(value, state, "W_o")[0, 0], what, unused)
    done("the projections")


def roles(layer_class: Any) -> None:
    layer = ask(layer_class, 6, 1, 6)
    state, x, memory = fill(layer), random_numbers(1, 2, 6), random_numbers(1, 3, 6)
    what = "two positions of x ask three of memory: the table"
    got = tensor(run(layer, x, memory)[1], what, (1, 1, 2, 3))[0]
    right, swapped = (
        linear(x, state, a) @ linear(memory, state, b).mT
        for a, b in (("W_q", "W_k"), ("W_k", "W_q"))
    )
    expect(not fits(got, swapped), "W_k makes the queries, and W_q the keys: swap them")
    expect(fits(got, right), "the scores are not those of W_q x with W_k memory")
    done("who asks, who answers")


def heads(layer_class: Any) -> None:
    layer, x, memory = _layer(layer_class, 6, 2, 5)
    state = fill(layer)
    for name, shape in (("W_v", (10, 6)), ("W_o", (6, 10))):
        tensor(state[f"{name}.weight"], f"2 heads, d_value = 5: {name}.weight", shape)
    out, got = run(layer, x, memory)
    tensor(got, "the table of weights", (1, 2, 2, 4), "(B, H, T, S)")
    tensor(out, "out", (1, 2, 6), "(B, T, D)")
    memory[0, 3] += 1.0  # how the other keys compare must not change
    one, two = (w[..., :2].log().diff() for w in (got, run(layer, x, memory)[1]))
    hint = "another word at position 3 changes how keys 0 and 1 compare: cut the width"
    expect(near(one, two), hint)
    done("several heads")


def all_weights(layer_class: Any, factor: float) -> None:
    layer = ask(layer_class, 8, 2, 4)
    plain = {n: torch.eye(8) if "weight" in n else torch.zeros(8) for n in fill(layer)}
    layer.load_state_dict({**state_of(layer), **plain})  # all four hand on
    x, memory = torch.ones(1, 3, 8), torch.zeros(1, 2, 8)
    memory[:, 0] = 1
    _scaled(run(layer, x, memory)[1], (1, 2, 3, 2), factor)
    got = run(layer, x, memory, torch.tensor([True, False]).view(1, 1, 1, 2))[1][..., 1]
    expect((got == 0).all(), "the mask hides the last key, which gets a weight")
    done("the weights of the layer")


def layer_gradient(layer_class: Any) -> None:
    """All that changes ``out`` learns. (A bias of W_k adds the same to all scores.)"""
    layer, x, memory = _layer(layer_class, 6, 2, 3)
    fill(layer)
    for name, slope in ask(layer_gradients, layer, x, memory).items():
        reached = name == "W_k.bias" or slope.abs().max() > 0
        expect(reached, f"no gradient reaches {name}: {CUT}")
    done("the gradient of the layer")


def entropies(answer: Any, n_keys: int) -> None:
    expect(answer is not None, "entropies is not written yet: set it, and run its cell")
    three = hasattr(answer, "__len__") and len(answer) == 3
    expect(three, "entropies is a list of three numbers, for 1, √d_k and d_k")
    got = [number(value, "each of the entropies") for value in answer]
    expect(not any(map(math.isnan, got)), "nan: 0 · log 0 adds 0")
    most = f"from 0 to log {n_keys} = {math.log(n_keys):.4g}, and rising"
    rises = 0 <= got[0] <= got[1] <= got[2] <= math.log(n_keys) + 0.001
    expect(rises, f"{kit.show(torch.tensor(got))}: they go {most} with the divisor")
    done("the entropies")


def _layer(layer_class: Any, *sizes: int) -> tuple[Any, Tensor, Tensor]:
    return ask(layer_class, *sizes), random_numbers(1, 2, 6), random_numbers(1, 4, 6)


def _scaled(got: Tensor, shape: tuple[int, ...], factor: float) -> None:
    """Key 0 has the dot product 4, the other one 0; d_k is 4."""
    tensor(got, "the table of weights", shape, "(B, H, T, S)")
    expect(near(got.sum(-1), 1.0), "a query's weights do not sum to 1: which axis?")
    known = [
        (4 * factor, "the dot products are not divided"),
        (factor, "divided by d_k, not by its root"),
        (2.0, "the inverse temperature of the rules is missing"),
    ]
    got = (got[..., 0] / got[..., 1]).log()
    one = got.flatten()[0]
    what = "d_k = 4, dot products 4 and 0: the scores differ by"
    match(one.item(), 2 * factor, what, *known)
    expect(near(got, one.item()), "the heads or queries differ, though all are alike")


# ---------------------------------------------------- what public and hidden tests
# share


def run(function: Any, *args: Any) -> tuple[Tensor, Tensor]:
    """The mean and the weights; float64 is as good as float32."""
    out, weights = kit.two_tensors(ask(function, *args), "out and weights")
    return kit.single(out), kit.single(weights)


def fill(layer: Any, seed: int = 0, twins: bool = False) -> dict[str, Tensor]:
    """Gives the four projections random numbers, and returns these by name
    (``"W_q.weight"``). With ``twins``, W_q and W_k get the same weight, and no bias:
    then it does not matter which is which."""
    lost = [name for name in LAYERS if f"{name}.weight" not in state_of(layer)]
    expect(not lost, f"the layer has no nn.Linear named {', '.join(lost)}")
    state = kit.fill(layer, seed, LAYERS)
    if twins:
        state["W_k.weight"] = state["W_q.weight"].clone()
        zero = {"W_q.bias", "W_k.bias"} & set(state)
        state |= {name: torch.zeros_like(state[name]) for name in zero}
        layer.load_state_dict({**state_of(layer), **state})
    return state


def moved_out(layer: Any, start: dict[str, Tensor], mask: Any = None) -> Tensor:
    """What comes out for ``start["x"]`` and ``start["memory"]``, with the other tensors
    as parameters."""
    own = {name: start[name] for name in start if "." in name}
    layer.load_state_dict({**state_of(layer), **own})
    return run(layer, start["x"], start["memory"], mask)[0]


def fits(weights: Tensor, scores: Tensor) -> bool:
    """Are these the weights of these scores, if one factor for all may differ?"""
    theirs = weights.clamp(min=1e-30).log()
    one, two = ((x - x.mean(-1, keepdim=True)).flatten() for x in (scores, theirs))
    return bool(torch.cosine_similarity(one, two, dim=0) > 0.999)


@beside_answer
def gradients(
    function: Any, inputs: list[Tensor], mask: Any, toward: Any = None
) -> list[Tensor]:
    """How ``(out * toward).sum()`` changes with query, key and value; zeros where no
    gradient comes back."""
    leaves = {str(i): x.clone().requires_grad_() for i, x in enumerate(inputs)}
    out = function(*leaves.values(), mask)[0]
    return list(kit.slopes_of(out, leaves, toward).values())


@beside_answer
def layer_gradients(
    layer: Any, x: Tensor, memory: Tensor, toward: Any = None, mask: Any = None
) -> dict[str, Tensor]:
    """The same for ``x``, ``memory`` and the parameters of a layer, by name."""
    leaves = {
        "x": x.clone().requires_grad_(),
        "memory": memory.clone().requires_grad_(),
    }
    out = layer(leaves["x"], leaves["memory"], mask)[0]
    for name, parameter in layer.named_parameters(remove_duplicate=False):
        if name.split(".")[0] in LAYERS:
            leaves[name] = parameter
    return kit.slopes_of(out, leaves, toward)
