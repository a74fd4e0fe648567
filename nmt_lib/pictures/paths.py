"""Paths through a diagram: how information can get from one box to another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from .charts import SERIES
from .diagrams import draw_boxes
from .plotting import FONT, draw_arrow, new_figure


def plot_paths(
    boxes: Mapping[str, tuple[str, float, float, str]],
    paths: Mapping[str, Sequence[str]],
) -> Figure:
    """Boxes in rows, and several paths through them, each in its own colour.

    Args:
        boxes: name → (text, x, y, kind), y upwards; the kinds are those of
            ``draw_boxes``.
        paths: name of the path → the names of its boxes, first to last.

    Raises:
        KeyError: a path leads through a box that does not exist.
    """
    figure, (axis,) = new_figure(size=(6.4, 3.8))
    drawn = draw_boxes(axis, boxes)
    lines = []
    for (color, dashes, _), (label, stops) in zip(SERIES, paths.items(), strict=False):
        for a, b in pairwise(stops):
            ends = {"patchA": drawn[a], "patchB": drawn[b], "shrinkA": 0, "shrinkB": 2}
            points = boxes[a][1:3], boxes[b][1:3]
            draw_arrow(axis, *points, color=color, ls=dashes, lw=2, **ends)
        lines.append(Line2D([], [], color=color, ls=dashes, lw=2, label=label))
    where: Any = {"loc": "outside lower center", "frameon": False}
    figure.legend(handles=lines, fontsize=FONT, **where)
    return figure
