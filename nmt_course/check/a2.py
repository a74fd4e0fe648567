"""A2: positional encoding and masks. One public check for each graded part, and what the two pictures show."""

from __future__ import annotations

import math
import random
from typing import Any

import torch
from torch import Tensor

from .kit import Hint, ask, done, expect, match, near, show, tensor


def start(function: Any) -> None:
    got = table(function, 7, 8)
    mistakes = [
        (torch.tensor([1.0, 0] * 4), "sine and cosine have changed places"),
        (torch.tensor([0.0] * 4 + [1] * 4), "sines and cosines take turns, a pair is two neighbours"),
    ]
    zero = "all angles are 0 there, so it should be 0, 1, 0, 1 … (places count from 0)"
    match(got[0], torch.tensor([0.0, 1] * 4), f"place 0 is {show(got[0])}", mistakes, zero)
    wave = torch.arange(7.0).sin()
    match(got[:, 0], wave, f"column 0 is {show(got[:, 0])}", otherwise=f"pair 0 has the angle p: {show(wave)}")
    done("the first row and the first column")


def rates(function: Any, base: int) -> None:
    got, rate = table(function, 100, 4), base**-0.5
    slow = got[:, 1] if turns(got[:, 2], 1) else got[:, 2]  # pair 1, also where sines and cosines stand in two blocks
    mistakes = [
        (1 / base, "the exponent is doubled: an i that counts 0, 2, 4 … is the 2i of the formula already"),
        (0.01, f"this is base 10000, and here it is {base}"),
        (base**-0.25, "the exponent is halved: it is 2i / d_model for pair i"),
        (base**0.5, "this pair turns faster than pair 0: divide by the power"),
    ]
    shown = f"pair 1 of 4 columns does not turn by 1 / {base}^(2/4) = {rate:.6f} a place"
    match(slow, rate, shown, mistakes, "look at the formula", same=turns)
    expect(paired(got, [1, rate]), "sine and cosine of one pair have the same angle: here they turn at different rates")
    done("the rates")


def step(function: Any, base: int) -> None:
    def at(k: float, *more: float) -> Tensor:
        return torch.tensor([wave(angle) for angle in (k, *more) for wave in (math.sin, math.cos)])

    there = tensor(ask(function, 3, 2), "the matrix", (2, 2)).float() @ at(0)
    mistakes = [
        (at(-3), "this is three places back: the wrong sign, or the transpose"),
        (at(1), "this is one place on: the angle grows by k times the rate"),
    ]
    shown = f"k = 3 takes place 0, (0, 1), to {show(there)}"
    match(there, at(3), shown, mistakes, f"place 3 is {show(at(3))}")
    there = tensor(ask(function, 3, 4), "the matrix", (4, 4)).float() @ at(0, 0)
    right = at(3, 3 / base**0.5)
    match(there, right, f"4 columns: place 0 goes to {show(there)}", otherwise=f"place 3 is {show(right)}")
    done("the step of three places")


def scale(function: Any) -> None:
    weight = torch.tensor([[9.0, 9.0, 9.0, 9.0], [0.5, 1.0, -1.0, 0.0], [3.0, 0.0, 0.0, 1.0]])
    got, rows = _vectors(function, torch.tensor([[1, 2, 1]]), weight, torch.zeros(6, 4))[0], weight[[1, 2, 1]]
    mistakes = [(rows, "the rows as they stand in weight: the factor is missing"), (4 * rows, "√d_model, not d_model")]
    match(got, 2 * rows, f"ids 1, 2, 1 give {show(got)}", mistakes, f"with the factor √4 it is {show(2 * rows)}")
    done("the factor")


def place(function: Any) -> None:
    places = torch.arange(10.0)[:, None].expand(10, 4)  # row p holds p
    for begin in (0, 4):
        got = _vectors(function, torch.zeros(2, 3, dtype=torch.long), torch.zeros(5, 4), places, begin)[..., 0]
        right = [begin, begin + 1, begin + 2]
        expect(got.tolist() == [right] * 2, f"start={begin}: both sentences stand at {right}, not at {got.tolist()}")
    try:
        function(torch.zeros(1, 4, dtype=torch.long), torch.zeros(5, 4), places, 9)
    except ValueError:
        return done("places and start")
    except Exception as error:
        expect(False, f"4 words from place 9 on: a ValueError should say that 13 rows are needed, not {error}")
    expect(False, "4 words from place 9 on need 13 rows, places has 10, and no ValueError says so")


def hidden(function: Any, pad: int) -> None:
    ids = torch.tensor([[2, 5, 0, 3, pad, pad]])
    got = ask(function, ids)
    expect(isinstance(got, Tensor) and got.numel() == 6, "the mask is a tensor with one number for each id")
    got = (got.flatten() != 0).tolist()
    expect(got != [False] * 4 + [True] * 2, "the wrong way round: True means that a place may be attended to")
    for i, (index, seen) in enumerate(zip(ids[0].tolist(), got, strict=True)):
        wrong = f"place {i} holds id {index}: it is {'' if index == pad else 'not '}<pad>, and your mask says {seen}"
        expect(seen == (index != pad), wrong)
    done("what is hidden")


def shape(function: Any, pad: int) -> None:
    got = ask(function, torch.tensor([[2, 5, 6, 3], [2, 3, pad, pad], [2, 7, 3, pad]]))
    _mask(got, (3, 1, 1, 4), "(B, 1, 1, S)", "3 sentences of 4 ids; the last axis counts the keys")
    done("the shape")


def causal(function: Any) -> None:
    got = ask(function, 4)
    _mask(got, (1, 1, 4, 4), "(1, 1, T, T)", "length 4")
    _past(got[0, 0])
    done("past and future")


def future(function: Any) -> None:
    got = ask(function, torch.tensor([[2, 5, 6, 7], [2, 8, 9, 4]]))
    _mask(got, (2, 1, 4, 4), "(B, 1, T, T)", "2 sentences of 4 ids")
    expect(not got.all(), "without <pad> nothing is hidden, not even the future: a key has to pass both masks")
    _past(got[0, 0])
    done("no future")


def padding(function: Any, pad: int) -> None:
    got = ask(function, torch.tensor([[2, 5, pad, pad]]))
    expect(isinstance(got, Tensor) and got.numel() == 16, "the mask is a tensor with one number for each two places")
    got = got.reshape(4, 4) != 0
    rows = "the rows of <pad> are empty, and its columns are not: padding hides keys, not queries"
    expect(got[2:].any() or not got[:2].any(), rows)
    for t in range(4):
        expect(not got[t, 2:].any(), f"query {t} sees a <pad>: {got[t].int().tolist()}")
        expect(got[t, : min(t, 2)].all(), f"query {t} does not see a real word before it: {got[t].int().tolist()}")
    done("no padding")


def softmax(function: Any) -> None:
    got = _weights(function, [2.0, 1.0, 0.0], [True, True, False])
    expect(got[2] < 1e-3 or got[0] > 1e-3, f"{show(got)}: all goes to the hidden key. True = may be attended to")
    expect(got[2] < 1e-3, f"{show(got)}: the third key is hidden and still has a weight")
    late = "hide before the softmax, which goes along the keys, the last axis"
    expect(abs(got.sum() - 1) < 1e-3, f"{show(got)}: the weights sum to {got.sum():.2f}, not 1: {late}")
    right = torch.tensor([2.0, 1.0]).softmax(-1)
    expect(near(got[:2], right, 1e-4), f"{show(got)}: the two that are left share the weight as {show(right)}")
    done("hidden keys")


def half(function: Any) -> None:
    scores = torch.tensor([[[[2.0, 1.0, 0.0]]]], dtype=torch.float16)
    try:
        got = ask(function, scores, torch.tensor([[[[True, True, False]]]]))
    except Hint as hint:
        expect("overflow" not in str(hint), f"scores of float16: a number does not fit, which one? ({hint.__cause__})")
        raise
    expect(isinstance(got, Tensor) and got.dtype == torch.float16, "scores of float16 should give weights of float16")
    expect(got.isfinite().all(), f"{show(got)}: which of your numbers does not fit into float16?")
    done("half precision")


def empty(function: Any) -> None:
    got = _weights(function, [2.0, 1.0, 0.0], [False, False, False])
    expect(not got.isnan().any(), f"{show(got)}: a softmax of nothing but −∞ has no value")
    expect((got == 0).all(), f"{show(got)}: a query that may look at nothing should get zeros, not equal shares")
    done("a query without keys")


# ----------------------------------------------------------------- what public and hidden tests share


def table(function: Any, n_positions: int, d_model: int) -> Tensor:
    """The student's table, in float64."""
    got = tensor(ask(function, n_positions, d_model), "the table", (n_positions, d_model), "(n_positions, d_model)")
    expect(got.is_floating_point(), f"the table holds {got.dtype}: sines are no whole numbers")
    expect(got.isfinite().all() and got.abs().max() < 1 + 1e-6, "sines and cosines lie between −1 and 1")
    return got.double()


def turns(column: Tensor, rate: float) -> bool:
    """Whether a column is a wave that turns by ``rate`` at each place, wherever it starts."""
    angle = torch.arange(len(column), dtype=torch.float64) * rate
    waves = torch.stack([angle.sin(), angle.cos()], dim=1)
    fit = waves @ torch.linalg.lstsq(waves, column.double()[:, None]).solution
    return bool((fit[:, 0] - column).abs().max() < 1e-4)


def paired(got: Tensor, wanted: list[float]) -> bool:
    """Whether both columns of each pair turn at their rate; pairs may be neighbours, or stand in two blocks."""
    n = len(wanted)
    neighbours, blocks = [(2 * i, 2 * i + 1) for i in range(n)], [(i, i + n) for i in range(n)]
    return any(
        all(turns(got[:, column], rate) for pair, rate in zip(pairs, wanted, strict=True) for column in pair)
        for pairs in (neighbours, blocks)
    )


def _vectors(function: Any, ids: Tensor, weight: Tensor, places: Tensor, *begin: int) -> Tensor:
    got = ask(function, ids, weight, places, *begin)
    return tensor(got, "what embed gives", (*ids.shape, weight.size(1)), "(B, T, d_model)")


def _mask(got: Any, wanted: tuple[int, ...], axes: str, given: str) -> None:
    expect(isinstance(got, Tensor) and got.dtype == torch.bool, "a mask is a tensor of torch.bool")
    tensor(got, f"{given}: the mask", wanted, axes)


def _past(got: Tensor) -> None:
    expect(not got.equal(torch.ones(4, 4).triu(1).bool()), "the wrong way round: True means that a place may be seen")
    expect(got.diagonal().any(), "no place sees itself: tgt_in is shifted already, so its own word is no secret")
    for t, s in torch.cartesian_prod(torch.arange(4), torch.arange(4)).tolist():
        when = "itself" if s == t else "the past, which it may see" if s < t else "the future, which is hidden"
        says = bool(got[t, s])
        expect(says == (s <= t), f"query {t}, key {s}: that is {when}, and your mask says {says}")


def _weights(function: Any, scores: list[float], mask: list[bool]) -> Tensor:
    got = ask(function, torch.tensor([[[scores]]]), torch.tensor([[[mask]]]))
    return tensor(got, "the table of weights", (1, 1, 1, 3))[0, 0, 0]


# -------------------------------------------------------------------------------- the pictures


def two_tables(seed: str) -> list[Tensor]:
    """Two tables of 100 places and 128 columns, one of them with the doubled exponent; ``seed`` says which is first."""
    from nmt_lib import sinusoids  # not there while this is graded

    column = torch.arange(128)
    angle = torch.arange(100)[:, None] / 10000 ** (2 * column / 128)
    doubled = torch.where(column % 2 == 1, angle.cos(), angle.sin())
    return random.Random(seed).sample([sinusoids(100, 128), doubled], 2)


def four_masks(seed: str) -> list[Tensor]:
    """A target mask for three words and two ``<pad>``, and three wrong ones, in the order that ``seed`` draws."""
    drawn = ["10000 11000 11100 11100 11100", "11100 11100 11100 11110 11111",
             "10000 11000 11100 00000 00000", "00000 10000 11000 11100 11100"]  # fmt: skip
    order = random.Random(seed).sample(drawn, 4)
    return [torch.tensor([[int(cell) for cell in row] for row in grid.split()]) for grid in order]
