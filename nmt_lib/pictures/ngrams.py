"""The n-grams of an output as bars: which of them the reference has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from matplotlib.figure import Figure

from .plotting import BLUE, FONT, MIDDLE, PALE, WIDTH, new_figure, set_title


def plot_ngrams(output: Sequence[str], reference: Sequence[str]) -> Figure:
    """A bar for each n-gram, n = 1 to 4: blue if it is found (clipped), else orange.

    Args:
        output, reference: words. Each n-gram of the reference matches only once; of
            equal ones in the output, those whose neighbours fit as well match first.
    """
    figure, (axis,) = new_figure(size=(WIDTH, 3.9))
    ticks: dict[float, str] = {}  # height → label
    top = 0.0
    shades: list[str] = []  # of the words
    pairs = set(pairwise(reference))
    fits = [False, *(pair in pairs for pair in pairwise(output)), False]
    fitting = [a + b for a, b in pairwise(fits)]  # neighbours of each word, 0 to 2
    for n in range(1, 5):
        grams = [tuple(output[i : i + n]) for i in range(len(output) - n + 1)]
        starts = range(len(reference) - n + 1)
        left = Counter(tuple(reference[i : i + n]) for i in starts)
        found = [False] * len(grams)
        for i in sorted(range(len(grams)), key=fitting.__getitem__, reverse=True):
            found[i] = left[grams[i]] > 0
            left[grams[i]] -= 1
        for i, hit in enumerate(found):
            color = BLUE if hit else PALE
            axis.barh(top + i % n, n - 0.08, 0.78, i - 0.46, color=color)
        shades = shades or ["white" if hit else "black" for hit in found]
        ticks[top + (n - 1) / 2] = f"n = {n}:\n{sum(found)} of {len(grams)}"
        top += n + 0.7
    for i, (word, shade) in enumerate(zip(output, shades, strict=True)):
        axis.text(i, 0, word, color=shade, parse_math=False, **MIDDLE)
    axis.set(xlim=(-0.6, len(output) - 0.4), ylim=(top - 0.8, -0.6), xticks=[])
    axis.set_yticks(list(ticks), list(ticks.values()), fontsize=FONT)
    axis.tick_params(length=0)
    axis.spines[:].set_visible(False)
    set_title(axis, "reference: " + " ".join(reference))
    return figure
