"""Pictures of chapter 09: the paths of a noun's gender."""

from __future__ import annotations

from itertools import cycle, pairwise

from matplotlib.figure import Figure

from nmt_lib.translate.heatmap import MIDDLE, new_figure

from ..pictures.boxes import draw_boxes, join_boxes
from ..pictures.charts import SERIES

PRONOUN = {
    "noun": ("chair", 0, 0, "data"),
    "it": ("it", 2.2, 0, "data"),
    "noun vector": ("encoder's\nvector of chair", 0, 1.1, "tensor"),
    "it vector": ("encoder's\nvector of it", 2.2, 1.1, "tensor"),
    "written": ("writes\nLa chaise", 0, 2.2, "module"),
    "elle": ("writes\nelle", 2.2, 2.2, "module"),
}
PATHS = {  # name → the boxes that it leads through, and where the name is written
    "cross-attention": (["noun vector", "elle"], 0.62, 1.83),
    "encoder": (["noun", "it vector", "elle"], 0.75, 0.58),
    "decoder": (["written", "elle"], 1.12, 2.34),
}


def plot_pronoun_paths() -> Figure:
    """Three paths from *chair* to *elle*, each with its name and colour."""
    figure, (axis,) = new_figure(size=(4.4, 3.7))
    shared = [("noun", "noun vector"), ("noun vector", "written"), ("it", "it vector")]
    drawn = draw_boxes(axis, PRONOUN, shared)
    for (name, (stops, x, y)), (color, _, _) in zip(PATHS.items(), cycle(SERIES)):
        for a, b in pairwise(stops):
            join_boxes(axis, drawn[a], drawn[b], color=color, lw=2.4, shrinkB=2)
        back = {"facecolor": "white", "edgecolor": "none", "pad": 1}
        axis.text(x, y, name, color=color, bbox=back, **MIDDLE)
    axis.set(xlim=(-0.75, 2.95), ylim=(-0.35, 2.6))
    return figure
