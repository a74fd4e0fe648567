"""A3: attention and multi-head attention. One public check for each graded part."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from . import ask, beside_answer, done, expect

LAYERS = ("W_q", "W_k", "W_v", "W_o")


def weights(function: Any, firmness: float) -> None:
    """Scores: each query with each key of its head, divided, made firm, softmax along the keys."""
    query, value = torch.ones(1, 3, 3, 4), torch.ones(1, 3, 2, 5)
    key = torch.tensor([1.0, 0.0]).view(1, 1, 2, 1).expand(1, 3, 2, 4)  # key 0 is all ones, key 1 all zeros
    _, got = run(function, query, key, value)
    expect(got.shape == (1, 3, 3, 2), f"the weights have shape {tuple(got.shape)}, not (B, H, T, S) = (1, 3, 3, 2)")
    _rows(got)
    _scale(got, firmness)
    done("the weights")


def mean(function: Any) -> None:
    """What comes out is the mean of the values, taken with the weights."""
    query, key = _numbers(1, 2, 3, 4), _numbers(1, 2, 5, 4)
    out, got = run(function, query, key, torch.ones(1, 2, 5, 6))
    expect(out.shape == (1, 2, 3, 6), f"out has shape {tuple(out.shape)}, not (B, H, T, d_v) = (1, 2, 3, 6)")
    expect(got.shape == (1, 2, 3, 5), f"the weights have shape {tuple(got.shape)}, not (B, H, T, S) = (1, 2, 3, 5)")
    out, got = run(function, query, key, torch.eye(5).expand(1, 2, 5, 5))  # value s is 1 at place s, so out tells
    expect(_near(out, got), f"query 0 weighs the keys {_say(got[0, 0, 0])}, but takes the values {_say(out[0, 0, 0])}")
    done("the mean")


def mask(function: Any) -> None:
    """True = may be attended to; the others share all of the weight."""
    query, key, value = torch.ones(1, 2, 3, 4), torch.ones(1, 2, 4, 4), torch.ones(1, 2, 4, 5)
    seen = torch.tensor([True, True, True, False]).view(1, 1, 1, 4)
    row = run(function, query, key, value, seen)[1][0, 0, 0]
    shown = f"four keys that fit alike, the last one hidden, get {_say(row)}"
    expect(row[3] < 0.99, f"{shown}: the mask is used the wrong way round; True = may be attended to")
    expect(row[3] == 0, f"{shown}: a hidden key gets exactly 0 (its score is not 0: exp(0) = 1)")
    expect(_near(row.sum(), torch.ones(())), f"{shown}: hide a key before the softmax, so that the others share all")
    expect(_near(row[:3], torch.full((3,), 1 / 3)), f"{shown}: the three others fit alike, so they get a third each")
    done("the mask")


def nothing(function: Any) -> None:
    """A query that may attend to nothing."""
    query, key, value = torch.ones(1, 1, 2, 4), torch.ones(1, 1, 3, 4), torch.ones(1, 1, 3, 5)
    seen = torch.tensor([[True, True, False], [False, False, False]]).view(1, 1, 2, 3)
    out, got = run(function, query, key, value, seen)
    row = got[0, 0, 1]
    expect(not row.isnan().any(), f"a query that may attend to nothing gets {_say(row)}: 0 / 0 is nan")
    expect((row == 0).all(), f"a query that may attend to nothing gets the weights {_say(row)}, not zeros")
    expect((out[0, 0, 1] == 0).all(), f"a query that may attend to nothing gets {_say(out[0, 0, 1])}, not zeros")
    expect(not got[0, 0, 0].isnan().any(), "the other queries get nan: only the row that sees nothing is special")
    done("a query that sees nothing")


def gradient(function: Any) -> None:
    """Queries, keys and values learn."""
    inputs, seen = [_numbers(1, 2, n, 3) for n in (2, 4, 4)], torch.tensor([True, False, True, False]).view(1, 1, 1, 4)
    for got in (ask(gradients, function, inputs, None), ask(gradients, function, inputs, seen)):
        for name, slope in zip(("query", "key", "value"), got, strict=True):
            expect(slope.abs().max() > 0, f"no gradient reaches the {name}: {_CUT}")
    done("the gradient")


def split(function: Any) -> None:
    """The width is cut, and heads come before places."""
    x = (10 * torch.arange(3).view(1, 3, 1) + torch.arange(4)).float()  # 21 is place 2, column 1
    got = ask(function, x, 2)
    expect(isinstance(got, Tensor), f"split_heads gives one tensor, not {type(got).__name__}")
    expect(got.shape == (1, 2, 3, 2), f"shape {tuple(got.shape)}, not (B, H, T, D / H) = (1, 2, 3, 2)")
    row = got[0, 0, 1]
    shown = f"head 0, place 1 holds {_say(row)} (21 is place 2, column 1)"
    expect((row // 10 == 1).all(), f"{shown}: numbers of another place; cut the width first, then swap two axes")
    expect(row.tolist() == [10, 11], f"{shown}: head 0 owns the first D / H columns")
    expect(got[0, 1, 2].tolist() == [22, 23], f"head 1, place 2 holds {_say(got[0, 1, 2])}, not [22, 23]")
    done("cutting into heads")


def merge(function: Any) -> None:
    """Each place gets what its heads have found, side by side."""
    heads = 100 * torch.arange(2).view(1, 2, 1, 1) + 10 * torch.arange(3).view(3, 1) + torch.arange(2)
    got = ask(function, heads.float())  # 121 is head 1, place 2, column 1
    expect(isinstance(got, Tensor), f"merge_heads gives one tensor, not {type(got).__name__}")
    expect(got.shape == (1, 3, 4), f"shape {tuple(got.shape)}, not (B, T, H · d) = (1, 3, 4)")
    row = got[0, 1]
    shown = f"place 1 gets {_say(row)} (121 is head 1, place 2, column 1)"
    expect((row % 100 // 10 == 1).all(), f"{shown}: numbers of another place; swap two axes first, then join")
    expect(row.tolist() == [10, 11, 110, 111], f"{shown}: first all columns of head 0, then those of head 1")
    done("joining the heads")


def projections(layer_class: Any, biased: str) -> None:
    """Four layers of their own, with the right biases; one query on one key shows W_v and W_o."""
    layer = ask(layer_class, 6, 1, 6)
    state = fill(layer)
    for name in LAYERS:
        has, wanted = f"{name}.bias" in state, name in biased
        expect(has == wanted, f"{name} has {'a' if has else 'no'} bias; the rules say: {biased} have one, others none")
    x = _numbers(1, 1, 6)
    out, _ = run(layer, x, x)
    value = _linear(x, state, "W_v")
    expect(not _near(out, value), "what comes out is the bare mean of the values: W_o is not used")
    expect(_near(out, _linear(value, state, "W_o")), "with a single key the weight is 1, so out is W_o of its W_v")
    done("the projections")


def roles(layer_class: Any) -> None:
    """x asks, memory answers."""
    layer = ask(layer_class, 6, 1, 6)
    state, x, memory = fill(layer), _numbers(1, 2, 6), _numbers(1, 3, 6)
    got = run(layer, x, memory)[1]
    expect(got.shape == (1, 1, 2, 3), f"two places of x ask three of memory: {tuple(got.shape)}, not (1, 1, 2, 3)")
    asks, answers = [_linear(x, state, n) for n in LAYERS[:2]], [_linear(memory, state, n) for n in LAYERS[:2]]
    expect(not fits(got[0], asks[1] @ answers[0].mT), "W_k makes the queries here, and W_q the keys: swap them")
    expect(not any(fits(got[0], a @ b.mT) for a, b in zip(asks, answers, strict=True)), "one matrix makes both q and k")
    expect(fits(got[0], asks[0] @ answers[1].mT), "the weights are not those of W_q x with W_k memory")
    done("who asks, who answers")


def heads(layer_class: Any) -> None:
    """Several heads, other lengths, another width of the values."""
    layer, x, memory = ask(layer_class, 6, 2, 5), _numbers(1, 2, 6), _numbers(1, 4, 6)
    state = fill(layer)
    for name, shape in (("W_v", (10, 6)), ("W_o", (6, 10))):
        have = tuple(state[f"{name}.weight"].shape)
        expect(have == shape, f"D = 6, two heads, d_value = 5: {name}.weight has shape {have}, not {shape}")
    out, got = run(layer, x, memory)
    expect(got.shape == (1, 2, 2, 4), f"the weights have shape {tuple(got.shape)}, not (B, H, T, S) = (1, 2, 2, 4)")
    expect(out.shape == (1, 2, 6), f"out has shape {tuple(out.shape)}, not (B, T, D) = (1, 2, 6)")
    memory[0, 3] += 1.0  # another word at the last place: how the first two compare must not change
    new = run(layer, x, memory)[1]
    same = _near((new[..., 0] / new[..., 1]).log(), (got[..., 0] / got[..., 1]).log())
    expect(same, "another word at place 3 changes how keys 0 and 1 compare: is a head made of several places?")
    done("several heads")


def all_weights(layer_class: Any, firmness: float) -> None:
    """The scale is that of one head, and the mask reaches each head."""
    layer = ask(layer_class, 8, 2, 4)
    state = {n: torch.eye(8) if n[-6:] == "weight" else torch.zeros(8) for n in fill(layer)}  # all four hand on
    layer.load_state_dict({**layer.state_dict(), **state})
    x, memory = torch.ones(1, 3, 8), torch.tensor([1.0, 0.0, 0.0]).view(1, 3, 1).expand(1, 3, 8)
    _, got = run(layer, x, memory)
    _rows(got)
    _scale(got, firmness)
    _, got = run(layer, x, memory, torch.tensor([True, True, False]).view(1, 1, 1, 3))
    expect(
        (got[..., 2] == 0).all(), f"the mask hides the last key, which gets {_say(got[0, :, 0, 2])} in the two heads"
    )
    done("the weights of the layer")


def layer_gradient(layer_class: Any) -> None:
    """All that changes ``out`` learns. (A bias of W_k does not: it adds the same to all scores of a row.)"""
    layer, start = ask(layer_class, 6, 2, 3), {"x": _numbers(1, 2, 6), "memory": _numbers(1, 2, 6) + 1}
    start |= fill(layer)
    before = moved_out(layer, start)
    for name, slope in ask(layer_gradients, layer, start["x"], start["memory"]).items():
        if slope.abs().max() == 0:
            after = moved_out(layer, {**start, name: start[name] + _numbers(*start[name].shape)})
            expect(_near(before, after), f"{name} changes what comes out, but no gradient reaches it: {_CUT}")
    done("the gradient of the layer")


def entropies(answer: Any, n_keys: int) -> None:
    """Three plausible numbers."""
    expect(answer is not None, "entropies is not written yet: give it in the cell above, and run that cell")
    expect(isinstance(answer, (list, tuple, Tensor)), f"entropies is a list of three, not {type(answer).__name__}")
    values = [float(value) for value in answer]
    expect(len(values) == 3, f"three numbers are wanted, for the divisors 1, √d_k and d_k, not {len(values)}")
    shown, most = _say(torch.tensor(values)), math.log(n_keys)
    expect(not any(map(math.isnan, values)), f"{shown}: 0 · log 0 counts as 0, but torch makes nan of it")
    expect(
        min(values) >= 0 and max(values) <= most + 0.001, f"{shown}: from 0 to log {n_keys} = {most:.3f} is possible"
    )
    expect(values == sorted(values), f"{shown}: the larger the divisor, the more alike the weights")
    done("the entropies")


def picture(axes: Any, d_k: int, colour: str, seed: int) -> None:
    """What the last questions are about: a map without the names of its axes, and two heads that have not learnt."""
    from nmt_lib import draw_grid

    words = ["the", "chair", "fell", "since", "it", "broke"]
    turned, first = colour[0] in "aeiou", colour[-1] in "aeiou"
    table = _TABLE.T if turned else _TABLE
    style = {"cmap": _shades(colour)}
    draw_grid(axes[0], table, words, words, **style)
    for i, row in enumerate(table.tolist()):
        for j, weight in enumerate(row):
            shade = "white" if weight > 0.65 else "black"
            axes[0].text(j, i, f"{weight:.2f}", ha="center", va="center", fontsize=8, color=shade)
    draw = torch.Generator().manual_seed(seed)
    queries, keys = (torch.randn(2, 12, d_k, generator=draw) for _ in range(2))
    for axis, name, scores in zip(axes[1:], "AB", queries @ keys.mT, strict=True):
        divisor = 1.0 if (name == "A") == first else math.sqrt(d_k)
        draw_grid(axis, (scores / divisor).softmax(-1), [""] * 12, [""] * 12, **style)
        axis.set_title(name, fontsize=9)


def run(function: Any, *args: Any) -> tuple[Tensor, Tensor]:
    """The mean and the weights, which an answer returns as a pair.

    Raises:
        Hint: it is no pair of tensors, or as in ``ask``.
    """
    got = ask(function, *args)
    pair = isinstance(got, (tuple, list)) and len(got) == 2 and all(isinstance(item, Tensor) for item in got)
    expect(pair, f"two tensors come back, out and weights, in this order; here it is {_kind(got)}")
    return got[0], got[1]


def fill(layer: Any, seed: int = 0, twins: bool = False) -> dict[str, Tensor]:
    """Gives the four projections random numbers, and returns these by name (``"W_q.weight"``).

    Args:
        layer: the student's.
        seed: of the numbers.
        twins: W_q and W_k get the same weight, and no bias: then it does not matter which is which.
    """
    expect(hasattr(layer, "state_dict"), "MultiHead is no nn.Module")
    draw, whole = torch.Generator().manual_seed(seed), dict(layer.state_dict())
    for name in LAYERS:
        expect(f"{name}.weight" in whole, f"the layer has no {name}: give it four nn.Linear, W_q, W_k, W_v and W_o")
    state = {n: 0.4 * torch.randn(p.shape, generator=draw) for n, p in whole.items() if n.split(".")[0] in LAYERS}
    if twins:
        state["W_k.weight"] = state["W_q.weight"].clone()
        state.update({n: torch.zeros_like(state[n]) for n in ("W_q.bias", "W_k.bias") if n in state})
    layer.load_state_dict({**whole, **state})
    return state


def moved_out(layer: Any, start: dict[str, Tensor]) -> Tensor:
    """What comes out for ``start["x"]`` and ``start["memory"]``, with the other tensors as parameters."""
    layer.load_state_dict({**layer.state_dict(), **{name: start[name] for name in start if "." in name}})
    return run(layer, start["x"], start["memory"])[0]


def fits(weights: Tensor, scores: Tensor) -> bool:
    """Are these the weights of these scores, if one factor for all may differ?"""
    if weights.shape != scores.shape:
        return False
    ours, theirs = ((x - x.mean(-1, keepdim=True)).flatten() for x in (scores, weights.clamp(min=1e-30).log()))
    return bool(ours @ theirs > 0.999 * ours.norm() * theirs.norm())


@beside_answer
def gradients(function: Any, inputs: list[Tensor], mask: Tensor | None, toward: Tensor | None = None) -> list[Tensor]:
    """How ``(out * toward).sum()`` changes with query, key and value; zeros where no gradient comes back."""
    leaves = [x.clone().requires_grad_() for x in inputs]
    return _slopes(function(*leaves, mask)[0], leaves, toward)


@beside_answer
def layer_gradients(layer: Any, x: Tensor, memory: Tensor, toward: Tensor | None = None) -> dict[str, Tensor]:
    """The same for ``x``, ``memory`` and the parameters of a layer, by name."""
    leaves = {"x": x.clone().requires_grad_(), "memory": memory.clone().requires_grad_()}
    out = layer(leaves["x"], leaves["memory"])[0]
    leaves.update((n, p) for n, p in layer.named_parameters(remove_duplicate=False) if n.split(".")[0] in LAYERS)
    return dict(zip(leaves, _slopes(out, list(leaves.values()), toward), strict=True))


_CUT = ".detach(), .data, .item(), .numpy(), torch.tensor(…) and torch.no_grad() cut its way"


_TABLE = torch.tensor(
    [
        [0.50, 0.35, 0.05, 0.00, 0.05, 0.05],
        [0.30, 0.40, 0.20, 0.00, 0.05, 0.05],
        [0.05, 0.60, 0.25, 0.05, 0.00, 0.05],
        [0.05, 0.10, 0.25, 0.20, 0.00, 0.40],
        [0.05, 0.75, 0.05, 0.05, 0.05, 0.05],
        [0.00, 0.15, 0.10, 0.05, 0.60, 0.10],
    ]
)


def _shades(colour: str) -> Any:
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list(colour, ["white", colour])


def _slopes(out: Tensor, leaves: list[Tensor], toward: Tensor | None) -> list[Tensor]:
    if not out.requires_grad:
        return [torch.zeros_like(x) for x in leaves]
    toward = _numbers(*out.shape) if toward is None else toward
    found = torch.autograd.grad((out * toward).sum(), [x for x in leaves if x.requires_grad], allow_unused=True)
    left = iter(found)
    slopes = [next(left) if x.requires_grad else None for x in leaves]
    return [torch.zeros_like(x) if slope is None else slope for x, slope in zip(leaves, slopes, strict=True)]


def _rows(got: Tensor) -> None:
    """Each row sums to 1."""
    ones = torch.ones(())
    wrong_axis = not _near(got.sum(-1), ones) and _near(got.sum(-2), ones)
    expect(not wrong_axis, "the columns sum to 1, not the rows: the softmax runs along the queries, not the keys")
    expect(_near(got.sum(-1), ones), f"each row of weights sums to 1; here the sums are {_say(got.sum(-1).flatten())}")


def _scale(got: Tensor, firmness: float) -> None:
    """Key 0 has the dot product 4, key 1 has 0; d_k is 4."""
    ratio = (got[..., 0] / got[..., 1]).log()
    for wrong, hint in (
        (4 * firmness, "the dot products are not divided"),
        (firmness, "divided by d_k, not by its root"),
        (4 / math.sqrt(4 * got.size(1)) * firmness, "divided by √d_model: a dot product of one head has d_k terms"),
        (2.0, "√d_k is right, but the firmness of the rules is missing"),
        (2.0 / firmness, "divided by the firmness: scores are multiplied by it"),
    ):
        expect(not _near(ratio, torch.tensor(wrong)), f"d_k = 4, dot products 4 and 0: {hint}")
    expect(
        _near(ratio, torch.tensor(2 * firmness)),
        f"d_k = 4, dot products 4 and 0 give {_say(got[0, 0, 0])}: look at the factors",
    )


def _numbers(*shape: int) -> Tensor:
    """The same random numbers each time."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape)))


def _linear(x: Tensor, state: dict[str, Tensor], name: str) -> Tensor:
    return torch.nn.functional.linear(x, state[f"{name}.weight"], state.get(f"{name}.bias"))


def _near(a: Tensor, b: Tensor) -> bool:
    return bool(((a - b).abs() < 1e-3).all())


def _say(numbers: Tensor) -> str:
    return "[" + ", ".join(f"{number:.4g}" for number in numbers.tolist()) + "]"


def _kind(got: Any) -> str:
    return f"a tensor of shape {tuple(got.shape)}" if isinstance(got, Tensor) else type(got).__name__
