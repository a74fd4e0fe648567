"""The pictures of chapter 07: one update, and runs that collapse."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from matplotlib.figure import Figure

from .charts import plot_lines
from .diagrams import draw_boxes
from .plotting import new_figure

BOXES = {
    "in": ("src, tgt_in", 0, 1, "data"),
    "model": ("Transformer", 1, 1, "module"),
    "logits": ("logits\n(B, T, V)", 2, 1, "tensor"),
    "loss": ("loss\n(one number)", 3, 1, "number"),
    "out": ("tgt_out", 4, 1, "data"),
    "gradients": ("gradients", 3, 0, "tensor"),
    "adam": ("optimizer,\nlearning rate", 2, 0, "module"),
    "weights": ("new weights", 1, 0, "tensor"),
}
CIRCLE = ["in", "model", "logits", "loss", "gradients", "adam", "weights", "model"]


def plot_update() -> Figure:
    """One update of a training, as a circle."""
    figure, (axis,) = new_figure(size=(8.2, 2.2))
    draw_boxes(axis, BOXES, [*pairwise(CIRCLE), ("out", "loss")])
    return figure


def plot_collapse(
    losses: Mapping[str, Sequence[float]],
    differs: Mapping[str, Sequence[float]],
    frequencies: float,
) -> Figure:
    """Losses of several runs, and beside them what differs between their words.

    Args:
        losses: name → after each update, in nats a token.
        differs: name → the share of chapter 05, on a logarithmic axis.
        frequencies: the loss of the word frequencies alone, a dashed line.
    """
    panels = {
        "loss (nats a token)": losses,
        "what differs between words (share)": differs,
    }
    n = len(next(iter(losses.values())))
    figure = plot_lines(panels, range(1, n + 1), xlabel="update")
    left, right = figure.axes
    left.axhline(frequencies, color="0.35", lw=1, ls="--")
    where = n + 1, frequencies + 0.25
    left.text(*where, "word frequencies only", ha="right", size=9)
    right.set(yscale="log", ylim=(1e-4, 1.2))
    return figure
