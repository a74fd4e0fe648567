"""Attention step by step: every number from queries, keys and values to the output."""

from __future__ import annotations

import math
from collections.abc import Sequence

from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from torch import Tensor

from .plotting import FONT, GREY, LETTER, MIDDLE, ORANGE, draw_arrow, new_figure

WIDE, HIGH = 0.44, 0.27  # of a cell, in inches


def plot_steps(
    Q: Tensor,
    K: Tensor,
    V: Tensor,
    words: Sequence[str],
    sought: Sequence[str],
    passed: Sequence[str],
    framed: int,
) -> Figure:
    """Q Kᵀ, scores, weights and output as tables, a row for each query.

    Each factor is above or to the left of the product, as in a calculation by hand.

    Args:
        Q, K, V: ``(T, d_k)``, ``(T, d_k)``, ``(T, d_v)``.
        words: of the rows.
        sought: what each number of a query and a key stands for.
        passed: what each number of a value stands for.
        framed: the query whose row is framed in orange in each table.
    """
    scores = Q @ K.T / math.sqrt(K.size(1))  # (T, T)
    weights = scores.softmax(-1)  # (T, T)
    word = LETTER * max(map(len, words)) + 0.15
    label = LETTER * max(map(len, sought)) + 0.15
    # The left edges of Q, of scores, of weights and of the output.
    x_q = word
    x_scores = x_q + WIDE * len(sought) + label
    x_weights = x_scores + WIDE * len(words) + 0.85
    x_out = x_weights + WIDE * len(words) + word + 0.1
    low = HIGH * len(words) + 0.45  # the upper edge of the lower tables
    high = low + 0.45
    width = x_out + WIDE * len(passed) + 0.1
    height = high + HIGH * max(len(sought), len(words)) + 0.5
    figure, (axis,) = new_figure(size=(width, height))
    axis.set(xlim=(0, width), ylim=(0, height))
    axis.axis("off")
    top_k, top_v = high + HIGH * len(sought), high + HIGH * len(words)
    _draw(axis, x_q, low, Q, words, sought, "Q: looks for", framed)
    _draw(axis, x_scores, top_k, K.T, sought, words, "Kᵀ: is found by")
    _draw(axis, x_scores, low, scores, [], [], "scores: Q Kᵀ / √d_k", framed)
    _draw(axis, x_weights, low, weights, [], words, "weights: sum to 1", framed)
    _draw(axis, x_out, top_v, V, words, passed, "V: passes on")
    _draw(axis, x_out, low, weights @ V, [], [], "output", framed)
    y = low - HIGH * (framed + 0.5)
    for start, end in ((x_weights - 0.85, x_weights), (x_out - word - 0.1, x_out)):
        draw_arrow(axis, (start, y), (end, y), color=ORANGE, lw=1.5)
    axis.text(x_weights - 0.43, y + 0.08, "softmax", ha="center", fontsize=FONT)
    return figure


def _draw(
    axis: Axes,
    x: float,
    top: float,
    table: Tensor,
    rows: Sequence[str],
    columns: Sequence[str],
    title: str,
    framed: int | None = None,
) -> None:
    """A table of numbers with its upper left corner at (x, top) and its name below."""
    largest = 1.6 * float(table.max())  # so that black can be read on the darkest
    digits = ".0f" if (table == table.round()).all() else ".2f"
    for r, values in enumerate(table.tolist()):
        for c, value in enumerate(values):
            corner = x + WIDE * c, top - HIGH * (r + 1)
            fill = colormaps["Blues"](value / largest)
            axis.add_patch(Rectangle(corner, WIDE, HIGH, fc=fill, ec="0.8", lw=0.6))
            middle = corner[0] + WIDE / 2, corner[1] + HIGH / 2
            axis.text(*middle, format(value, digits), **MIDDLE)
    n_rows, n_columns = table.shape
    for r, name in enumerate(rows):
        y = top - HIGH * (r + 0.5)
        axis.text(x - 0.06, y, name, **MIDDLE | {"ha": "right"})
    for c, name in enumerate(columns):
        spot = x + WIDE * (c + 0.5), top + 0.12
        axis.text(*spot, name, **MIDDLE | {"fontsize": FONT - 2}, color=GREY)
    spot = x + WIDE * n_columns / 2, top - HIGH * n_rows - 0.14
    axis.text(*spot, title, **MIDDLE, weight="bold")
    if framed is not None:
        corner = x, top - HIGH * (framed + 1)
        frame = Rectangle(corner, WIDE * n_columns, HIGH, fill=False, ec=ORANGE, lw=2)
        axis.add_patch(frame)
