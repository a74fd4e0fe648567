"""The layers as diagrams, with their residual connections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from .diagrams import draw_boxes
from .plotting import BLUE, GREY, MIDDLE, draw_arrow, new_figure, set_title

STEP = 1.0  # between two boxes


def plot_encoder_layer(n_layers: int, d_model: int, d_ff: int) -> Figure:
    """One layer from the bottom to the top; the frame says how often it is stacked."""
    column = [
        (f"x  (B, S, {d_model})", "tensor"),
        ("self-attention", "module"),
        ("+, layer norm", "data"),
        (f"feed-forward\n{d_model} → {d_ff:,} → {d_model}", "module"),
        ("+, layer norm → memory", "data"),
    ]
    figure, (axis,) = new_figure(size=(4.0, 3.8))
    draw_column(axis, column, [(0, 2), (2, 4)], bend=-1.5)
    draw_frame(axis, n_layers, len(column))
    axis.set(xlim=(-2.2, 2.3))
    return figure


def plot_decoder_layer(n_layers: int) -> Figure:
    """The same for a decoder layer, with the memory and both masks."""
    column = [
        ("x  (B, T, D)", "tensor"),
        ("self-attention", "module"),
        ("+, layer norm → x₁", "data"),
        ("cross-attention", "module"),
        ("+, layer norm → x₂", "data"),
        ("feed-forward", "module"),
        ("+, layer norm → out", "data"),
    ]
    figure, (axis,) = new_figure(size=(4.8, 5.0))
    memory = {"memory": ("memory\n(B, S, D)", 3.2, 3 * STEP, "tensor")}
    drawn = draw_column(axis, column, [(0, 2), (2, 4), (4, 6)], memory)
    ends = {"patchA": drawn["memory"], "patchB": drawn["3"], "shrinkA": 0, "shrinkB": 1}
    height = 3 * STEP
    draw_arrow(axis, (3.2, height), (0, height), color=BLUE, lw=2, **ends)
    axis.text(1.5, height + 0.22, "K, V", color=BLUE, **MIDDLE)
    axis.text(0.18, 2.47 * STEP, "Q", color=BLUE, **MIDDLE)
    axis.text(1.45, height - 0.27, "source mask", color=GREY, **MIDDLE)
    axis.text(1.45, STEP, "target mask", color=GREY, **MIDDLE)
    draw_frame(axis, n_layers, len(column))
    axis.set(xlim=(-2.0, 4.0))
    return figure


def plot_norm_orders() -> Figure:
    """A sub-layer with the norm after the sum, and with the norm before it."""
    columns = {
        "post-LN (the paper)": (["x", "sub-layer", "+", "layer norm"], (0, 2)),
        "pre-LN": (["x", "layer norm", "sub-layer", "+"], (0, 3)),
    }
    kinds = {"x": "tensor", "sub-layer": "module", "+": "plain", "layer norm": "data"}
    figure, axes = new_figure(1, 2, size=(4.6, 2.9))
    for axis, (title, (names, around)) in zip(axes, columns.items(), strict=True):
        draw_column(axis, [(name, kinds[name]) for name in names], [around], bend=-0.8)
        axis.set(xlim=(-1.2, 0.9))
        set_title(axis, title)
    return figure


def draw_column(
    axis: Axes,
    texts: Sequence[tuple[str, str]],
    around: Sequence[tuple[int, int]],
    more: Mapping[str, Any] | None = None,
    bend: float = -1.1,
) -> dict[str, Any]:
    """Boxes (text, kind) from the bottom to the top, and residual connections.

    Args:
        axis: where they are drawn.
        texts: of the boxes, whose names are "0", "1" …
        around: the boxes that each residual connection joins, by number.
        more: further boxes, as ``draw_boxes`` takes them.
        bend: of the residual connections, below 0 to the left.
    """
    boxes = {
        str(i): (text, 0.0, i * STEP, kind) for i, (text, kind) in enumerate(texts)
    }
    arrows = [*pairwise(boxes), *((str(a), str(b), bend) for a, b in around)]
    return draw_boxes(axis, boxes | dict(more or {}), arrows)


def draw_frame(axis: Axes, n_layers: int, n_boxes: int) -> None:
    """What belongs to a layer, which is stacked; and what the curved arrows are."""
    top = (n_boxes - 0.3) * STEP
    style: Any = {"fill": False, "ec": "0.6", "ls": "--"}
    axis.add_patch(Rectangle((-1.9, 0.5), 4.05, top - 0.5, **style))
    axis.text(1.8, top - 0.25, f"× {n_layers}", color=GREY, weight="bold", **MIDDLE)
    height = (n_boxes - 3) * STEP
    axis.text(-1.4, height, "residual\nconnection", color=GREY, **MIDDLE)
    axis.set(ylim=(-0.4, top + 0.1))
