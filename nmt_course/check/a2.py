"""A2: positional encoding and masks. One public check for each graded part, and what the two pictures show."""

from __future__ import annotations

import math
import random
from typing import Any

import torch
from torch import Tensor

from . import Hint, ask, done, expect


def start(function: Any) -> None:
    """Place 0, and whose column is whose."""
    got = table(function, 7, 8)
    row = [round(number, 4) for number in got[0].tolist()]
    expect(row != [1, 0] * 4, f"place 0 is {row}: sine and cosine have changed places")
    expect(row != [0] * 4 + [1] * 4, f"place 0 is {row}: sines and cosines take turns, a pair is two neighbours")
    expect(abs(row[0] - math.sin(1)) > 1e-3, f"place 0 is {row}: this is place 1, count from 0")
    expect(row == [0, 1] * 4, f"place 0 is {row}: all angles are 0 there, so it should be 0, 1, 0, 1 …")
    wave = torch.arange(7.0).sin()
    expect(
        _close(got[:, 0], wave), f"column 0 is {_short(got[:, 0])}: pair 0 has the angle p, which makes {_short(wave)}"
    )
    done("the first row and the first column")


def rates(function: Any, base: int) -> None:
    """How fast each pair turns."""
    got, rate = table(function, 100, 4), base**-0.5
    slow = got[:, 1] if turns(got[:, 2], 1) else got[:, 2]  # pair 1, also where sines and cosines stand in two blocks
    for wrong, why in (
        (1 / base, "the exponent is doubled: an i that counts 0, 2, 4 … is the 2i of the formula already"),
        (0.01, f"this is base 10000, and here it is {base}"),
        (base**-0.25, "the exponent is halved: it is 2i / d_model for pair i"),
        (base**0.5, "this pair turns faster than pair 0: divide by the power"),
    ):
        expect(
            turns(slow, rate) or not turns(slow, wrong), f"pair 1 turns by {wrong:.6f} a place, not {rate:.6f}: {why}"
        )
    expect(turns(slow, rate), f"pair 1 of 4 columns should turn by 1 / {base}^(2/4) = {rate:.6f} a place, and does not")
    expect(paired(got, [1, rate]), "sine and cosine of one pair have the same angle: here they turn at different rates")
    done("the rates")


def step(function: Any, base: int) -> None:
    """One matrix for "k places on"."""
    got = _matrix(function, 3, 2)
    there = got @ torch.tensor([0.0, 1.0])  # from place 0
    right = torch.tensor([math.sin(3), math.cos(3)])
    back = torch.tensor([math.sin(-3), math.cos(-3)])
    expect(not _close(there, back), "k = 3 goes three places back: the wrong sign, or the transpose")
    one = torch.tensor([math.sin(1), math.cos(1)])
    expect(not _close(there, one), "k = 3 goes one place on: the angle grows by k times the rate")
    expect(_close(there, right), f"k = 3 takes place 0, (0, 1), to {_short(there)}; place 3 is {_short(right)}")
    there, angle = _matrix(function, 3, 4) @ torch.tensor([0.0, 1.0, 0.0, 1.0]), 3 / base**0.5
    right = torch.tensor([math.sin(3), math.cos(3), math.sin(angle), math.cos(angle)])
    expect(_close(there, right), f"4 columns: place 0 goes to {_short(there)}; place 3 is {_short(right)}")
    done("the step of three places")


def scale(function: Any) -> None:
    """√d_model."""
    weight = torch.tensor([[9.0, 9.0, 9.0, 9.0], [0.5, 1.0, -1.0, 0.0], [3.0, 0.0, 0.0, 1.0]])
    got = _vectors(function, torch.tensor([[1, 2, 1]]), weight, torch.zeros(6, 4))[0]
    expect(not _close(got, weight[[1, 2, 1]]), "the rows come out as they stand in weight: the factor is missing")
    expect(not _close(got, 4 * weight[[1, 2, 1]]), "the factor is √d_model, not d_model")
    right = 2 * weight[[1, 2, 1]]
    expect(
        _close(got, right), f"ids 1, 2, 1 without places give {_short(got)}; with the factor √4 it is {_short(right)}"
    )
    done("the factor")


def place(function: Any) -> None:
    """Each word gets the row of its place."""
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
    """Which places are filling."""
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
    """One row for all queries."""
    got = ask(function, torch.tensor([[2, 5, 6, 3], [2, 3, pad, pad], [2, 7, 3, pad]]))
    expect(isinstance(got, Tensor) and got.dtype == torch.bool, "a mask is a tensor of torch.bool: compare ids")
    expect(got.shape != (3, 1, 4, 1), "(3, 1, 4, 1) hides queries: the last axis counts the keys")
    expect(got.shape == (3, 1, 1, 4), f"3 sentences of 4 ids give {tuple(got.shape)}, not (B, 1, 1, S) = (3, 1, 1, 4)")
    done("the shape")


def causal(function: Any) -> None:
    """Up to itself."""
    got = ask(function, 4)
    expect(isinstance(got, Tensor) and got.dtype == torch.bool, "a mask is a tensor of torch.bool")
    expect(got.shape == (1, 1, 4, 4), f"length 4 gives {tuple(got.shape)}, not (1, 1, 4, 4)")
    _past(got[0, 0])
    done("past and future")


def future(function: Any) -> None:
    """The causal half of the target mask."""
    got = ask(function, torch.tensor([[2, 5, 6, 7], [2, 8, 9, 4]]))
    expect(isinstance(got, Tensor) and got.dtype == torch.bool, "a mask is a tensor of torch.bool")
    expect(got.shape == (2, 1, 4, 4), f"2 sentences of 4 ids give {tuple(got.shape)}, not (B, 1, T, T) = (2, 1, 4, 4)")
    expect(not got.all(), "without <pad> nothing is hidden, not even the future: a key has to pass both masks")
    _past(got[0, 0])
    done("no future")


def padding(function: Any, pad: int) -> None:
    """The other half: no <pad> is a key."""
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
    """Hidden before the softmax."""
    got = _weights(function, [2.0, 1.0, 0.0], [True, True, False])
    expect(got[2] < 1e-3 or got[0] > 1e-3, f"{_short(got)}: all goes to the hidden key. True = may be attended to")
    expect(got[2] < 1e-3, f"{_short(got)}: the third key is hidden and still has a weight")
    expect(
        got.sum() < 1.001, f"{_short(got)}: the weights of the keys, on the last axis, sum to {got.sum():.2f}, not 1"
    )
    late = "the hidden key took its share before it was removed. Hide it before the softmax"
    expect(got.sum() > 0.999, f"{_short(got)}: the weights sum to {got.sum():.2f}, not 1: {late}")
    right = torch.tensor([2.0, 1.0]).softmax(-1)
    expect(_close(got[:2], right, 1e-4), f"{_short(got)}: the two that are left share the weight as {_short(right)}")
    done("hidden keys")


def half(function: Any) -> None:
    """float16."""
    scores = torch.tensor([[[[2.0, 1.0, 0.0]]]], dtype=torch.float16)
    try:
        got = ask(function, scores, torch.tensor([[[[True, True, False]]]]))
    except Hint as hint:
        expect("overflow" not in str(hint), f"scores of float16: a number does not fit, which one? ({hint.__cause__})")
        raise
    expect(isinstance(got, Tensor) and got.dtype == torch.float16, "scores of float16 should give weights of float16")
    expect(got.isfinite().all(), f"{_short(got)}: which of your numbers does not fit into float16?")
    done("half precision")


def empty(function: Any) -> None:
    """Nothing to look at: nothing."""
    got = _weights(function, [2.0, 1.0, 0.0], [False, False, False])
    expect(not got.isnan().any(), f"{_short(got)}: a softmax of nothing but −∞ has no value")
    expect(got.sum() < 0.5, f"{_short(got)}: a query that may look at nothing should get zeros, not equal shares")
    expect((got == 0).all(), f"{_short(got)}: a query that may look at nothing should get zeros")
    done("a query without keys")


# ----------------------------------------------------------------- what public and hidden tests share


def table(function: Any, n_positions: int, d_model: int) -> Tensor:
    """The student's table, in float64."""
    got = ask(function, n_positions, d_model)
    expect(isinstance(got, Tensor), f"the table is a {type(got).__name__}, not a tensor")
    expect(got.is_floating_point(), f"the table holds {got.dtype}: sines are no whole numbers")
    want = (n_positions, d_model)
    expect(got.shape == want, f"the shape is {tuple(got.shape)}, not (n_positions, d_model) = {want}")
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
    half_width = len(wanted)
    return any(
        all(turns(got[:, a], rate) and turns(got[:, b], rate) for (a, b), rate in zip(pairs, wanted, strict=True))
        for pairs in (
            [(2 * i, 2 * i + 1) for i in range(half_width)],
            [(i, i + half_width) for i in range(half_width)],
        )
    )


def _close(got: Tensor, right: Tensor, within: float = 1e-3) -> bool:
    return got.shape == right.shape and bool((got.double() - right.double()).abs().max() < within)


def _short(numbers: Tensor) -> Any:
    return [_short(row) for row in numbers] if numbers.ndim > 1 else [round(x, 3) for x in numbers.tolist()]


def _matrix(function: Any, k: int, d_model: int) -> Tensor:
    got = ask(function, k, d_model)
    expect(isinstance(got, Tensor) and got.shape == (d_model, d_model), f"give a tensor of shape {(d_model, d_model)}")
    return got.float()


def _vectors(function: Any, ids: Tensor, weight: Tensor, places: Tensor, begin: int | None = None) -> Tensor:
    got = ask(function, ids, weight, places) if begin is None else ask(function, ids, weight, places, begin)
    expect(isinstance(got, Tensor), f"embed gives a tensor, not {type(got).__name__}")
    want = (*ids.shape, weight.size(1))
    expect(got.shape == want, f"the shape is {tuple(got.shape)}, not (B, T, d_model) = {want}")
    return got


def _past(got: Tensor) -> None:
    expect(not got.equal(torch.ones(4, 4).triu(1).bool()), "the wrong way round: True means that a place may be seen")
    expect(got.diagonal().any(), "no place sees itself: tgt_in is shifted already, so its own word is no secret")
    for t in range(len(got)):
        for s in range(len(got)):
            when = "itself" if s == t else "the past, which it may see" if s < t else "the future, which is hidden"
            expect(
                bool(got[t, s]) == (s <= t), f"query {t}, key {s}: that is {when}, and your mask says {bool(got[t, s])}"
            )


def _weights(function: Any, scores: list[float], mask: list[bool]) -> Tensor:
    got = ask(function, torch.tensor([[[scores]]]), torch.tensor([[[mask]]]))
    expect(isinstance(got, Tensor) and got.shape == (1, 1, 1, 3), "the weights have the shape of the scores")
    return got[0, 0, 0]


# -------------------------------------------------------------------------------- the pictures


def two_tables(seed: str) -> list[Tensor]:
    """Two tables of 100 places and 128 columns, one of them with the doubled exponent; ``seed`` says which is first."""
    from nmt_lib import sinusoids

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
