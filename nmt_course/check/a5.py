"""A5: loss, schedule, training loop. Examples that need more than ``gives``."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from ..standins.a5 import (
    Small,
    batch,
    observe,
    sentences,
    slope,
    small_model,
    toy_weights,
    trained,
    watch,
)
from ..standins.a5 import toy as toy
from ..standins.a5 import toy_loss as toy_loss
from . import kit
from .kit import CUT, alike, ask, done, expect, match, name_of, near, show, two_tensors
from .kit import gives as gives
from .kit import item as item
from .kit import spares as spares


def large(function: Any, pad: int) -> None:
    scores, n = torch.zeros(1, 1, pad + 9), pad + 9
    scores[..., 5] = 1000.0
    for right, wanted, hint in (
        (
            5,
            0.0,
            "exp(1000) is inf: take the largest score away from all of them first",
        ),
        (6, 1000.0, "a probability can become 0: never take its logarithm"),
    ):
        got = number(function, scores, torch.tensor([[right]]))
        match(got, wanted, f"scores 0 to 1000, token {right} is right: loss", hint=hint)
    pull = _beside(slope, function, *half(n))[0, 0, 5].item()
    match(pull, -0.5, "a right token with p = 1/2 has the gradient", (0.0, CUT))
    done("large scores")


def tokens(function: Any, pad: int) -> None:
    n, right = pad + 9, torch.tensor([[5, 5, 5], [5, pad, pad]])
    one, none = number(function, *half(n)), number(function, *sure(n))
    scores = sure(n)[0].expand(2, 3, n).clone()
    scores[1, 0], scores[1, 1:] = half(n)[0][0, 0], 0.0
    known = [
        ((none + one) / 2, "this is the mean of the means of two sentences"),
        ((3 * none + one) / 6, "divided by all 6 positions: only 4 hold a token"),
        ((3 * none + one + 2 * math.log(n)) / 6, "<pad> counts as a token here"),
    ]
    got, low = number(function, scores, right), f"{none:.4g}"
    what = f"tokens with losses {low}, {low}, {low} | {one:.4g}, <pad>, <pad> give"
    match(got, (3 * none + one) / 4, what, *known, hint="the mean over 4 tokens")
    done("padding and mean")


def smooth(function: Any, pad: int, eps: float) -> None:
    n = pad + 9
    goal = goals(function, n, right=5)
    hint = f"the {n - 1} tokens that are not <pad> share ε = {eps}"
    match(goal[pad], 0.0, "the goal of <pad> is", hint=hint)
    none = (0.0, "nothing is spread over the other tokens")
    match(100 * goal[6], 100 * eps / (n - 1), "100 · goal of a wrong token:", none)
    match(goal[5], 1 - eps + eps / (n - 1), "the right token's goal:", hint=hint)
    scores, right = torch.zeros(1, 4, n), torch.tensor([[5, 5, pad, pad]])
    scores[0, 1:, 6] = 4.0
    short = number(function, scores[:, :2], right[:, :2])
    what = "a sentence has another loss with two <pad> behind it:"
    match(number(function, scores, right), short, what, hint="mask both terms")
    done("label smoothing")


def rate(function: Any, warmup: int) -> None:
    def ratio(one: tuple[int, int], other: tuple[int, int]) -> float:
        return _rate(function, *one) / _rate(function, *other)

    first = _rate(function, 1, 64) * 8 * warmup**1.5
    after, last = (4 * warmup, 64), (warmup, 64)
    for got, right, what, hint in (
        (ratio((2, 64), (1, 64)), 2.0, "step 2 : step 1 =", "first a straight line"),
        (ratio(after, last), 0.5, "4 · warm-up : warm-up =", "then 1 / √step"),
        (ratio((5, 256), (5, 64)), 0.5, "d_model 256 : 64 =", "d_model^−0.5"),
        (first, 1.0, f"step 1, d_model 64, times 8 · {warmup}^1.5 =", "exponents?"),
    ):
        match(got, right, what, hint=hint)
    done("the schedule")


def top(function: Any, warmup: int) -> None:
    got = [_rate(function, s, 100, 0.004) for s in (warmup, 1, 3 * warmup)]
    plain = [_rate(function, s, 100) for s in (warmup, 1, 3 * warmup)]
    unused = (1000 * plain[0], "top is not used")
    match(1000 * got[0], 4.0, "top=0.004: 1000 times the highest rate is", unused)
    factors = torch.tensor(got) / torch.tensor(plain)
    expect(
        alike(factors, factors[:1].expand(3)), f"{show(factors)}: one factor for all"
    )
    done("the highest rate")


def step(function: Any, pad: int) -> None:
    """One batch, twice, with a rate of 0: the gradient at the step tells what was done
    before it."""
    one = batch([4, 2], pad, 1)
    rows = _watched(function, 1, [[one], [one]], pad, training=False)
    first, second, sums = rows[0]["steps"][0], rows[1]["steps"][0], rows[0]["sum"]
    for wrong, hint in (
        (first.abs().max() == 0, "at the first step() there is no gradient: backward?"),
        (not all(rows[0]["modes"]), "the loss is computed without model.train()"),
        (
            alike(second, 2 * first),
            "the second update has the first in it: zero_grad()",
        ),
        (alike(first, sums), "the sum of the losses is not divided by the tokens"),
        (alike(first, sums / 8), "divided by 8 positions: two of them are <pad>"),
        (
            not alike(first, sums / 6),
            "the gradient is not that of the mean of 6 tokens",
        ),
    ):
        expect(not wrong, hint)
    _mean_back(rows[0], 6)
    done("one update")


def group(function: Any, pad: int) -> None:
    group = [batch([1], pad, 2), batch([4, 3, 2], pad, 3)]
    (row,) = _watched(function, 1, [group], pad)
    (a, b), got = row["sums"], row["steps"][0]
    one = "so the one token of the first batch weighs as much as the nine of the second"
    for wrong, hint in (
        (alike(got, a + b / 9), f"each batch is divided by its own tokens, {one}"),
        (alike(got, (a + b / 9) / 2), f"this is the mean of two batch means, {one}"),
        (alike(got, b / 10), "only the last batch is in the gradient"),
        (not alike(got, (a + b) / 10), "not the gradient of the mean of all 10 tokens"),
    ):
        expect(not wrong, hint)
    _mean_back(row, 10)
    done("a group of batches")


def clip(function: Any, pad: int, limit: float) -> None:
    for size in (100, 1):
        (row,) = _watched(function, size, [[batch([4, 3], pad, 4)]], pad)
        got, was = row["steps"][0].norm().item(), row["sum"].norm().item() / 7
        hint = f"the limit is {limit}, for all parameters together"
        match(got, min(was, limit), f"norm {was:.4g} is at step()", hint=hint)
    done("clipping")


def mean(function: Any, pad: int) -> None:
    batches = [batch([1], pad, 2), batch([4, 3, 2], pad, 3)]
    seen = _beside(observe, function, toy_weights(10), batches, pad, training=False)
    loss, perplexity = result(seen)
    a, b = seen["sums"]
    known = [((a + b / 9) / 2, "this is the mean of the batch means"), (a + b, "a sum")]
    what = f"1 token with a loss of {a:.4g}, 9 tokens with {b:.4g} in all: mean"
    match(loss, (a + b) / 10, what, *known)
    match(perplexity, math.exp(loss), f"mean loss {loss:.4g}: perplexity", hint="exp")
    done("the validation loss")


def mode(function: Any, pad: int) -> None:
    for training in (True, False):
        one = [batch([2, 1], pad, 5)]
        seen = _beside(observe, function, toy_weights(3), one, pad, training)
        for wrong, hint in (
            (not seen["modes"], "validate never calls loss_of"),
            (any(seen["modes"]), "the loss has dropout in it: call model.eval()"),
            (any(seen["gradients"]), "a gradient is prepared for: torch.no_grad()"),
            (not seen["slopes"], "after validate no gradient can be computed"),
            (
                seen["after"] != training,
                "the model is left in another mode than before",
            ),
        ):
            expect(not wrong, hint)
    done("mode and gradients")


def overfit(function: Any, pad: int) -> None:
    losses, _, _ = learn(function, *sentences([4, 2, 3, 4], pad, 1), pad, 1)
    n, guess = len(losses), math.log(pad + 30)
    expect(1 < n <= 200, f"{n} losses: one for each of at most 200 updates is wanted")
    shown = f"the loss begins at {losses[0]:.4g} and ends at {losses[-1]:.4g}"
    expect(losses[0] > 1, f"{shown}; even guessing has {guess:.4g}: too good")
    expect(
        losses[-1] < 0.1, f"{shown}; below 0.1 is wanted: order of calls, rate, loss?"
    )
    done("over-fitting")


def history(losses: list[float]) -> list[dict[str, float]]:
    """Rows at steps 100, 200 …; the training loss falls all the time."""
    return [
        {"step": 100 * i, "train_loss": 4 - i / 9, "valid_loss": loss}
        for i, loss in enumerate(losses, start=1)
    ]


# ---------------------------------------------------- what public and hidden tests
# share


def number(function: Any, *args: Any) -> float:
    """A loss as a plain number."""
    return kit.number(ask(function, *args), f"what {name_of(function)} gives")


def pair(function: Any, tgt: Tensor) -> tuple[Tensor, Tensor]:
    return two_tensors(ask(function, tgt), "tgt_in and tgt_out")


def half(n: int) -> tuple[Tensor, Tensor]:
    """Scores ``(1, 1, n)`` and ids ``(1, 1)``: the right token, 5, has p = 1/2."""
    scores = torch.zeros(1, 1, n)
    scores[..., 5] = math.log(n - 1)
    return scores, torch.tensor([[5]])


def sure(n: int) -> tuple[Tensor, Tensor]:
    """The same with a probability of nearly 1."""
    scores, right = half(n)
    return scores + 20.0 * (scores > 0), right


def goals(function: Any, n: int, right: int) -> list[float]:
    """The goal that a loss of the kind −Σ goal · log p has for each of n tokens."""
    big, ids = 20.0, torch.tensor([[right]])
    total = number(function, torch.zeros(1, 1, n), ids) / math.log(n)
    expect(near(total, 1.0, 2e-3), f"the goals of a position sum to {total:.4g}, not 1")
    peak = total * math.log(math.exp(big) + n - 1)
    rows = big * torch.eye(n)[:, None, None]
    return [(peak - number(function, row, ids)) / big for row in rows]


def result(seen: dict[str, Any]) -> tuple[float, float]:
    """Mean loss and perplexity."""
    got = seen["value"]
    two = isinstance(got, (tuple, list)) and len(got) == 2
    expect(two, f"validate gives the mean loss and the perplexity, not {kit.kind(got)}")
    return float(got[0]), float(got[1])


def learn(
    function: Any, src: Tensor, tgt: Tensor, pad: int, seed: int
) -> tuple[list[float], Small, list[float]]:
    """The losses as numbers, the model that has learnt, and its true loss each time
    that it was called."""
    losses, weights, true = _beside(trained, function, src, tgt, pad, seed)
    many = isinstance(losses, (list, tuple, Tensor))
    expect(many, f"a list of losses is wanted, not {kit.kind(losses)}")
    model = small_model(pad + 30, seed)
    model.load_state_dict(weights)
    return [float(loss) for loss in losses], model, true


def _beside(
    helper: Callable[..., Any], function: Any, *args: Any, **options: Any
) -> Any:
    """A helper's result; an error in the student's function is told under its own
    name."""

    def call() -> Any:
        return helper(function, *args, **options)

    call.__name__ = name_of(function)
    return ask(call)


def _watched(function: Any, size: float, groups: Any, pad: int, **options: Any) -> Any:
    """Updates of a toy with a rate of 0."""
    rows = _beside(watch, function, toy_weights(size), groups, pad, rate=0.0, **options)
    for row in rows:
        expect(row["modes"], "update never calls loss_of")
        hint = "a group of batches makes one update"
        match(len(row["steps"]), 1, "calls of optimizer.step():", hint=hint)
    return rows


def _mean_back(row: dict[str, Any], n: int) -> None:
    got = kit.number(row["value"], "what update returns")
    what = f"update returns the mean loss of {n} tokens:"
    match(got, row["loss"] / n, what)


def _rate(function: Any, step: int, *args: Any) -> float:
    return kit.number(ask(function, step, *args), "the rate")
