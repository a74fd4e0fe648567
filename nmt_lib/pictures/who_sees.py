"""The pictures of chapter 03: the causal mask, and where masks go."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure
from torch import Tensor

from .diagrams import draw_boxes
from .plotting import ORANGE, new_figure, plot_grids

BOXES = {
    "src": ("src\n(B, S)", 0, 1.5, "data"),
    "pad": ("padding_mask(src)\n(B, 1, 1, S)", 1.6, 1.5, "tensor"),
    "tgt": ("tgt_in\n(B, T)", 0, 0, "data"),
    "both": ("target_mask(tgt_in)\n(B, 1, T, T)", 1.6, 0, "tensor"),
    "enc": ("encoder self-attention\nweights (B, H, S, S)", 3.7, 2, "module"),
    "cross": ("cross-attention\nweights (B, H, T, S)", 3.7, 1, "module"),
    "dec": ("decoder self-attention\nweights (B, H, T, T)", 3.7, 0, "module"),
}
ARROWS = ["src pad", "pad enc", "pad cross", "tgt both", "both dec"]


def plot_reads_and_says(
    mask: Tensor, reads: Sequence[str], says: Sequence[str]
) -> Figure:
    """A mask ``(T, T)``; a row is named by the word that is read and the one to say.

    An orange dot marks the word to say, where it is read later.
    """
    rows = [f"{read} → {say}" for read, say in zip(reads, says, strict=True)]
    figure = plot_grids(
        mask,
        rows,
        reads,
        lines=True,
        xlabel="key (blue: may be looked at)",
        ylabel="query: reads → must say",
    )
    figure.axes[0].plot(range(1, len(reads)), range(len(reads) - 1), "o", color=ORANGE)
    return figure


def plot_mask_paths() -> Figure:
    """Which mask goes to which of the three kinds of attention."""
    figure, (axis,) = new_figure(size=(8.2, 3))
    draw_boxes(axis, BOXES, [tuple(pair.split()) for pair in ARROWS])
    axis.set(xlim=(-0.4, 4.6), ylim=(-0.4, 2.4))
    return figure
