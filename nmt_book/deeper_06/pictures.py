"""The picture of a deeper page: where the parameters of a model are."""

from __future__ import annotations

import re

from matplotlib.figure import Figure
from torch import nn

from nmt_lib.model.transformer import count_parameters

from ..pictures.charts import plot_bars

KINDS = {
    "attention": r"attention\.W",
    "feed-forward": r"feed_forward\.W",
    "words": r"embedding|output",
}


def plot_parameters(model: nn.Module) -> Figure:
    """A bar in millions for each part of a model, by kind; norms are left out."""
    parts = [name for name, _ in model.named_children()]
    million = {kind: [0.0] * len(parts) for kind in KINDS}
    for name, weight in model.named_parameters():
        for kind, pattern in KINDS.items():
            if re.search(pattern, name):
                million[kind][parts.index(name.split(".")[0])] += weight.numel() / 1e6
    return plot_bars(
        million,
        parts,
        stacked=True,
        numbers=".1f",
        xlabel=f"parameters, millions; {count_parameters(model):,} in all",
    )
