"""The picture of chapter 10: n-grams."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from matplotlib.figure import Figure

from nmt_lib.translate.heatmap import FONT, WIDTH, new_figure, set_title

from ..pictures.palette import LIGHT, MIDDLE, pale


def plot_ngrams(output: Sequence[str], reference: Sequence[str]) -> Figure:
    """A bar for each n-gram, n = 1 to 4: filled if it is found (clipped), else framed.

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
        counts = Counter(tuple(reference[i : i + n]) for i in starts)
        matches = [False] * len(grams)
        for i in sorted(range(len(grams)), key=fitting.__getitem__, reverse=True):
            matches[i] = counts[grams[i]] > 0
            counts[grams[i]] -= 1
        for i, match in enumerate(matches):
            role = "right" if match else "mistake"
            fill = LIGHT[role] if match else pale(role, 0.2)
            style: Any = {"fc": fill, "ec": LIGHT[role]}
            axis.barh(top + i % n, n - 0.08, 0.78, i - 0.46, **style)
        shades = shades or ["white" if match else "black" for match in matches]
        ticks[top + (n - 1) / 2] = f"n = {n}:\n{sum(matches)} of {len(grams)}"
        top += n + 0.7
    for i, (word, shade) in enumerate(zip(output, shades, strict=True)):
        axis.text(i, 0, word, color=shade, parse_math=False, **MIDDLE)
    axis.set(xlim=(-0.6, len(output) - 0.4), ylim=(top - 0.8, -0.6), xticks=[])
    axis.set_yticks(list(ticks), list(ticks.values()), fontsize=FONT)
    axis.tick_params(length=0)
    axis.spines[:].set_visible(False)
    set_title(axis, "reference: " + " ".join(reference))
    return figure
