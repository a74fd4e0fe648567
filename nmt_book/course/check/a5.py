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
    group, toy = batch([4, 2], pad, 1), Toy(1).eval()
    still = state(toy, group, pad)[1] / 6 / pull(toy, [group], pad)[1][0]
    known = [
        (0.75, "divided by 8 positions, but two of them are <pad>"),
        (2.0, "the previous update's is in it: zero_grad()"),
        (still.item(), "the loss is computed without model.train()"),
    ]
    as_one_batch(function, toy, [[group], [group]], pad, *known)
    done("one update")


def group(function: Any, pad: int) -> None:
    toy, one, nine = Toy(1), batch([1], pad, 2), batch([4, 3, 2], pad, 3)
    both, a, b = (pull(toy, x, pad)[1][0] for x in ([one, nine], [one], [nine]))
    alike = "so one token of the first batch weighs as much as nine of the second"
    known = [
        ((a + b) / both, f"each batch is divided by its own tokens, {alike}"),
        (0.9 * b / both, "only the last batch is in the gradient"),
    ]
    as_one_batch(function, toy, [[one, nine]], pad, *known)
    done("a group of batches")


def mean(function: Any, pad: int) -> None:
    toy, batches = Toy(10).eval(), [batch([1], pad, 2), batch([4, 3, 2], pad, 3)]
    a, b = (toy_loss(toy, each, pad).item() for each in batches)
    loss, perplexity = result(ask(validation, function, toy, batches, pad)[0])
    known = (a + b / 9) / 2, "this is the mean of the batch means"
    title = f"1 token with a loss of {a:.4g}, 9 tokens with {b:.4g} in total: mean"
    match(loss, (a + b) / 10, title, known)
    match(perplexity, math.exp(loss), f"mean loss {loss:.4g}: perplexity", hint="exp")
    done("the validation loss")


def mode(function: Any, pad: int) -> None:
    small = batch([2, 1], pad, 5)
    for training in (True, False):
        toy = Toy(3).train(training)
        value, left = ask(validation, function, toy, [small], pad)
        noisy = (state(toy.train(), small, pad)[0] / 3).item()
        was = state(toy.train(training), small, pad)
        hint = "the loss is computed in training mode: call model.eval()"
        expect(not any(near(got, noisy) for got in result(value)), hint)
        expect(near(left[0], was[0]), "the model is left in another mode than before")
        expect(near(left, was), "no gradient can be computed after validate")
    done("mode and gradients")


# -------------------------------------------------- what public and hidden tests share


def loss_value(function: Any, *args: Any) -> float:
    return number(ask(function, *args), f"{name_of(function)}(…)")


def half(n: int) -> tuple[Tensor, Tensor]:
    """Logits ``(1, 1, n)`` and ids ``(1, 1)``: the right token, 5, has p = 1/2."""
    scores = torch.zeros(1, 1, n)
    scores[..., 5] = math.log(n - 1)
    return scores, torch.tensor([[5]])


def sentences(lengths: list[int], pad: int, seed: int) -> tuple[Tensor, Tensor]:
    """src ``(B, S)`` and tgt ``(B, L)`` with <sos> and <eos>, padded with <pad>."""
    draw, width = torch.Generator().manual_seed(seed), max(lengths) + 2
    ids = torch.randint(20, pad + 30, (len(lengths), 5 + width), generator=draw)
    end, at = torch.tensor(lengths)[:, None] + 1, torch.arange(width)
    tgt = ids[:, 5:].masked_fill(at == 0, SOS).masked_fill(at == end, EOS)
    return ids[:, :5], tgt.masked_fill(at > end, pad)


def batch(lengths: list[int], pad: int, seed: int) -> Any:
    """src, tgt_in and tgt_out, with these numbers of target tokens."""
    src, tgt = sentences([n - 1 for n in lengths], pad, seed)
    return src, tgt[:, :-1], tgt[:, 1:]


def pull(toy: Toy, group: Any, pad: int) -> tuple[float, Tensor]:
    """The mean loss of a group's tokens in training mode, and its gradient; the
    gradient begins with that of the toy's factor."""
    toy, n = copy.deepcopy(toy).train(), sum((b[2] != pad).sum() for b in group)
    both = torch.stack([state(toy, one, pad) for one in group]).sum(0) / n
    return both[0].item(), both[1:]


def as_one_batch(
    function: Any, toy: Toy, groups: Any, pad: int, *known: Any, limit: float = math.inf
) -> None:
    """The gradient of each group, as a multiple of the right one, and the loss."""
    rows = ask(updates, function, toy, groups, pad)
    for (value, moved), group in zip(rows, groups, strict=True):
        loss, right = pull(toy, group, pad)
        right *= min(1, limit / right.norm().item())
        times = (moved[0] / right[0]).item()
        match(times, 1.0, "as a multiple of the right one, the gradient is", *known)
        expect(near(moved, right), "the gradient is wrong")
        match(number(value, "what update returns"), loss, "the mean loss is")


def result(value: Any) -> tuple[float, float]:
    loss, perplexity = pair(value, "the mean loss and the perplexity")
    return float(loss), float(perplexity)


def learn(function: Any, src: Tensor, tgt: Tensor, pad: int, seed: int) -> Any:
    """The losses as numbers, and the model's logits at each call and at the end."""
    losses, (*seen, last) = ask(trained, function, Small(pad + 30, seed), src, tgt)
    many = isinstance(losses, (list, tuple, Tensor))
    expect(many, f"expected a list of losses, got {kind(losses)}")
    return [float(loss) for loss in losses], seen, last
