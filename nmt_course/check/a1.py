"""A1: tokenizer, vocabulary and batches. Examples that need more than ``gives``."""

from __future__ import annotations

from typing import Any

from .kit import *


def ids(itos: list[str]) -> list[int]:
    """Of <pad>, <unk>, <sos> and <eos>."""
    return [itos.index(f"<{name}>") for name in ("pad", "unk", "sos", "eos")]


def plan(function: Any) -> None:
    lengths = [3, 9, 4, 8, 3, 7]
    got = [list(rows) for rows in ask(function, lengths, 16)]
    every = sorted(i for rows in got for i in rows)
    match(every, list(range(6)), "these indices are in the batches:")
    for rows in got:
        held = [lengths[i] for i in rows]
        shown = f"sentences of {held} ids take {len(held) * max(held)} with padding"
        expect(len(held) * max(held) <= 16, f"{shown}; the budget is 16")
    done("the budget")


def crowd(function: Any, most: int) -> None:
    got = [list(rows) for rows in ask(function, [2] * 30 + [3] * 30, 1000)]
    n = max(map(len, got))
    expect(n <= most, f"a batch has {n} sentences; {most} are the most")
    hint = "fill a batch before you start the next, also with another length"
    match(len(got), -(-60 // most), "60 short sentences: batches", hint=hint)
    done("full batches")


def share(value: Any) -> None:
    expect(value is not None, "share is not written yet: set it, and run its cell")
    between = f"share is {value}; a share lies between 0 and 1"
    expect(0 <= number(value, "share") <= 1, between)
    done("share")
