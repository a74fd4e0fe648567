"""Batches at the same scale, with their text and their padding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure

from .plotting import BLUE, PALE, new_figure, set_title


def plot_padding(batches: Mapping[str, tuple[Sequence[int], int]]) -> Figure:
    """One line for each sentence: text is blue, padding is orange.

    Args:
        batches: title → lengths of the sentences, and the width to which all are
            padded.
    """
    widest = max(width for _, width in batches.values())
    figure, axes = new_figure(len(batches), 1, size=(8.2, 4.8), sharex=True)
    for axis, (name, (lengths, width)) in zip(axes, batches.items(), strict=True):
        text = torch.arange(width) < torch.tensor(lengths)[:, None]  # (B, S)
        colors, shades = ListedColormap([PALE, BLUE]), text.int().numpy()
        style: Any = {"aspect": "auto", "interpolation": "nearest"}
        axis.imshow(shades, colors, vmin=0, vmax=1, **style)
        share = f"{1 - text.float().mean():.0%} padding"
        set_title(axis, f"{name}: {len(lengths)} × {width} ids, {share}")
        axis.set(xlim=(-0.5, widest - 0.5), yticks=[])
        axis.tick_params(length=0)
        axis.spines[:].set_visible(False)
    figure.supylabel("sentences of one batch", fontsize=10)
    axes[-1].set_xlabel("position")
    return figure
