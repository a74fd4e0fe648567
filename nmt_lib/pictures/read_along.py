"""The picture of chapter 10: a sentence read along, and written on its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure

from .diagrams import plot_words


def plot_read_along(readings: Sequence[Any]) -> Figure:
    """The short sentence that loses most words when the model writes on its own.

    Words that differ from the reference at their position are orange; – is no word.

    Args:
        readings: with the tokens ``right`` and ``along``, which end with ``<eos>``, the
            translation ``own``, and the ``pair``.
    """
    rows = {
        one.pair.src: (one.right[:-1], one.along[:-1], [*one.own.tokens])
        for one in readings
        if max(len(one.right) - 1, len(one.own.tokens)) <= 10
    }
    source = max(rows, key=lambda src: _lead(*rows[src]))
    right, along, own = rows[source]
    own += ["–"] * (len(right) - len(own))
    marked = [
        (row, x)
        for row, words in enumerate((right, along, own))
        for x, word in enumerate(words)
        if right[x : x + 1] != [word]
    ]
    names = {"reference": right, "reading along": along, "on its own": own}
    return plot_words(names, source, marked=marked, positions=False)


def _lead(right: list[str], along: list[str], own: list[str]) -> int:
    """How many words more are right when it reads along than in its translation."""
    read = sum(a == b for a, b in zip(along, right, strict=True))
    return read - (Counter(own) & Counter(right)).total()
