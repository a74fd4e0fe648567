"""The encoder layer as a diagram, with its residual connections."""

from __future__ import annotations

from itertools import pairwise

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from .diagrams import draw_boxes
from .plotting import GREY, MIDDLE, new_figure


def plot_encoder_layer(n_layers: int, d_model: int, d_ff: int) -> Figure:
    """One layer from left to right; the frame says how often it is stacked."""
    network = f"feed-forward\n{d_model} → {d_ff:,} → {d_model}"
    boxes = {
        "x": (f"x\n(B, S, {d_model})", 0.0, 0.0, "tensor"),
        "attention": ("self-\nattention", 1.3, 0.0, "module"),
        "sum 1": ("+", 2.25, 0.0, "plain"),
        "norm 1": ("layer\nnorm", 2.95, 0.0, "data"),
        "network": (network, 4.4, 0.0, "module"),
        "sum 2": ("+", 5.75, 0.0, "plain"),
        "norm 2": ("layer\nnorm", 6.45, 0.0, "data"),
        "out": (f"memory\n(B, S, {d_model})", 7.75, 0.0, "tensor"),
    }
    around = [("x", "sum 1", -0.4), ("norm 1", "sum 2", -0.4)]
    figure, (axis,) = new_figure(size=(8.2, 1.7))
    draw_boxes(axis, boxes, [*pairwise(boxes), *around])
    axis.add_patch(Rectangle((0.65, -0.5), 6.35, 1.45, fill=False, ec="0.6", ls="--"))
    for x in (1.6, 4.35):
        axis.text(x, 0.72, "residual connection", color=GREY, **MIDDLE)
    axis.text(6.6, 0.72, f"× {n_layers}", color=GREY, weight="bold", **MIDDLE)
    axis.set(ylim=(-0.6, 1.05))
    return figure
