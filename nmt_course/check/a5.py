"""A5: loss, schedule, training loop. One public check for each graded part, and what
hidden tests use as well."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from ..standins.a5 import (
    EOS,
    SOS,
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
from .kit import (
    CUT,
    alike,
    ask,
    done,
    expect,
    match,
    name_of,
    near,
    tensor,
    two_tensors,
)
from .kit import spares as spares

FORBIDDEN = [
    "nll_loss_forward",
    "nll_loss2d_forward",
    "cross_entropy_loss",
]  # of PyTorch's operators


def shift(function: Any, pad: int) -> None:
    got = pair(
        function, torch.tensor([[SOS, 21, 22, 23, EOS], [SOS, 24, EOS, pad, pad]])
    )
    read, said = (
        [[SOS, 21, 22, 23], [SOS, 24, pad, pad]],
        [[21, 22, 23, EOS], [24, EOS, pad, pad]],
    )
    for half, right, name, hint in (
        (got[0], read, "tgt_in", "all but the last token, and <eos> is never read"),
        (got[1], said, "tgt_out", "under each word that is read, the next one"),
    ):
        tensor(half, f"tgt (2, 5): {name}", (2, 4), "(B, L − 1)")
        expect(
            half.dtype == torch.int64,
            f"ids are int64 (torch.long), {name} is {half.dtype}",
        )
        expect(
            half.tolist() == right, f"{name} is {half.tolist()}, not {right}: {hint}"
        )
    done("the shift")


def value(function: Any, pad: int) -> None:
    n = pad + 9
    got, twice = (
        number(function, *half(n)),
        math.log(math.exp(0.5) + (n - 1) * math.exp(0.5 / (n - 1))) - 0.5,
    )
    mistakes = [
        (-math.log(2), "the minus is missing"),
        (twice, "softmax is taken twice"),
    ]
    shown = (
        f"the right one of {n} tokens has probability 1/2, and the loss is {got:.4f}"
    )
    match(got, math.log(2), shown, mistakes, "−log 1/2 = 0.6931 is wanted")
    got = number(
        function, torch.cat([half(n)[0], sure(n)[0]], 1), torch.tensor([[5, 5]])
    )  # two places, one sentence
    shown = f"two places, with probabilities 1/2 and 1, give {got:.4f}, not 0.3466"
    match(
        got,
        math.log(2) / 2,
        shown,
        [(math.log(2), "this is the sum, the mean is wanted")],
        "a softmax for each place",
    )
    done("the loss of a place")


def large(function: Any, pad: int) -> None:
    scores, n = torch.zeros(1, 1, pad + 9), pad + 9
    scores[..., 5] = 1000.0
    tiny = (
        "a probability below 1e−38 is 0 for the computer: never take its "
        "logarithm, stay with scores"
    )
    inf = "exp(1000) is inf: take the largest score away from all of them first"
    for right, wanted, why in ((5, 0.0, inf), (6, 1000.0, tiny)):
        got = number(function, scores, torch.tensor([[right]]))
        shown = (
            f"scores from 0 to 1000, the right one has {scores[0, 0, right]:g}: "
            f"the loss is {got:.4g}, not {wanted:g}"
        )
        match(got, wanted, shown, otherwise=why)
    pull = _beside(slope, function, *half(n))[0, 0, 5]
    expect(pull != 0, f"no gradient reaches the scores: {CUT}")
    match(
        pull,
        -0.5,
        f"the right token has 1/2 and should have 1; it is pulled by {pull:.4f}",
        otherwise="by −1/2 is wanted",
    )
    done("large scores")


def tokens(function: Any, pad: int) -> None:
    n, right = pad + 9, torch.tensor([[5, 5, 5], [5, pad, pad]])
    one, none = number(function, *half(n)), number(function, *sure(n))
    scores = sure(n)[0].expand(2, 3, n).clone()
    scores[1, 0], scores[1, 1:] = half(n)[0][0, 0], 0.0
    mistakes = [
        (
            (none + one) / 2,
            (
                "this is the mean over the two sentences, and a token of the short "
                "one weighs three times"
            ),
        ),
        ((3 * none + one) / 6, "divided by all 6 places: only 4 hold a token"),
        (
            (3 * none + one + 2 * math.log(n)) / 6,
            "<pad> is counted as a token to be said",
        ),
    ]
    got, low = number(function, scores, right), f"{abs(none):.3f}"
    shown = (
        f"tokens with losses {low}, {low}, {low} | {one:.3f}, <pad>, <pad> give "
        f"{got:.4f}"
    )
    match(
        got,
        (3 * none + one) / 4,
        shown,
        mistakes,
        f"take the mean over the tokens that are no <pad> (id {pad})",
    )
    done("padding and mean")


def smooth(function: Any, pad: int, eps: float) -> None:
    n = pad + 9
    goal = goals(function, n, right=5)
    shown = (
        f"the goal is {goal[5]:.4f} for the right token, {goal[pad]:.4f} for "
        f"<pad>, {goal[6]:.4f} for another"
    )
    match(
        goal[pad],
        0.0,
        shown,
        otherwise="<pad> is never to be said; its goal is 0, and the others share ε",
    )
    both = f"with V = {n}, the right token and {n - 2} others share ε = {eps} evenly"
    match(
        goal[6],
        eps / (n - 1),
        shown,
        [(0.0, "nothing is spread over the other tokens")],
        both,
    )
    match(
        goal[5],
        1 - eps + eps / (n - 1),
        shown,
        otherwise=f"{both}, and the right one has 1 − ε more",
    )
    scores, right = torch.zeros(1, 4, n), torch.tensor([[5, 5, pad, pad]])
    scores[0, 1:, 6] = 4.0
    short, long = (
        number(function, scores[:, :2], right[:, :2]),
        number(function, scores, right),
    )
    shown = f"a sentence has the loss {short:.4f}, with two <pad> behind it {long:.4f}"
    match(short, long, shown, otherwise="mask both terms")
    done("label smoothing")


def rate(function: Any, warmup: int) -> None:
    first, second, last, later = (
        _rate(function, step, 64) for step in (1, 2, warmup, 4 * warmup)
    )
    wide = _rate(function, 5, 256) / _rate(function, 5, 64)
    expect(
        0 < first < last,
        (
            f"step 1, the first one, has the rate {first:.3g}, step {warmup} has "
            f"{last:.3g}: min and max?"
        ),
    )
    for got, right, shown, otherwise in (
        (
            second / first,
            2.0,
            f"step 2 has {second / first:.3f} times the rate of step 1",
            "a straight line",
        ),
        (
            first * 8 * warmup**1.5,
            1.0,
            f"step 1, d_model 64: {first:.4g} is not 1/8 · {warmup}^−1.5",
            "the exponents?",
        ),
        (
            later / last,
            0.5,
            f"4 times the warm-up: {later / last:.3f} times the rate",
            "after it, it falls as 1/√step",
        ),
        (
            wide,
            0.5,
            f"four times the width gives {wide:.3f} times the rate",
            "the factor is d_model^−0.5",
        ),
    ):
        match(got, right, shown, otherwise=otherwise)
    done("the schedule")


def top(function: Any, warmup: int) -> None:
    got = _rate(function, warmup, 100, 0.004)
    at = (
        f"d_model 100, top=0.004: at step {warmup}, where the curve is highest, "
        f"the rate is {got:.4g}"
    )
    unused = [(_rate(function, warmup, 100) / 0.004, "top is not used")]
    match(got / 0.004, 1.0, at, unused, "by what must the paper's curve be multiplied?")
    changes = torch.tensor(
        [
            _rate(function, s, 100, 0.004) / _rate(function, s, 100)
            for s in (1, warmup, 3 * warmup)
        ]
    )
    match(
        changes / changes[0],
        1.0,
        f"top multiplies the curve by {kit.show(changes)}",
        otherwise="one factor for all",
    )
    done("the highest rate")


def step(function: Any, pad: int) -> None:
    """One batch, twice, with a rate of 0: the gradient at the step tells what was done
    before it."""
    one = batch([4, 2], pad, 1)
    rows = _watched(function, 1, [[one], [one]], pad, training=False)
    first, second, sums = rows[0]["steps"][0], rows[1]["steps"][0], rows[0]["sum"]
    expect(
        first.abs().max() > 0,
        "at the first optimizer.step() there is no gradient yet: backward comes first",
    )
    expect(
        all(rows[0]["modes"]),
        (
            "the loss is computed in evaluation mode: without model.train() there "
            "is no dropout"
        ),
    )
    expect(
        not alike(second, 2 * first),
        "the second update has the gradient of the first one in it: zero_grad()",
    )
    mistakes = [
        (sums, "it is divided by nothing"),
        (sums / 8, "the sum is divided by 8 places: two of them are <pad>"),
    ]
    shown = (
        "a batch of 6 tokens: at optimizer.step() the gradient is not that of "
        "their mean loss"
    )
    match(first, sums / 6, shown, mistakes, "look at what stands before it", same=alike)
    _mean_back(rows[0], 6)
    done("one update")


def group(function: Any, pad: int) -> None:
    (row,) = _watched(
        function, 1, [[batch([1], pad, 2), batch([4, 3, 2], pad, 3)]], pad
    )
    a, b = row["sums"]
    mistakes = [
        (
            a + b / 9,
            (
                "each batch is divided by its own tokens, so the one token of the "
                "first weighs as much as nine"
            ),
        ),
        (
            (a + b / 9) / 2,
            (
                "this is the mean of the batch means: the one token of the first "
                "weighs as much as nine"
            ),
        ),
        (b / 10, "only the last batch is in the gradient"),
        (a + b, "the sum of the losses is not divided"),
    ]
    wanted = "the gradient is not that of the mean over all 10 tokens"
    match(
        row["steps"][0],
        (a + b) / 10,
        "batches of 1 and 9 tokens",
        mistakes,
        wanted,
        same=alike,
    )
    _mean_back(row, 10)
    done("a group of batches")


def clip(function: Any, pad: int, limit: float) -> None:
    for size in (100, 1):
        (row,) = _watched(function, size, [[batch([4, 3], pad, 4)]], pad)
        got, was = row["steps"][0].norm().item(), row["sum"].norm().item() / 7
        shown = f"a gradient of norm {was:.3f} reaches optimizer.step() with {got:.3f}"
        wanted = (
            f"the limit is {limit}, for all parameters together"
            if was > limit
            else "below the limit leave it"
        )
        match(got, min(was, limit), shown, otherwise=wanted, same=alike)
    done("clipping")


def mean(function: Any, pad: int) -> None:
    batches = [batch([1], pad, 2), batch([4, 3, 2], pad, 3)]
    seen = _beside(observe, function, toy_weights(10), batches, pad, training=False)
    loss, perplexity = result(seen)
    a, b = seen["sums"]
    mistakes = [
        ((a + b / 9) / 2, "this is the mean of the batch means"),
        (a + b, "this is the sum"),
    ]
    shown = (
        f"1 token with a loss of {a:.3f} and 9 tokens with {b:.3f} in all give "
        f"{loss:.4f}"
    )
    match(loss, (a + b) / 10, shown, mistakes, "wanted is the mean over the 10 tokens")
    shown = f"mean loss {loss:.4f}, perplexity {perplexity:.4f}"
    match(
        perplexity,
        math.exp(loss),
        shown,
        otherwise=f"exp of the loss is wanted, {math.exp(loss):.4f}",
    )
    done("the validation loss")


def mode(function: Any, pad: int) -> None:
    for name, training in (("training", True), ("evaluation", False)):
        seen = _beside(
            observe, function, toy_weights(3), [batch([2, 1], pad, 5)], pad, training
        )
        expect(seen["modes"], "validate never calls loss_of")
        expect(
            not any(seen["modes"]),
            (
                "the loss is computed in training mode: dropout is on, so call "
                "model.eval()"
            ),
        )
        expect(
            not any(seen["gradients"]),
            "what a gradient would need is kept, for nothing: torch.no_grad()",
        )
        expect(
            seen["slopes"],
            (
                "after validate no gradient can be computed: "
                "torch.set_grad_enabled(False) stays so"
            ),
        )
        expect(
            seen["after"] == training,
            f"the model came in {name} mode and is left in the other one",
        )
    done("mode and gradients")


def overfit(function: Any, pad: int) -> None:
    losses, _ = learn(function, *sentences([4, 2, 3, 4], pad, 1), pad, 1)
    expect(
        1 < len(losses) <= 200,
        f"{len(losses)} losses: one for each update is wanted, and at most 200 updates",
    )
    shown = (
        f"the loss begins at {losses[0]:.3f} and ends at {losses[-1]:.3f} after "
        f"{len(losses)} updates"
    )
    expect(
        losses[0] > 1,
        (
            f"{shown}: even guessing has about {math.log(pad + 30):.1f}, so the "
            "first one is too good"
        ),
    )
    expect(
        losses[-1] < 0.1,
        (
            f"{shown}; below 0.1 is wanted: look at the order of the calls, the "
            "rate, the loss"
        ),
    )
    done("over-fitting")


def choose(function: Any) -> None:
    losses, trains = [4.2, 3.1, 3.3, 3.2, 3.0, 3.4], [4.0, 3.0, 2.5, 2.0, 1.5, 1.0]
    both = enumerate(zip(trains, losses, strict=True), start=1)
    history = [
        {"step": 100 * i, "train_loss": train, "valid_loss": valid}
        for i, (train, valid) in both
    ]
    got, shown = (
        ask(function, history, 9),
        f"validation losses {losses} at steps 100, 200 …",
    )
    expect(
        got != 600,
        (
            "step 600 has the lowest training loss, or is the last: what counts is "
            "the validation loss"
        ),
    )
    expect(got == 500, f"{shown}: step 500 has the lowest, you keep {got!r}")
    got = ask(function, history, 2)
    expect(
        got == 200,
        (
            f"{shown}, patience 2: the run stops after steps 300 and 400, so keep "
            f"200, not {got!r}"
        ),
    )
    done("the choice")


# ------------------------------------------------------------ what public and hidden
# tests share


def number(function: Any, *args: Any) -> float:
    """A loss as a plain number."""
    kit.forbid(function, FORBIDDEN)
    return kit.number(ask(function, *args), f"what {name_of(function)} gives")


def pair(function: Any, tgt: Tensor) -> tuple[Tensor, Tensor]:
    return two_tensors(ask(function, tgt), "tgt_in and tgt_out")


def half(n: int) -> tuple[Tensor, Tensor]:
    """Scores ``(1, 1, n)`` and ids ``(1, 1)``: the right token, 5, has a probability of
    1/2."""
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
    expect(
        near(total, 1.0, 2e-3),
        f"the goals of all tokens at a place sum to {total:.4f}, not 1",
    )
    peak = math.log(math.exp(big) + n - 1)
    return [
        (total * peak - number(function, big * torch.eye(n)[v].view(1, 1, n), ids))
        / big
        for v in range(n)
    ]


def result(seen: dict[str, Any]) -> tuple[float, float]:
    """Mean loss and perplexity."""
    got = seen["value"]
    two = isinstance(got, (tuple, list)) and len(got) == 2
    expect(
        two,
        (
            "validate gives two numbers, the mean loss and the perplexity, not "
            f"{kit.kind(got)}"
        ),
    )
    return float(got[0]), float(got[1])


def learn(
    function: Any, src: Tensor, tgt: Tensor, pad: int, seed: int
) -> tuple[list[float], Small]:
    """The losses as numbers, and the model that has learnt."""
    kit.forbid(function, FORBIDDEN)
    losses, weights = _beside(trained, function, src, tgt, pad + 30, seed)
    expect(
        isinstance(losses, (list, tuple, Tensor)),
        f"a list of losses is wanted, not {kit.kind(losses)}",
    )
    model = small_model(pad + 30, seed)
    model.load_state_dict(weights)
    return [float(loss) for loss in losses], model


def _beside(
    helper: Callable[..., Any], function: Any, *args: Any, **kwargs: Any
) -> Any:
    """A helper's result; an error in the student's function is told under its own
    name."""

    def call() -> Any:
        return helper(function, *args, **kwargs)

    call.__name__ = name_of(function)
    return ask(call)


def _watched(
    function: Any, size: float, groups: list[Any], pad: int, **kwargs: Any
) -> Any:
    """Updates of a toy with a rate of 0."""
    rows = _beside(watch, function, toy_weights(size), groups, pad, rate=0.0, **kwargs)
    for row in rows:
        n = len(row["steps"])
        expect(row["modes"], "update never calls loss_of")
        expect(
            n == 1,
            (
                f"optimizer.step() is called {n} times: a group of batches makes "
                "one update"
            ),
        )
    return rows


def _mean_back(row: dict[str, Any], n: int) -> None:
    got, right = kit.number(row["value"], "what update returns"), row["loss"] / n
    shown = f"update returns {got:.4f}"
    match(
        got,
        right,
        shown,
        otherwise=f"the mean loss of the {n} tokens was {right:.4f}",
        same=alike,
    )


def _rate(function: Any, step: int, *args: Any) -> float:
    return kit.number(ask(function, step, *args), "the rate")
