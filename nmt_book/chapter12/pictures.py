"""Pictures of chapter 12: gradients of several processes."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from matplotlib.figure import Figure

from nmt_lib.translate.heatmap import new_figure

from ..pictures.boxes import draw_boxes


def plot_all_reduce() -> Figure:
    """Two processes that train one model, from a batch each to the same new weights."""
    boxes: Any = {
        "all": ("all-reduce: sum or mean\nof both gradients", 0.5, 1, "number")
    }
    arrows: list[tuple[str, str]] = []
    for p in (0, 1):
        boxes |= {
            f"batch{p}": (f"process {p}:\nits batch", p, 4, "data"),
            f"model{p}": ("model\n(same weights)", p, 3, "module"),
            f"grad{p}": ("own gradient", p, 2, "tensor"),
            f"new{p}": ("optimizer:\nsame new weights", p, 0, "module"),
        }
        arrows += pairwise([f"batch{p}", f"model{p}", f"grad{p}", "all", f"new{p}"])
    figure, (axis,) = new_figure(size=(4.4, 4.2))
    draw_boxes(axis, boxes, arrows)
    return figure
