"""A5: loss, schedule, training loop. Examples that need more than ``gives``."""

from __future__ import annotations

import copy
import math
from typing import Any

import torch
from torch import Tensor

from nmt_lib import EOS, SOS

from ..standins.a5 import *
from .kit import *


def step(function: Any, pad: int) -> None:
    """One batch, twice from the same start."""
    known = [
        (0.0, "nothing moves: backward()? step()?"),
        (6.0, "the sum of the losses is not divided by the tokens"),
        (0.75, "divided by 8 positions: two of them are <pad>"),
        (2.0, "the update before is in it: zero_grad()"),
    ]
    one = batch([4, 2], pad, 1)
    as_one_batch(function, Toy(1).eval(), [[one], [one]], pad, *known)
    done("one update")


def group(function: Any, pad: int) -> None:
    toy, one, nine = Toy(1), batch([1], pad, 2), batch([4, 3, 2], pad, 3)
    both, a, b = (pull(toy, x, pad)[1][0] for x in ([one, nine], [one], [nine]))
    alike = "so one token of the first batch weighs as much as nine of the second"
    known = [
        ((a + b) / both, f"each batch is divided by its own tokens, {alike}"),
        ((a + b) / both / 2, f"this is the mean of two batch means, {alike}"),
        (0.9 * b / both, "only the last batch is in the gradient"),
    ]
    as_one_batch(function, toy, [[one, nine]], pad, *known)
    done("a group of batches")


def clip(function: Any, pad: int, limit: float) -> None:
    for size in (100, 1):
        toy, one = Toy(size), batch([4, 4], pad, 4)  # without <pad>
        (row,) = updates(function, toy, [[one]], pad)
        was = pull(toy, [one], pad)[1].norm().item()
        hint = f"the limit is {limit}, for all parameters together"
        got, what = row["moved"].norm().item(), f"a norm of {was:.4g} becomes"
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
    one = batch([2, 1], pad, 5)
    for training in (True, False):
        toy = Toy(3).train(training)
        row = validation(function, toy, [one], pad)
        expect(not any(row["modes"]), "the loss has dropout in it: call model.eval()")
        was, left = state(toy.train(training), one, pad), row["state"]
        expect(near(left[0], was[0]), "the model is left in another mode than before")
        expect(near(left, was), "after validate no gradient can be computed")
    if any(row["graphs"]):
        print("no points here, but: each loss is kept with all that a gradient needs")
    done("mode and gradients")


# -------------------------------------------------- what public and hidden tests share


def loss_value(function: Any, *args: Any) -> float:
    return number(ask(function, *args), f"what {name_of(function)} gives")


def half(n: int) -> tuple[Tensor, Tensor]:
    """Scores ``(1, 1, n)`` and ids ``(1, 1)``: the right token, 5, has p = 1/2."""
    scores = torch.zeros(1, 1, n)
    scores[..., 5] = math.log(n - 1)
    return scores, torch.tensor([[5]])


def sentences(lengths: list[int], pad: int, seed: int) -> tuple[Tensor, Tensor]:
    """src ``(B, S)`` and tgt ``(B, L)`` with <sos> and <eos>, filled up with <pad>."""
    draw, width = torch.Generator().manual_seed(seed), max(lengths) + 2
    ids = torch.randint(20, pad + 30, (len(lengths), 5 + width), generator=draw)
    end, at = torch.tensor(lengths)[:, None] + 1, torch.arange(width)
    tgt = ids[:, 5:].masked_fill(at == 0, SOS).masked_fill(at == end, EOS)
    return ids[:, :5], tgt.masked_fill(at > end, pad)


def batch(lengths: list[int], pad: int, seed: int) -> Any:
    """src, tgt_in and tgt_out, where so many tokens are to be said."""
    src, tgt = sentences([n - 1 for n in lengths], pad, seed)
    return src, tgt[:, :-1], tgt[:, 1:]


def pull(toy: Toy, group: Any, pad: int) -> tuple[float, Tensor]:
    """The mean loss of a token of a group, in training mode, and its gradient; the
    first number is that of the toy's factor."""
    toy, n = copy.deepcopy(toy).train(), sum((b[2] != pad).sum() for b in group)
    loss = torch.stack([toy_loss(toy, one, pad) for one in group]).sum() / n
    grads = torch.autograd.grad(loss, list(toy.parameters()))
    return loss.item(), torch.cat([grad.flatten() for grad in grads])


def updates(function: Any, toy: Toy, groups: Any, pad: int, train: bool = True) -> Any:
    """What is seen of updates, one for each group of batches (or of validations)."""
    rows = ask(watch, function, train, toy, groups, pad)
    for row in rows:
        expect(row["modes"], f"{name_of(function)} never calls loss_of")
    return rows


def as_one_batch(function: Any, toy: Toy, groups: Any, pad: int, *known: Any) -> None:
    """The gradient, as a multiple of what it should be, and the loss."""
    loss, right = pull(toy, groups[0], pad)
    for row in updates(function, toy, groups, pad):
        expect(all(row["modes"]), "the loss is computed without model.train()")
        times = (row["moved"][0] / right[0]).item()
        match(times, 1.0, "the gradient, if 1 is right, is", *known)
        same = near(row["moved"] / right.norm(), right / right.norm())
        expect(same, "this is another gradient")
        match(number(row["value"], "what update gives"), loss, "the mean loss is")


def validation(function: Any, toy: Toy, batches: Any, pad: int) -> Any:
    return updates(function, toy, [batches], pad, train=False)[0]


def result(row: dict[str, Any]) -> tuple[float, float]:
    loss, perplexity = pair(row["value"], "the mean loss and the perplexity")
    return float(loss), float(perplexity)


def learn(function: Any, src: Tensor, tgt: Tensor, pad: int, seed: int) -> Any:
    """The losses as numbers, the logits of the model at each call, and at the end."""
    losses, (*seen, last) = ask(trained, function, Small(pad + 30, seed), src, tgt)
    many = isinstance(losses, (list, tuple, Tensor))
    expect(many, f"a list of losses is wanted, not {kind(losses)}")
    return [float(loss) for loss in losses], seen, last
