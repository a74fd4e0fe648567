"""A1: tokenizer, vocabulary and batches. Examples that need more than ``gives``."""

from __future__ import annotations

from typing import Any

from .kit import *


def ids(itos: list[str]) -> list[int]:
    """Those of <pad>, <unk>, <sos> and <eos>."""
    return [itos.index(f"<{name}>") for name in ("pad", "unk", "sos", "eos")]


def plan(function: Any) -> None:
    lengths = [3, 9, 4, 8, 3, 7]
    got = [list(rows) for rows in ask(function, lengths, 16)]
    every = sorted(i for rows in got for i in rows)
    match(every, list(range(6)), "the batches contain the indices")
    for rows in got:
        held = [lengths[i] for i in rows]
        taken = f"sentences of {held} ids take {len(held) * max(held)} with padding"
        expect(len(held) * max(held) <= 16, f"{taken}; the budget is 16")
    done("the budget")


def crowd(function: Any, most: int) -> None:
    got = [len(rows) for rows in ask(function, [2] * 30 + [3] * 30, 1000)]
    expect(max(got) <= most, f"a batch has {max(got)} sentences, more than {most}")
    hint = "fill each batch before you start the next, even with other lengths"
    match(len(got), -(-60 // most), "60 short sentences: batches", hint=hint)
    done("full batches")


def share(value: Any) -> None:
    expect(value is not None, "share is not written yet: set it, and run its cell")
    expect(0 <= number(value, "share") <= 1, f"share is {value}, not between 0 and 1")
    done("share")
