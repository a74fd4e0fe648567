"""Codes of positions: clocks with many hands."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch
from matplotlib.figure import Figure

from nmt_lib.translate.heatmap import FONT, WIDTH, new_figure, set_title

from ..pictures.data import as_numbers
from ..pictures.palette import LIGHT

HANDS = "right", "ink", "faint", "edge"  # from the longest, which is the thinnest


def plot_hands(clocks: Mapping[str, Any], names: list[str]) -> Figure:
    """Clocks, six in a row: hands from (sine, cosine) pairs, so that 0 is at twelve.

    Args:
        clocks: title → ``(2n,)``, sine and cosine of each hand.
        names: of the n hands (at most four), for the legend; the first is the longest.
    """
    rows = math.ceil(len(clocks) / 6)
    figure, axes = new_figure(rows, 6, size=(WIDTH, 1.3 * rows + 0.6))
    turn = torch.linspace(0, 2 * math.pi, 100)
    for axis, (title, row) in zip(axes, clocks.items(), strict=False):
        axis.fill(
            turn.sin(), turn.cos(), facecolor=LIGHT["soft"], edgecolor="0.7", lw=1.2
        )
        tips = as_numbers(row).reshape(-1, 2)
        for i in reversed(range(len(tips))):  # the first on top
            (x, y), length = tips[i], 0.92 - 0.2 * i
            (line,) = axis.plot([0, length * x], [0, length * y], color=LIGHT[HANDS[i]])
            line.set(linewidth=2.2 + 1.2 * i, solid_capstyle="round", label=names[i])
        axis.plot(0, 0, "o", color="0.15", ms=5)
        axis.set(xlim=(-1.1, 1.1), ylim=(-1.1, 1.1), aspect="equal")
        set_title(axis, title)
    for axis in axes:
        axis.axis("off")
    lines = axes[0].lines[-2::-1]
    place: Any = {"loc": "outside lower center", "ncols": 2}
    figure.legend(lines, names, fontsize=FONT, frameon=False, **place)
    return figure
