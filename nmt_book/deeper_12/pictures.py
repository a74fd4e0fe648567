"""Pictures of the page on newer models."""

from __future__ import annotations

from typing import Any

from matplotlib.figure import Figure

from nmt_lib.translate.heatmap import WIDTH, new_figure, set_title

from ..pictures.boxes import draw_boxes


def plot_shared_keys() -> Figure:
    """Four heads of queries, and which of them share keys and values."""
    figure, axes = new_figure(1, 3, (WIDTH, 2.0))
    kinds = {"as in 2017": 1, "two groups": 2, "one group": 4}
    for axis, (title, share) in zip(axes, kinds.items(), strict=True):
        boxes: dict[str, Any] = {
            f"q{i}": (f"Q{i + 1}", i, 1, "number") for i in range(4)
        }
        for g in range(4 // share):
            middle = share * g + (share - 1) / 2
            boxes[f"k{g}"] = ("K, V", middle, 0, "tensor")
        draw_boxes(axis, boxes, [(f"q{i}", f"k{i // share}") for i in range(4)])
        set_title(axis, title)
    return figure
