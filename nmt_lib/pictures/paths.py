"""Paths through a diagram: which way information may go from one box to another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from .charts import SERIES
from .diagrams import SHADES, boxed
from .plotting import FONT, new_figure


def plot_paths(
    boxes: Mapping[str, tuple[str, float, float, str]],
    paths: Mapping[str, Sequence[str]],
) -> Figure:
    """Boxes in rows, and several paths through them, each in its own colour.

    Args:
        boxes: name → (text, x, y, kind), y upwards; the kinds are those of
            ``draw_boxes``.
        paths: what the path is called → the names of its boxes, first to last.

    Raises:
        KeyError: a path leads through a box that is not there.
    """
    figure, (axis,) = new_figure(size=(6.4, 3.8))
    drawn = {
        name: boxed(axis, x, y, text, SHADES[kind], pad=0.5).get_bbox_patch()
        for name, (text, x, y, kind) in boxes.items()
    }
    lines = []
    for (color, dashes, _), (label, stops) in zip(SERIES, paths.items(), strict=False):
        style = {"arrowstyle": "-|>", "color": color, "ls": dashes, "lw": 2}
        for a, b in pairwise(stops):
            ends = {"patchA": drawn[a], "patchB": drawn[b], "shrinkA": 0, "shrinkB": 2}
            axis.annotate("", boxes[b][1:3], boxes[a][1:3], arrowprops=style | ends)
        lines.append(Line2D([], [], color=color, ls=dashes, lw=2, label=label))
    _, xs, ys, _ = zip(*boxes.values(), strict=True)
    axis.set(xlim=(min(xs) - 0.6, max(xs) + 0.6), ylim=(min(ys) - 0.4, max(ys) + 0.4))
    axis.axis("off")
    where: Any = {"loc": "outside lower center", "frameon": False}
    figure.legend(handles=lines, fontsize=FONT, **where)
    return figure
