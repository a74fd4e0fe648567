"""The pictures of chapter 08: the loop that writes, and what a cache saves."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import torch
from matplotlib.figure import Figure

from .diagrams import draw_boxes
from .plotting import new_figure, plot_grids

BOXES = {
    "src": ("src\n(1, S)", 0, 0, "data"),
    "encoder": ("encoder,\nonce", 1, 0, "module"),
    "memory": ("memory\n(1, S, D)", 2.05, 0, "tensor"),
    "decoder": ("decoder", 3.1, 0, "module"),
    "p": ("probabilities\n(V,)", 4.2, 0, "number"),
    "choose": ("choose\na word", 5.3, 0, "plain"),
    "append": ("append it", 5.3, 1, "plain"),
    "so_far": ("<sos> and words so far\n(1, t)", 3.1, 1, "data"),
}
LOOP = ["src", "encoder", "memory", "decoder", "p", "choose", "append", "so_far"]


def plot_search() -> Figure:
    """The encoder runs once, the decoder in a loop."""
    figure, (axis,) = new_figure(size=(8.2, 2.2))
    draw_boxes(axis, BOXES, [*pairwise(LOOP), ("so_far", "decoder")])
    return figure


def plot_computed(tokens: Sequence[str]) -> Figure:
    """The positions that each step computes, without a cache and with one.

    Args:
        tokens: from ``<sos>`` to ``<eos>``.
    """
    T = len(tokens) - 1
    again = torch.ones(T, T).tril()  # (T, T) every position so far
    cached = 0.2 * again + 0.8 * torch.eye(T)  # (T, T) 1: computed, 0.2: looked up
    staircases = {
        f"without a cache: {T * (T + 1) // 2} computed": again,
        f"with a cache: {T} computed": cached,
    }
    return plot_grids(
        staircases,
        tokens[1:],
        tokens[:-1],
        lines=True,
        xlabel="position: word read",
        ylabel="step: word written",
    )
