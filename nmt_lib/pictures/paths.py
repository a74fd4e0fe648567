"""The picture of chapter 09: how a noun's gender can get to the pronoun."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from .charts import SERIES
from .diagrams import draw_boxes
from .plotting import FONT, draw_arrow, new_figure

BOXES = {  # name → (text, x, y, kind)
    "noun": ("chair", 0, 0, "data"),
    "it": ("it", 2.4, 0, "data"),
    "noun vector": ("encoder's vector\nof chair", 0, 1, "tensor"),
    "it vector": ("encoder's vector\nof it", 2.4, 1, "tensor"),
    "written": ("writes: La chaise", 0, 2, "module"),
    "elle": ("writes: elle", 2.4, 2, "module"),
}
PATHS = {  # name → the boxes that it leads through
    "a head of cross-attention looks at the noun": ["noun", "noun vector", "elle"],
    "the encoder puts the gender into the vector of it": ["noun", "it vector", "elle"],
    "the decoder looks at the noun that it has written": [
        "noun vector",
        "written",
        "elle",
    ],
}


def plot_pronoun_paths() -> Figure:
    """Three paths from *chair* to *elle*, each in its own colour."""
    figure, (axis,) = new_figure(size=(6.4, 3.8))
    drawn = draw_boxes(axis, BOXES)
    lines = []
    for (color, dashes, _), (label, stops) in zip(SERIES, PATHS.items(), strict=False):
        for a, b in pairwise(stops):
            ends = {"patchA": drawn[a], "patchB": drawn[b], "shrinkA": 0, "shrinkB": 2}
            points = BOXES[a][1:3], BOXES[b][1:3]
            draw_arrow(axis, *points, color=color, ls=dashes, lw=2, **ends)
        lines.append(Line2D([], [], color=color, ls=dashes, lw=2, label=label))
    where: Any = {"loc": "outside lower center", "frameon": False}
    figure.legend(handles=lines, fontsize=FONT, **where)
    return figure
