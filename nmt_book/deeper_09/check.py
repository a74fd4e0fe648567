"""The exercise of the deeper page on TransformerLens."""

import torch

from ..cases import numbers
from ..exercise.exercise import exercise, unfilled


def _and_what_is_left(patch, x, other, at):
    """The result, and the two activations as they are afterwards."""
    patched = patch(x, other, at)
    return patched if unfilled(patched) else (patched, x, other)


def _swapped(x, other, at):
    other = other.clone()
    other[:, at] = x[:, at]
    return other


@exercise(
    "The activation of this run, with that of the other run at one position.",
    cases={
        "two words": (
            torch.tensor([[[1.0, 2], [3, 4]]]),
            torch.tensor([[[5.0, 6], [7, 8]]]),
            1,
        ),
        "four sentences, position 2": (*numbers(0, (4, 6, 5), (4, 6, 5)), 2),
        "one sentence, the first position": (*numbers(1, (1, 3, 4), (1, 3, 4)), 0),
        "two sentences, the last position": (
            *(many / 3 for many in numbers(2, (2, 4, 8), (2, 4, 8))),
            3,
        ),
    },
    call=_and_what_is_left,
    mistakes={
        "the activation itself was changed, and others may still need it: clone it": (
            "x = x.clone() → x = x"
        ),
        "that is the whole other run: patch one position": "other",
        "the wrong way round: all but this position came from the other run": (
            _swapped
        ),
        "this patches one number of every vector: axis 1 is the position": (
            "x[:, at] = other[:, at] → x[:, :, at] = other[:, :, at]"
        ),
        "this patches a sentence of the batch: axis 1 is the position": (
            "x[:, at] = other[:, at] → x[at] = other[at]"
        ),
        "a zero removes; patching replaces it by what the other run has": (
            "other[:, at] → 0"
        ),
        "the two were added: replace": "x[:, at] =  → x[:, at] += ",
        "the two were averaged: replace": (
            "= other[:, at] → = (x[:, at] + other[:, at]) / 2"
        ),
        "every sentence of the batch is patched, not the first one alone": (
            "x[:, at] = other[:, at] → x[0, at] = other[0, at]"
        ),
        "this patches every position from there on": (
            "x[:, at] = other[:, at] → x[:, at:] = other[:, at:]"
        ),
        "this patches every position up to there": (
            "x[:, at] = other[:, at] → x[:, : at + 1] = other[:, : at + 1]"
        ),
        "nothing has changed: the position must come from the other run": "x",
    },
    hints=(
        "Three lines: a copy, one assignment, the copy returned. Which axis is the "
        "position?",
        "`x[:, at]` is (B, D): what every sentence has at that position.",
    ),
    says="one position from the other run, and both runs are as they were",
    difficulty=1,
    importance=3,
    minutes=4,
)
def patch(x, other, at):
    x = x.clone()
    x[:, at] = other[:, at]  # (B, D)
    return x
