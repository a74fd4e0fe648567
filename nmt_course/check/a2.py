"""A2: positional encoding and masks. Examples that need more than ``gives``."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from .kit import *


def start(function: Any) -> None:
    right = torch.tensor([0.0, 1] * 4)
    swapped = (1 - right, "sine and cosine are swapped")
    blocks = (right.sort().values, "sines and cosines should alternate")
    got = table(function, 7, 8)[0]
    match(got, right, "row 0 is", swapped, blocks, hint="positions count from 0")
    done("the first row")


def rates(function: Any, base: int) -> None:
    got, rate = 100 * pairs(table(function, 2, 4))[1, 2], base**-0.5
    doubled = (100 * math.sin(1 / base), "the exponent is doubled")
    usual = (1.0, f"this is base 10000; here it is {base}")
    what = f"100 · PE(1), d_model 4, base {base}: column 2 is"
    match(float(got), 100 * math.sin(rate), what, doubled, usual, hint="the rate?")
    done("the rates")


def step(function: Any, base: int) -> None:
    angles = torch.tensor([3, 3 / base**0.5])
    right = torch.stack([angles.sin(), angles.cos()], -1).flatten()
    got = tensor(ask(function, 3, 4), "the matrix", (4, 4)).float()[:, [1, 3]].sum(1)
    back = (right * torch.tensor([-1, 1, -1, 1]), "three steps back: a wrong sign?")
    match(got, right, "4 columns, k = 3: position 0 becomes", back, hint="a rotation")
    done("the step of three positions")


def too_short(function: Any, *args: Any, rows: int) -> None:
    said = ""
    try:
        function(*args)
    except ValueError as error:
        said = str(error)
    needed = f"{rows} rows are needed: raise a ValueError that says so"
    expect(str(rows) in said, needed)


def padding(function: Any, pad: int) -> None:
    got = tensor(ask(function, torch.tensor([[pad, 2, 5, pad]])), "it", (1, 1, 4, 4))
    hint = "padding hides keys (columns), not queries (rows)"
    expect(not got[..., [0, 3]].any(), f"a query sees <pad>: {hint}")
    expect(got[0, 0, 3, [1, 2]].all(), f"the last <pad> sees too few words: {hint}")
    done("no padding")


def table(function: Any, *shape: int) -> Tensor:
    """The student's table, in float64."""
    got = tensor(ask(function, *shape), "the table", shape, "(n_positions, d_model)")
    expect(got.isfinite().all(), "the table has numbers that are no sines")
    return got.double()


def pairs(got: Tensor) -> Tensor:
    """The table with the columns of a pair side by side, even if all sines are first
    in it."""
    blocks = got.size(1) > 2 and got[0, 1].abs() < 0.5
    return got.unflatten(1, (2, -1)).mT.flatten(1) if blocks else got
