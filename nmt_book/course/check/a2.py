"""A2: positional encoding and masks. Examples that need more than ``gives``."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from .kit import *


def too_short(function: Any, *args: Any, rows: int) -> None:
    message = ""
    try:
        function(*args)
    except ValueError as error:
        message = str(error)
    needed = f"{rows} rows are needed: raise a ValueError that says so"
    expect(str(rows) in message, needed)


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
