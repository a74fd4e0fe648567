"""Two processes that train one model."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from matplotlib.figure import Figure

from .diagrams import draw_boxes
from .plotting import new_figure


def plot_all_reduce() -> Figure:
    """A row of boxes for each process, from its batch to the same new weights."""
    boxes: Any = {
        "all": ("all-reduce:\nsum or mean of\nboth gradients", 3, 0.5, "number")
    }
    arrows: list[tuple[str, str]] = []
    for p, y in enumerate([1, 0]):
        boxes |= {
            f"batch{p}": (f"process {p}:\nits batch", 0, y, "data"),
            f"model{p}": ("model\n(same weights)", 1, y, "module"),
            f"grad{p}": ("own gradient", 2, y, "tensor"),
            f"new{p}": ("optimizer:\nsame new weights", 4.1, y, "module"),
        }
        way = [f"batch{p}", f"model{p}", f"grad{p}", "all", f"new{p}"]
        arrows += pairwise(way)
    figure, (axis,) = new_figure(size=(8.2, 2.2))
    draw_boxes(axis, boxes, arrows)
    return figure
