"""Triangles: what each position may see, and what each step of a search computes."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from matplotlib.figure import Figure
from torch import Tensor

from .plotting import ORANGE, plot_grids


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
