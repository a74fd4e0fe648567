"""The picture of chapter 12: padding in batches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from torch import Tensor

from nmt_lib.translate.heatmap import WIDTH, new_figure, set_title

from ..pictures.palette import LIGHT, pale


def plot_padding(
    lengths: Tensor, plans: Mapping[str, tuple[Sequence[Sequence[int]], int]]
) -> Figure:
    """One line for each sentence of a typical batch: text is green, padding is grey.

    Typical is that of the batches of about 64 sentences whose share of padding is
    nearest to the plan's.

    Args:
        lengths: ``(n,)``, of all sentences.
        plans: title → batches of indices, and the width to which all are padded; 0 for
            the longest of each batch.
    """
    batches = {}
    for name, (plan, width) in plans.items():
        rows = _typical(lengths, plan)
        sizes = lengths[list(rows)]  # (B,)
        batches[name] = sizes, width or int(sizes.max())
    widest = max(width for _, width in batches.values())
    colors = ListedColormap([pale("masked", 0.35), LIGHT["encoder"]])
    figure, axes = new_figure(len(batches), 1, size=(WIDTH, 4.4), sharex=True)
    for axis, (name, (sizes, width)) in zip(axes, batches.items(), strict=True):
        text = torch.arange(width) < sizes[:, None]  # (B, width)
        style: Any = {"aspect": "auto", "interpolation": "nearest"}
        axis.imshow(text.int().numpy(), colors, vmin=0, vmax=1, **style)
        share = f"{1 - text.float().mean():.0%} padding"
        set_title(axis, f"{name}: {len(sizes)} × {width} ids, {share}")
        axis.set(xlim=(-0.5, widest - 0.5), yticks=[])
        axis.tick_params(length=0)
        axis.spines[:].set_visible(False)
    figure.supylabel("sentences of one batch", fontsize=10)
    axes[-1].set_xlabel("position")
    return figure


def _typical(lengths: Tensor, plan: Sequence[Sequence[int]]) -> Sequence[int]:
    sizes = [lengths[list(rows)].float() for rows in plan]
    room = sum(len(batch) * float(batch.max()) for batch in sizes)
    share = sum(float(batch.sum()) for batch in sizes) / room
    shares = [float(batch.mean() / batch.max()) for batch in sizes]
    usual = [i for i, batch in enumerate(sizes) if 55 < len(batch) < 73]
    indices = usual or range(len(plan))
    return plan[min(indices, key=lambda i: abs(shares[i] - share))]
