"""A3: attention and multi-head attention. One public check for each graded part."""

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
    random_numbers,
    show,
    state_of,
    tensor,
)
from .kit import slopes as slopes
from .kit import spares as spares

LAYERS = ("W_q", "W_k", "W_v", "W_o")
FORBIDDEN = [
    "_scaled_dot_product_flash_attention_for_cpu",
    "_scaled_dot_product_attention_math",
    "_native_multi_head_attention",
    "_transformer_encoder_layer_fwd",
]


def weights(function: Any, firmness: float) -> None:
    query, key = (
        torch.ones(1, 3, 3, 4),
        _first_of(2).view(1, 1, 2, 1).expand(1, 3, 2, 4),
    )
    _scaled(
        run(function, query, key, torch.ones(1, 3, 2, 5))[1], (1, 3, 3, 2), firmness
    )
    done("the weights")


def mean(function: Any) -> None:
    query, key = random_numbers(1, 2, 3, 4), random_numbers(1, 2, 5, 4)
    out, got = run(
        function, query, key, torch.eye(5).expand(1, 2, 5, 5)
    )  # value s is 1 at place s, so out tells
    tensor(out, "out", (1, 2, 3, 5), "(B, H, T, d_v)")
    tensor(got, "the table of weights", (1, 2, 3, 5), "(B, H, T, S)")
    expect(
        near(out, got),
        (
            f"query 0 weighs the keys {show(got[0, 0, 0])}, but takes the values "
            f"{show(out[0, 0, 0])}"
        ),
    )
    done("the mean")


def mask(function: Any) -> None:
    row = run(
        function, *_ones(3, 4), torch.tensor([True, True, True, False]).view(1, 1, 1, 4)
    )[1][0, 0, 0]
    shown = f"four keys that fit alike, the last one hidden, get {show(row)}"
    expect(
        row[3] < 0.99,
        f"{shown}: the mask is used the wrong way round; True = may be attended to",
    )
    expect(
        row[3] == 0,
        f"{shown}: a hidden key gets exactly 0 (its score is not 0: exp(0) = 1)",
    )
    expect(
        near(row[:3], 1 / 3),
        f"{shown}: hide a key before the softmax; the three others get a third each",
    )
    done("the mask")


def nothing(function: Any) -> None:
    seen = torch.tensor([[True, True, False], [False, False, False]]).view(1, 1, 2, 3)
    out, got = run(function, *_ones(2, 3), seen)
    for found in (got[0, 0, 1], out[0, 0, 1]):
        hint = "0 / 0 is nan" if found.isnan().any() else "zeros are wanted"
        expect(
            (found == 0).all(),
            f"a query that may attend to nothing gets {show(found)}: {hint}",
        )
    done("a query that sees nothing")


def gradient(function: Any) -> None:
    found = ask(
        gradients, function, [random_numbers(1, 2, n, 3) for n in (2, 4, 4)], None
    )
    for name, slope in zip(("query", "key", "value"), found, strict=True):
        expect(slope.abs().max() > 0, f"no gradient reaches the {name}: {CUT}")
    done("the gradient")


def split(function: Any) -> None:
    x = (
        10 * torch.arange(3).view(1, 3, 1) + torch.arange(4)
    ).float()  # 21 is place 2, column 1
    got = tensor(
        ask(function, x, 2), "what split_heads gives", (1, 2, 3, 2), "(B, H, T, D / H)"
    )
    for head, right in ((0, [10, 11]), (1, [12, 13])):
        shown = (
            f"head {head}, place 1 holds {show(got[0, head, 1])}, not {right} (21 "
            "is place 2, column 1)"
        )
        expect(
            got[0, head, 1].tolist() == right,
            f"{shown}: cut the width first, then swap two axes",
        )
    done("cutting into heads")


def merge(function: Any) -> None:
    heads = (
        100 * torch.arange(2).view(1, 2, 1, 1)
        + 10 * torch.arange(3).view(3, 1)
        + torch.arange(2)
    )
    got = tensor(
        ask(function, heads.float()),
        "what merge_heads gives",
        (1, 3, 4),
        "(B, T, H · d)",
    )
    shown = (
        f"place 1 gets {show(got[0, 1])}, not [10, 11, 110, 111] (121 is head 1, "
        "place 2, column 1)"
    )
    expect(
        got[0, 1].tolist() == [10, 11, 110, 111],
        f"{shown}: swap two axes first, then join",
    )
    done("joining the heads")


def projections(layer_class: Any, biased: str) -> None:
    layer = ask(layer_class, 6, 1, 6)
    state, x = fill(layer), random_numbers(1, 1, 6)
    for name in LAYERS:
        has, wanted = f"{name}.bias" in state, name in biased
        expect(
            has == wanted,
            (
                f"{name} has {'a' if has else 'no'} bias; the rules say: {biased} "
                "have one, others none"
            ),
        )
    value = linear(x, state, "W_v")
    shown, otherwise = "with a single key the weight is 1", "so out is W_o of its W_v"
    match(
        run(layer, x, x)[0],
        linear(value, state, "W_o"),
        shown,
        [(value, "W_o is not used")],
        otherwise,
    )
    done("the projections")


def roles(layer_class: Any) -> None:
    layer = ask(layer_class, 6, 1, 6)
    state, x, memory = fill(layer), random_numbers(1, 2, 6), random_numbers(1, 3, 6)
    got = tensor(
        run(layer, x, memory)[1],
        "two places of x ask three of memory: the table",
        (1, 1, 2, 3),
    )[0]
    right, swapped = (
        linear(x, state, a) @ linear(memory, state, b).mT
        for a, b in (LAYERS[:2], LAYERS[1::-1])
    )
    mistakes = [(swapped, "W_k makes the queries here, and W_q the keys: swap them")]
    match(
        got,
        right,
        "the weights are not those of W_q x with W_k memory",
        mistakes,
        "who asks, who answers?",
        fits,
    )
    done("who asks, who answers")


def heads(layer_class: Any) -> None:
    layer, x, memory = (
        ask(layer_class, 6, 2, 5),
        random_numbers(1, 2, 6),
        random_numbers(1, 4, 6),
    )
    state = fill(layer)
    for name, shape in (("W_v", (10, 6)), ("W_o", (6, 10))):
        tensor(
            state[f"{name}.weight"],
            f"D = 6, two heads, d_value = 5: {name}.weight",
            shape,
        )
    out, got = run(layer, x, memory)
    tensor(got, "the table of weights", (1, 2, 2, 4), "(B, H, T, S)")
    tensor(out, "out", (1, 2, 6), "(B, T, D)")
    memory[0, 3] += (
        1.0  # another word at the last place: how the first two compare must not change
    )
    new = run(layer, x, memory)[1]
    same = near((new[..., 0] / new[..., 1]).log(), (got[..., 0] / got[..., 1]).log())
    expect(
        same,
        (
            "another word at place 3 changes how keys 0 and 1 compare: is a head "
            "made of several places?"
        ),
    )
    done("several heads")


def all_weights(layer_class: Any, firmness: float) -> None:
    layer = ask(layer_class, 8, 2, 4)
    state = {
        n: torch.eye(8) if n[-6:] == "weight" else torch.zeros(8) for n in fill(layer)
    }  # all four hand on
    layer.load_state_dict({**state_of(layer), **state})
    x, memory = torch.ones(1, 3, 8), _first_of(3).view(1, 3, 1).expand(1, 3, 8)
    _scaled(run(layer, x, memory)[1], (1, 2, 3, 3), firmness)
    got = run(layer, x, memory, torch.tensor([True, True, False]).view(1, 1, 1, 3))[1][
        ..., 2
    ]
    expect(
        (got == 0).all(),
        (
            f"the mask hides the last key, which gets {show(got[0, :, 0])} in the "
            "two heads"
        ),
    )
    done("the weights of the layer")


def layer_gradient(layer_class: Any) -> None:
    """All that changes ``out`` learns. (A bias of W_k does not: it adds the same to all
    scores of a row.)"""
    layer, start = (
        ask(layer_class, 6, 2, 3),
        {"x": random_numbers(1, 2, 6), "memory": random_numbers(1, 2, 6) + 1},
    )
    start |= fill(layer)
    before = moved_out(layer, start)
    for name, slope in ask(layer_gradients, layer, start["x"], start["memory"]).items():
        if slope.abs().max() == 0:
            after = moved_out(
                layer, {**start, name: start[name] + random_numbers(*start[name].shape)}
            )
            expect(
                near(before, after),
                f"{name} changes what comes out, but no gradient reaches it: {CUT}",
            )
    done("the gradient of the layer")


def entropies(answer: Any, n_keys: int) -> None:
    expect(
        answer is not None,
        "entropies is not written yet: give it in the cell above, and run that cell",
    )
    three = hasattr(answer, "__len__") and len(answer) == 3
    expect(
        three,
        (
            "entropies is a list of three, for the divisors 1, √d_k and d_k; here "
            f"it is {kit.kind(answer)}"
        ),
    )
    values, most = [float(value) for value in answer], math.log(n_keys)
    expect(
        not any(map(math.isnan, values)),
        f"{values}: 0 · log 0 counts as 0, but torch makes nan of it",
    )
    rises = 0 <= values[0] <= values[1] <= values[2] <= most + 0.001
    expect(
        rises,
        (
            f"{values}: from 0 to log {n_keys} = {most:.3f}; the larger the "
            "divisor, the more alike the weights"
        ),
    )
    done("the entropies")


# ----------------------------------------------------------------- what public and
# hidden tests share


def run(function: Any, *args: Any) -> tuple[Tensor, Tensor]:
    """The mean and the weights, which an answer returns as a pair; float64 is as good
    as float32."""
    kit.forbid(function, FORBIDDEN)
    out, weights = kit.two_tensors(ask(function, *args), "out and weights")
    return kit.single(out), kit.single(weights)


def fill(layer: Any, seed: int = 0, twins: bool = False) -> dict[str, Tensor]:
    """Gives the four projections random numbers, and returns these by name
    (``"W_q.weight"``).

    With ``twins``, W_q and W_k get the same weight, and no bias: then it does not
    matter which is which.
    """
    lost = [name for name in LAYERS if f"{name}.weight" not in state_of(layer)]
    expect(
        not lost,
        (
            f"the layer has no {', '.join(lost)}: give it four nn.Linear, W_q, "
            "W_k, W_v and W_o"
        ),
    )
    state = kit.fill(layer, seed, LAYERS)
    if twins:
        state["W_k.weight"] = state["W_q.weight"].clone()
        state |= {
            n: torch.zeros_like(state[n])
            for n in ("W_q.bias", "W_k.bias")
            if n in state
        }
        layer.load_state_dict({**state_of(layer), **state})
    return state


def moved_out(
    layer: Any, start: dict[str, Tensor], mask: Tensor | None = None
) -> Tensor:
    """What comes out for ``start["x"]`` and ``start["memory"]``, with the other tensors
    as parameters."""
    layer.load_state_dict(
        {**state_of(layer), **{name: start[name] for name in start if "." in name}}
    )
    return run(layer, start["x"], start["memory"], mask)[0]


def fits(weights: Tensor, scores: Tensor) -> bool:
    """Are these the weights of these scores, if one factor for all may differ?"""
    if weights.shape != scores.shape:
        return False
    ours, theirs = (
        (x - x.mean(-1, keepdim=True)).flatten()
        for x in (scores, weights.clamp(min=1e-30).log())
    )
    return bool(ours @ theirs > 0.999 * ours.norm() * theirs.norm())


@beside_answer
def gradients(
    function: Any,
    inputs: list[Tensor],
    mask: Tensor | None,
    toward: Tensor | None = None,
) -> list[Tensor]:
    """How ``(out * toward).sum()`` changes with query, key and value; zeros where no
    gradient comes back."""
    leaves = {
        name: x.clone().requires_grad_() for name, x in zip("qkv", inputs, strict=True)
    }
    return list(
        kit.slopes_of(function(*leaves.values(), mask)[0], leaves, toward).values()
    )


@beside_answer
def layer_gradients(
    layer: Any,
    x: Tensor,
    memory: Tensor,
    toward: Tensor | None = None,
    mask: Tensor | None = None,
) -> dict[str, Tensor]:
    """The same for ``x``, ``memory`` and the parameters of a layer, by name."""
    leaves = {
        "x": x.clone().requires_grad_(),
        "memory": memory.clone().requires_grad_(),
    }
    out = layer(leaves["x"], leaves["memory"], mask)[0]
    leaves.update(
        (n, p)
        for n, p in layer.named_parameters(remove_duplicate=False)
        if n.split(".")[0] in LAYERS
    )
    return kit.slopes_of(out, leaves, toward)


def _ones(n_queries: int, n_keys: int) -> list[Tensor]:
    return [torch.ones(1, 1, n, 4) for n in (n_queries, n_keys, n_keys)]


def _first_of(n: int) -> Tensor:
    return torch.eye(n)[0]


def _scaled(got: Tensor, shape: tuple[int, ...], firmness: float) -> None:
    """Each row sums to 1. Key 0 has the dot product 4, the others have 0; d_k is 4."""
    tensor(got, "the table of weights", shape, "(B, H, T, S)")
    sums = (
        "each row of weights sums to 1; here the sums are "
        f"{show(got.sum(-1).flatten())}: softmax along the keys"
    )
    expect(near(got.sum(-1), 1.0), sums)
    mistakes = [
        (4 * firmness, "the dot products are not divided"),
        (firmness, "divided by d_k, not by its root"),
        (2.0, "√d_k is right, but the firmness of the rules is missing"),
    ]
    shown = f"d_k = 4, dot products 4 and 0 give {show(got[0, 0, 0])}"
    match(
        (got[..., 0] / got[..., 1]).log(),
        2 * firmness,
        shown,
        mistakes,
        "look at the factors",
    )
