"""The layers as diagrams, with their residual connections."""

from __future__ import annotations

from itertools import pairwise

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from .diagrams import draw_boxes
from .plotting import BLUE, GREY, MIDDLE, draw_arrow, new_figure


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


def plot_decoder_layer(n_layers: int) -> Figure:
    """One layer from the bottom to the top, with the memory and both masks."""
    boxes = {
        "x": ("x  (B, T, D)", 0.0, 0.0, "tensor"),
        "self": ("self-attention", 0.0, 1.2, "module"),
        "norm 1": ("+, layer norm → x₁", 0.0, 2.1, "data"),
        "cross": ("cross-attention", 0.0, 3.3, "module"),
        "norm 2": ("+, layer norm → x₂", 0.0, 4.2, "data"),
        "network": ("feed-forward", 0.0, 5.4, "module"),
        "norm 3": ("+, layer norm → out", 0.0, 6.3, "data"),
        "memory": ("memory\n(B, S, D)", 3.1, 3.3, "tensor"),
    }
    column = [name for name in boxes if name != "memory"]
    around = [(a, b, -0.9) for a, b in zip(column[::2], column[2::2], strict=False)]
    figure, (axis,) = new_figure(size=(4.6, 5.2))
    drawn = draw_boxes(axis, boxes, [*pairwise(column), *around])
    ends = {"patchA": drawn["memory"], "patchB": drawn["cross"]}
    points = boxes["memory"][1:3], boxes["cross"][1:3]
    draw_arrow(axis, *points, color=BLUE, lw=2, shrinkA=0, shrinkB=1, **ends)
    axis.text(1.45, 3.55, "K, V", color=BLUE, **MIDDLE)
    axis.text(0.15, 2.65, "Q", color=BLUE, **MIDDLE)
    axis.text(1.45, 3.0, "source mask", color=GREY, **MIDDLE)
    axis.text(1.45, 1.2, "target mask", color=GREY, **MIDDLE)
    axis.text(-1.3, 4.75, "residual\nconnection", color=GREY, **MIDDLE)
    frame = Rectangle((-1.85, 0.5), 4.05, 6.3, fill=False, ec="0.6", ls="--")
    axis.add_patch(frame)
    axis.text(1.85, 6.5, f"× {n_layers}", color=GREY, weight="bold", **MIDDLE)
    axis.set(xlim=(-1.95, 3.8), ylim=(-0.4, 6.9))
    return figure
