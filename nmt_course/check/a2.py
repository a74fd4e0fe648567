"""A2: positional encoding and masks. One public check for each graded part."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from .kit import Hint, ask, done, expect, match, show, tensor
from .kit import slopes as slopes
from .kit import spares as spares


def start(function: Any) -> None:
    got, right = table(function, 7, 8), torch.tensor([0.0, 1] * 4)
    mistakes = [
        (1 - right, "sine and cosine have changed places"),
        (right.sort().values, "sines and cosines take turns, a pair is two neighbours"),
    ]
    zero = "all angles are 0 there, so it should be 0, 1, 0, 1 … (places count from 0)"
    match(got[0], right, f"place 0 is {show(got[0])}", mistakes, zero)
    wave = torch.arange(7.0).sin()
    match(
        got[:, 0],
        wave,
        f"column 0 is {show(got[:, 0])}",
        otherwise=f"pair 0 has the angle p: {show(wave)}",
    )
    done("the first row and the first column")


def rates(function: Any, base: int) -> None:
    got, rate = table(function, 100, 4), base**-0.5
    slow = (
        got[:, 1] if turns(got[:, 2], 1) else got[:, 2]
    )  # pair 1, also where sines and cosines stand in two blocks
    mistakes = [
        (
            1 / base,
            (
                "the exponent is doubled: an i that counts 0, 2, 4 … is the 2i of "
                "the formula already"
            ),
        ),
        (0.01, f"this is base 10000, and here it is {base}"),
    ]
    shown = (
        f"pair 1 of 4 columns does not turn by 1 / {base}^(2/4) = {rate:.6f} a place"
    )
    match(slow, rate, shown, mistakes, "look at the formula", same=turns)
    expect(
        paired(got, [1, rate]),
        (
            "sine and cosine of one pair have the same angle: here they turn at "
            "different rates"
        ),
    )
    done("the rates")


def step(function: Any, base: int) -> None:
    def at(*angles: float) -> Tensor:
        return torch.tensor(
            [wave(angle) for angle in angles for wave in (math.sin, math.cos)]
        )

    back = "this is three places back: the wrong sign, or the transpose"
    for width, right, wrong in (
        (2, at(3), at(-3)),
        (4, at(3, 3 / base**0.5), at(-3, -3 / base**0.5)),
    ):
        there = tensor(
            ask(function, 3, width), "the matrix", (width, width)
        ).float() @ at(*[0.0] * (width // 2))
        shown = f"{width} columns, k = 3: place 0 goes to {show(there)}"
        match(there, right, shown, [(wrong, back)], f"place 3 is {show(right)}")
    done("the step of three places")


def scale(function: Any, reserved: int) -> None:
    weight = torch.tensor(
        [[9.0, 9.0, 9.0, 9.0], [0.5, 1.0, -1.0, 0.0], [3.0, 0.0, 0.0, 1.0]]
    )
    got, rows = (
        _vectors(
            function, torch.tensor([[1, 2, 1]]), weight, torch.zeros(reserved + 6, 4)
        )[0],
        weight[[1, 2, 1]],
    )
    mistakes = [
        (rows, "the rows as they stand in weight: the factor is missing"),
        (4 * rows, "√d_model, not d_model"),
    ]
    match(
        got,
        2 * rows,
        f"ids 1, 2, 1 give {show(got)}",
        mistakes,
        f"with the factor √4 it is {show(2 * rows)}",
    )
    done("the factor")


def place(function: Any, reserved: int) -> None:
    n = reserved + 10
    places = torch.arange(float(-reserved), 10)[:, None].expand(n, 4)  # place p holds p
    got = _vectors(
        function, torch.zeros(2, 3, dtype=torch.long), torch.zeros(5, 4), places, 4
    )[..., 0].tolist()
    rows = (
        "both sentences stand at places 4, 5, 6, whose rows come behind the "
        f"{reserved} reserved ones"
    )
    expect(got == [[4, 5, 6]] * 2, f"start=4: {rows}, not at {got}")
    short = f"4 words from place 9 on need {n + 3} rows, places has {n}, and"
    try:
        function(torch.zeros(1, 4, dtype=torch.long), torch.zeros(5, 4), places, 9)
        raise Hint(f"{short} no ValueError says so")
    except ValueError as error:
        expect(
            str(n + 3) in str(error),
            f"{short} your ValueError says {str(error)!r}, without the number",
        )
    done("places and start")


def hidden(function: Any, pad: int) -> None:
    ids, right = torch.tensor([[2, 5, 0, 3, pad, pad]]), [True] * 4 + [False] * 2
    got = ask(function, ids)
    expect(
        isinstance(got, Tensor) and got.numel() == 6,
        "the mask is a tensor with one number for each id",
    )
    got = (got.flatten() != 0).tolist()
    expect(
        got != right[::-1] and got != [not r for r in right],
        "the wrong way round: True = may be attended to",
    )
    expect(
        got == right,
        f"ids {ids[0].tolist()} give {got}; only <pad>, which is {pad} here, is hidden",
    )
    done("what is hidden")


def shape(function: Any, pad: int) -> None:
    got = ask(function, torch.tensor([[2, 5, 6, 3], [2, 3, pad, pad], [2, 7, 3, pad]]))
    _mask(
        got,
        (3, 1, 1, 4),
        "(B, 1, 1, S)",
        "3 sentences of 4 ids; the last axis counts the keys",
    )
    done("the shape")


def causal(function: Any, window: int) -> None:
    got = ask(function, 4)
    _mask(got, (1, 1, 4, 4), "(1, 1, T, T)", "length 4")
    _past(got[0, 0])
    _window(ask(function, window + 3), window)
    done("past and future")


def future(function: Any, window: int) -> None:
    got = ask(function, torch.tensor([[2, 5, 6, 7], [2, 8, 9, 4]]))
    _mask(got, (2, 1, 4, 4), "(B, 1, T, T)", "2 sentences of 4 ids")
    expect(
        not got.all(),
        (
            "without <pad> nothing is hidden, not even the future: a key has to "
            "pass both masks"
        ),
    )
    _past(got[0, 0])
    _window(ask(function, torch.full((1, window + 3), 5)), window)
    done("no future")


def padding(function: Any, pad: int) -> None:
    got = ask(function, torch.tensor([[2, 5, pad, pad]]))
    expect(
        isinstance(got, Tensor) and got.numel() == 16,
        "the mask is a tensor with one number for each two places",
    )
    got = got.reshape(4, 4) != 0
    expect(
        not got[:, 2:].any(),
        "the columns of <pad> are not empty: padding hides keys, not queries",
    )
    expect(
        got[1:, 0].all() and got[2:, 1].all(),
        f"a query does not see a real word before it: {got.int().tolist()}",
    )
    done("no padding")


def softmax(function: Any, sharp: float) -> None:
    got, scores = (
        _weights(function, [True, True, False]),
        torch.tensor([2.0, 1.0, -math.inf]),
    )
    right = (sharp * scores).softmax(-1)
    mistakes = [
        (
            torch.tensor([0.0, 0.0, 1.0]),
            "all goes to the hidden key. True = may be attended to",
        ),
        (
            (sharp * torch.tensor([2.0, 1.0, 0.0])).softmax(-1) * right.sign(),
            "hide before the softmax, not after it",
        ),
        (scores.softmax(-1), f"the sharpness of the rules, {sharp}, is missing"),
    ]
    late = f"the hidden key gets 0, the two others share 1: {show(right)}"
    match(
        got,
        right,
        f"scores 2, 1, 0, the last one hidden, give {show(got)}",
        mistakes,
        late,
    )
    done("hidden keys")


def half(function: Any) -> None:
    got = _weights(function, [True, True, False], torch.float16)
    expect(
        got.dtype == torch.float16, "scores of float16 should give weights of float16"
    )
    expect(
        got.isfinite().all(),
        f"{show(got)}: which of your numbers does not fit into float16?",
    )
    done("half precision")


def empty(function: Any) -> None:
    got = _weights(function, [False, False, False])
    expect(
        not got.isnan().any(), f"{show(got)}: a softmax of nothing but −∞ has no value"
    )
    expect(
        (got == 0).all(),
        (
            f"{show(got)}: a query that may look at nothing should get zeros, not "
            "equal shares"
        ),
    )
    done("a query without keys")


# ----------------------------------------------------------------- what public and
# hidden tests share


def table(function: Any, n_positions: int, d_model: int) -> Tensor:
    """The student's table, in float64."""
    got = tensor(
        ask(function, n_positions, d_model),
        "the table",
        (n_positions, d_model),
        "(n_positions, d_model)",
    )
    expect(
        got.is_floating_point(),
        f"the table holds {got.dtype}: sines are no whole numbers",
    )
    expect(
        got.isfinite().all() and got.abs().max() < 1 + 1e-6,
        "sines and cosines lie between −1 and 1",
    )
    return got.double()


def turns(column: Tensor, rate: float) -> bool:
    """Whether a column is a wave that turns by ``rate`` at each place, wherever it
    starts."""
    angle = torch.arange(len(column), dtype=torch.float64) * rate
    waves = torch.stack([angle.sin(), angle.cos()], dim=1)
    fit = waves @ torch.linalg.lstsq(waves, column.double()[:, None]).solution
    return bool((fit[:, 0] - column).abs().max() < 1e-4)


def paired(got: Tensor, wanted: list[float]) -> bool:
    """Whether both columns of each pair turn at their rate; pairs may be neighbours, or
    stand in two blocks."""
    orders = [rate for rate in wanted for _ in range(2)], [*wanted, *wanted]
    return any(all(map(turns, got.T, order)) for order in orders)


def _vectors(
    function: Any, ids: Tensor, weight: Tensor, places: Tensor, *begin: int
) -> Tensor:
    got = ask(function, ids, weight, places, *begin)
    return tensor(
        got, "what embed gives", (*ids.shape, weight.size(1)), "(B, T, d_model)"
    )


def _mask(got: Any, wanted: tuple[int, ...], axes: str, given: str) -> None:
    expect(
        isinstance(got, Tensor) and got.dtype == torch.bool,
        "a mask is a tensor of torch.bool",
    )
    tensor(got, f"{given}: the mask", wanted, axes)


def _past(got: Tensor) -> None:
    right = torch.ones(4, 4).tril().bool()
    expect(
        not got.equal(~right),
        "the wrong way round: True means that a place may be seen",
    )
    expect(
        got.diagonal().any(),
        "no place sees itself: tgt_in is shifted already, so its own word is no secret",
    )
    wrong = (got != right).nonzero().tolist()
    expect(
        not wrong,
        (
            f"wrong at [query, key] = {wrong[:3]}: a query sees itself and its "
            "past, no future"
        ),
    )


def _window(got: Tensor, window: int) -> None:
    n = got.reshape(window + 3, window + 3)[-1].sum()
    expect(
        n == window,
        (
            f"the last of {window + 3} places sees {n} places: the window of the "
            f"rules has {window}"
        ),
    )


def _weights(
    function: Any, mask: list[bool], dtype: torch.dtype = torch.float32
) -> Tensor:
    got = ask(
        function,
        torch.tensor([[[[2.0, 1.0, 0.0]]]], dtype=dtype),
        torch.tensor([[[mask]]]),
    )
    return tensor(got, "the table of weights", (1, 1, 1, 3))[0, 0, 0]
