"""What leads where: boxes with arrows, for the layers, the masks, the search, the paths
to a pronoun, keys that heads share, and two processes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle, pairwise
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.text import Text

from .charts import SERIES
from .diagrams import draw_boxes, join_boxes
from .plotting import BLUE, GREY, MIDDLE, WIDTH, new_figure, set_title

# Each box: name → (text, x, y, kind).
MASKS = {
    "src": ("src\n(B, S)", 0, 1.5, "data"),
    "pad": ("padding_mask(src)\n(B, 1, 1, S)", 1.6, 1.5, "tensor"),
    "tgt": ("tgt_in\n(B, T)", 0, 0, "data"),
    "both": ("target_mask(tgt_in)\n(B, 1, T, T)", 1.6, 0, "tensor"),
    "enc": ("encoder self-attention\nweights (B, H, S, S)", 3.7, 2, "module"),
    "cross": ("cross-attention\nweights (B, H, T, S)", 3.7, 1, "module"),
    "dec": ("decoder self-attention\nweights (B, H, T, T)", 3.7, 0, "module"),
}
MASK_PATHS = ["src pad", "pad enc", "pad cross", "tgt both", "both dec"]
SEARCH = {
    "src": ("src\n(1, S)", 0, 1, "data"),
    "encoder": ("encoder,\nonce", 1.2, 1, "module"),
    "memory": ("memory\n(1, S, D)", 2.5, 1, "tensor"),
    "decoder": ("decoder", 2.5, 0, "module"),
    "p": ("probabilities\n(V,)", 3.85, 0, "number"),
    "choose": ("choose\na word", 5.1, 0, "plain"),
    "append": ("append it", 5.1, -1, "plain"),
    "so_far": ("<sos> and words so far\n(1, t)", 2.5, -1, "data"),
}
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


def plot_mask_paths() -> Figure:
    """Which mask goes to which of the three kinds of attention."""
    figure, (axis,) = new_figure(size=(WIDTH, 3))
    draw_boxes(axis, MASKS, [tuple(pair.split()) for pair in MASK_PATHS])
    axis.set(xlim=(-0.4, 4.6), ylim=(-0.4, 2.4))
    return figure


def plot_search() -> Figure:
    """The encoder runs once, the decoder in a loop."""
    figure, (axis,) = new_figure(size=(WIDTH, 3))
    draw_boxes(axis, SEARCH, [*pairwise(SEARCH), ("so_far", "decoder")])
    return figure


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


def plot_encoder_layer(n_layers: int, d_model: int, d_ff: int) -> Figure:
    """One layer from the bottom to the top; the frame says how often it is stacked."""
    column = [
        (f"x  (B, S, {d_model})", "tensor"),
        ("self-attention", "module"),
        ("+, layer norm", "data"),
        (f"feed-forward\n{d_model} → {d_ff:,} → {d_model}", "module"),
        ("+, layer norm → memory", "data"),
    ]
    figure, (axis,) = new_figure(size=(4.2, 3.8))
    draw_column(axis, column, [(0, 2), (2, 4)], bend=-1.5)
    draw_frame(axis, n_layers, len(column))
    axis.set(xlim=(-2.4, 2.3))
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
    figure, (axis,) = new_figure(size=(5.2, 5.0))
    memory = {"memory": ("memory\n(B, S, D)", 3.2, 3.0, "tensor")}
    drawn = draw_column(axis, column, [(0, 2), (2, 4), (4, 6)], memory)
    join_boxes(axis, drawn["memory"], drawn["3"], color=BLUE, lw=2)
    for x, y, text, color in (
        (1.5, 3.22, "K, V", BLUE),
        (0.18, 2.47, "Q", BLUE),
        (1.45, 2.73, "source mask", GREY),
        (1.45, 1.0, "target mask", GREY),
    ):
        axis.text(x, y, text, color=color, **MIDDLE)
    draw_frame(axis, n_layers, len(column))
    axis.set(xlim=(-2.4, 4.0))
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
) -> dict[str, Text]:
    """Boxes (text, kind) from the bottom to the top, and residual connections.

    Args:
        axis: where they are drawn.
        texts: of the boxes, whose names are "0", "1" …
        around: the boxes that each residual connection joins, by number.
        more: further boxes, as ``draw_boxes`` takes them.
        bend: of the residual connections, below 0 to the left.
    """
    boxes = {str(i): (text, 0.0, i, kind) for i, (text, kind) in enumerate(texts)}
    arrows = [*pairwise(boxes), *((str(a), str(b), bend) for a, b in around)]
    return draw_boxes(axis, boxes | dict(more or {}), arrows)


def draw_frame(axis: Axes, n_layers: int, n_boxes: int) -> None:
    """What belongs to a layer, which is stacked; and what the curved arrows are."""
    top = n_boxes - 0.3
    style: Any = {"fill": False, "ec": "0.6", "ls": "--"}
    axis.add_patch(Rectangle((-2.3, 0.5), 4.45, top - 0.5, **style))
    axis.text(1.8, top - 0.25, f"× {n_layers}", color=GREY, weight="bold", **MIDDLE)
    axis.text(-1.7, n_boxes - 3, "residual\nconnection", color=GREY, **MIDDLE)
    axis.set(ylim=(-0.4, top + 0.1))


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
