"""A2: positional encoding and masks. Examples that need more than ``gives``."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from .kit import *


def start(function: Any) -> None:
    got, right = table(function, 7, 8), torch.tensor([0.0, 1] * 4)
    swapped = (1 - right, "sine and cosine are swapped")
    blocks = (right.sort().values, "sines and cosines alternate")
    match(got[0], right, "row 0 is", swapped, blocks, hint="positions count from 0")
    match(got[:, 0], torch.arange(7.0).sin(), "column 0 is", hint="sin(p), p = 0, 1 …")
    done("the first row and the first column")


def rates(function: Any, base: int) -> None:
    got, rate = 100 * pairs(table(function, 2, 4))[1], base**-0.5
    doubled = (100 * math.sin(1 / base), "the exponent is doubled")
    usual = (1.0, f"this is base 10000; here it is {base}")
    what = f"100 · PE(1), d_model 4, base {base}: column 2 is"
    match(float(got[2]), 100 * math.sin(rate), what, doubled, usual, hint="the rate?")
    right, hint = 1e4 * (1 - math.cos(rate)), "a pair has one angle"
    match(float(1e4 - 100 * got[3]), right, "10000 · (1 − column 3) is", hint=hint)
    done("the rates")


def step(function: Any, base: int) -> None:
    angles = torch.tensor([3, 3 / base**0.5])
    right = torch.stack([angles.sin(), angles.cos()], -1).flatten()
    got = tensor(ask(function, 3, 4), "the matrix", (4, 4)).float()[:, [1, 3]].sum(1)
    turned = (right * torch.tensor([-1, 1, -1, 1]), "three back: a wrong sign?")
    match(got, right, "4 columns, k = 3: position 0 goes to", turned, hint="a rotation")
    done("the step of three positions")


def too_short(function: Any, *args: Any, rows: int) -> None:
    needed = f"{rows} rows are needed"
    try:
        function(*args)
    except ValueError as error:
        expect(str(rows) in str(error), f"{needed}; the ValueError says {str(error)!r}")
    except NotImplementedError:
        raise
    except Exception as error:
        said = f"{type(error).__name__}: {error}"
        raise Hint(f"{needed}; a ValueError should say so, not {said}") from None
    else:
        raise Hint(f"{needed}, but no ValueError says so")


def padding(function: Any, pad: int) -> None:
    got = tensor(ask(function, torch.tensor([[pad, 2, 5, pad]])), "it", (1, 1, 4, 4))
    hint = "padding hides keys (columns), not queries"
    expect(not got[..., [0, 3]].any(), f"a query sees <pad>: {hint}")
    words = got[0, 0, 1:, 1].all() and got[0, 0, 2:, 2].all()
    expect(words, f"a query, be it <pad>, does not see a word before it: {hint}")
    done("no padding")


def table(function: Any, *shape: int) -> Tensor:
    """The student's table, in float64."""
    got = tensor(ask(function, *shape), "the table", shape, "(n_positions, d_model)")
    expect(got.is_floating_point() and got.isfinite().all(), "these are no sines")
    return got.double()


def pairs(got: Tensor) -> Tensor:
    """With the columns of a pair side by side, where all sines come first."""
    blocks = got.size(1) > 2 and got[0, 1].abs() < 0.5
    return got.unflatten(1, (2, -1)).mT.flatten(1) if blocks else got
