"""A5: loss, schedule, training loop. Examples that need more than ``gives``."""

from __future__ import annotations

import copy
import math
from typing import Any

import torch
from torch import Tensor

from ..standins.a5 import Small, Toy, batch, toy_loss, trained, watch
from . import kit
from .kit import CUT as CUT
from .kit import ask, done, expect, match, name_of, near
from .kit import gives as gives
from .kit import item as item
from .kit import part as part
from .kit import slopes as slopes
from .kit import spares as spares
from .kit import two_tensors as two_tensors

SOS, EOS = 2, 3


def step(function: Any, pad: int) -> None:
    """One batch, twice, by an optimizer that moves nothing: the gradient at the step
    tells what was done before it."""
    toy, one = Toy(1).eval(), batch([4, 2], pad, 1)
    loss, right = pull(toy, [one], pad)
    known = [
        (0.0, "there is no gradient: backward()?"),
        (6.0, "the sum of the losses is not divided by the tokens"),
        (0.75, "divided by 8 positions: two of them are <pad>"),
        (2.0, "the update before is in it: zero_grad()"),
    ]
    for row in updates(function, toy, [[one], [one]], pad):
        expect(all(row["modes"]), "the loss is computed without model.train()")
        as_right(row["steps"][0], right, *known)
        match(kit.number(row["value"], "what update gives"), loss, "the mean loss is")
    done("one update")


def group(function: Any, pad: int) -> None:
    toy, one, nine = Toy(1), batch([1], pad, 2), batch([4, 3, 2], pad, 3)
    (row,) = updates(function, toy, [[one, nine]], pad)
    loss, right = pull(toy, [one, nine], pad)
    a, b = (pull(toy, [each], pad)[1][0] / right[0] for each in (one, nine))
    alike = "so one token of the first batch weighs as much as nine of the second"
    known = [
        (a + b, f"each batch is divided by its own tokens, {alike}"),
        ((a + b) / 2, f"this is the mean of two batch means, {alike}"),
        (0.9 * b, "only the last batch is in the gradient"),
    ]
    as_right(row["steps"][0], right, *known)
    match(kit.number(row["value"], "what update gives"), loss, "the mean loss is")
    done("a group of batches")


def clip(function: Any, pad: int, limit: float) -> None:
    for size in (100, 1):
        toy, one = Toy(size), batch([4, 3], pad, 4)
        (row,) = updates(function, toy, [[one]], pad)
        was = pull(toy, [one], pad)[1].norm().item()
        hint = f"the limit is {limit}, for all parameters together"
        got, what = row["steps"][0].norm().item(), f"a norm of {was:.4g} becomes"
        match(got, min(was, limit), what, (was, "not clipped"), hint=hint)
    done("clipping")


def mean(function: Any, pad: int) -> None:
    toy, one, nine = Toy(10).eval(), batch([1], pad, 2), batch([4, 3, 2], pad, 3)
    a, b = (toy_loss(toy, each, pad).item() for each in (one, nine))
    loss, perplexity = result(validation(function, toy, [one, nine], pad))
    known = [((a + b / 9) / 2, "this is the mean of the batch means"), (a + b, "a sum")]
    what = f"1 token with a loss of {a:.4g}, 9 tokens with {b:.4g} in all: mean"
    match(loss, (a + b) / 10, what, *known)
    match(perplexity, math.exp(loss), f"mean loss {loss:.4g}: perplexity", hint="exp")
    done("the validation loss")


def mode(function: Any, pad: int) -> None:
    for training in (True, False):
        toy = Toy(3).train(training)
        row = validation(function, toy, [batch([2, 1], pad, 5)], pad)
        for wrong, hint in (
            (any(row["modes"]), "the loss has dropout in it: call model.eval()"),
            (any(row["graphs"]), "a gradient is prepared for: torch.no_grad()"),
            (not row["slopes"], "after validate no gradient can be computed"),
            (row["mode"] != training, "the model is left in another mode than before"),
        ):
            expect(not wrong, hint)
    done("mode and gradients")


def overfit(function: Any, pad: int) -> None:
    losses, _, _ = learn(function, *sentences([4, 2, 3, 4], pad, 1), pad, 1)
    n, guess = len(losses), math.log(pad + 30)
    expect(1 < n <= 200, f"{n} losses: one for each of at most 200 updates is wanted")
    shown = f"the loss begins at {losses[0]:.4g} and ends at {losses[-1]:.4g}"
    expect(losses[0] > 1, f"{shown}; even guessing has {guess:.4g}: too good")
    hint = "below 0.1 is wanted: order of calls, rate, loss?"
    expect(losses[-1] < 0.1, f"{shown}; {hint}")
    done("over-fitting")


# -------------------------------------------------- what public and hidden tests share


def number(function: Any, *args: Any) -> float:
    """A loss as a plain number."""
    return kit.number(ask(function, *args), f"what {name_of(function)} gives")


def half(n: int) -> tuple[Tensor, Tensor]:
    """Scores ``(1, 1, n)`` and ids ``(1, 1)``: the right token, 5, has p = 1/2."""
    scores = torch.zeros(1, 1, n)
    scores[..., 5] = math.log(n - 1)
    return scores, torch.tensor([[5]])


def sentences(lengths: list[int], pad: int, seed: int) -> tuple[Tensor, Tensor]:
    """src ``(B, S)`` and tgt ``(B, L)`` with <sos> and <eos>, filled up with <pad>."""
    draw = torch.Generator().manual_seed(seed)
    ids = torch.randint(20, pad + 30, (len(lengths), max(lengths) + 7), generator=draw)
    src, tgt = ids[:, :5], ids[:, 5:]
    end, at = torch.tensor(lengths)[:, None] + 1, torch.arange(tgt.size(1))
    tgt = tgt.masked_fill(at == end, EOS).masked_fill(at > end, pad)
    return src, tgt.masked_fill(at == 0, SOS)


def pull(toy: Toy, group: Any, pad: int) -> tuple[float, Tensor]:
    """The mean loss of a token of a group, in training mode, and its gradient; the
    first number is that of the toy's factor."""
    toy, n = copy.deepcopy(toy).train(), sum((b[2] != pad).sum() for b in group)
    loss = torch.stack([toy_loss(toy, one, pad) for one in group]).sum() / n
    grads = torch.autograd.grad(loss, list(toy.parameters()))
    return loss.item(), torch.cat([grad.flatten() for grad in grads])


def updates(function: Any, toy: Toy, groups: Any, pad: int) -> list[dict[str, Any]]:
    rows = _asked(function, toy, pad, groups, True)
    for row in rows:
        hint = "a group of batches makes one update"
        match(len(row["steps"]), 1, "calls of optimizer.step():", hint=hint)
    return rows


def validation(function: Any, toy: Toy, batches: Any, pad: int) -> dict[str, Any]:
    return _asked(function, toy, pad, batches, False)[0]


def _asked(function: Any, *args: Any) -> Any:
    """What is seen; an error in the student's function is told under its own name."""

    def call() -> Any:
        return watch(function, *args)

    call.__name__ = name_of(function)
    rows = ask(call)
    for row in rows:
        expect(row["modes"], f"{name_of(function)} never calls loss_of")
    return rows


def as_right(got: Tensor, right: Tensor, *known: tuple[Any, str]) -> None:
    """A gradient, as a multiple of what it should be."""
    times = (got[0] / right[0]).item()
    match(times, 1.0, "the gradient at step(), if 1 is right, is", *known)
    expect(near(got / right.norm(), right / right.norm()), "another gradient at step()")


def result(row: dict[str, Any]) -> tuple[float, float]:
    """Mean loss and perplexity."""
    got = row["value"]
    two = isinstance(got, (tuple, list)) and len(got) == 2
    expect(two, f"validate gives the mean loss and the perplexity, not {kit.kind(got)}")
    return float(got[0]), float(got[1])


def learn(
    function: Any, src: Tensor, tgt: Tensor, pad: int, seed: int
) -> tuple[list[float], list[Tensor], Tensor]:
    """The losses as numbers, the logits of the model at each call, and at the end."""

    def call() -> Any:
        return trained(function, Small(pad + 30, seed), src, tgt)

    call.__name__ = name_of(function)
    losses, seen, last = ask(call)
    many = isinstance(losses, (list, tuple, Tensor))
    expect(many, f"a list of losses is wanted, not {kit.kind(losses)}")
    return [float(loss) for loss in losses], seen, last
