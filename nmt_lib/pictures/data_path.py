"""The path of a batch through the Transformer: tensors with their shapes, and masks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from torch import Tensor

from ..batching import Batch
from ..masks import padding_mask, target_mask
from ..tokenizers import Tokenizer
from ..transformer import Transformer
from .diagrams import SHADES
from .plotting import BLUE, new_figure

SOURCE, TARGET = "#dbe7f5", "#e6dcf1"
ROW, DOT = 0.17, 0.085  # height of a position and side of a mask's cell, in inches
TEXT: Any = {"ha": "center", "va": "center", "fontsize": 9, "parse_math": False}


@torch.no_grad()
def plot_data_path(
    model: Transformer, batch: Batch, src_tok: Tokenizer, tgt_tok: Tokenizer, row: int
) -> Figure:
    """Every tensor from ids to logits as a table, with the masks where they act.

    Args:
        model: any model; it is run once.
        batch: its sentences are the sheets of each table.
        src_tok, tgt_tok: for the words on the left.
        row: the sentence whose words and padding are drawn.
    """
    src, tgt_in = batch.src, batch.tgt_in  # (B, S), (B, T)
    src_mask, tgt_mask = padding_mask(src), target_mask(tgt_in)
    read, x = model.src_embedding(src), model.tgt_embedding(tgt_in)
    memory = model.encoder(read, src_mask)  # (B, S, D)
    out = model.decoder(x, memory, src_mask, tgt_mask)  # (B, T, D)
    logits = model.output(out)  # (B, T, V)
    sources = src_tok.lookup_tokens(src[row].tolist())
    targets = tgt_tok.lookup_tokens(tgt_in[row].tolist())

    left = 0.09 * max(map(len, sources + targets))
    stack, right = left + 2.35, left + 6.5  # of encoder and decoder, of the logits
    lower = ROW * len(targets) + 0.95  # the top of the lower line of tables
    upper = lower + ROW * len(sources) + 1.1
    y_src, y_tgt = upper - ROW * len(sources) / 2, lower - ROW * len(targets) / 2
    figure, (axis,) = new_figure(size=(right + 1.15, upper + 0.15))
    axis.set(xlim=(0, right + 1.15), ylim=(0, upper + 0.15), aspect="equal")
    axis.axis("off")
    for top, y, words, name, ids, vectors, color in (
        (upper, y_src, sources, "src", src, read, SOURCE),
        (lower, y_tgt, targets, "tgt_in", tgt_in, x, TARGET),
    ):
        for n, word in enumerate(words):
            axis.text(left, top - ROW * (n + 0.5), word, **TEXT | {"ha": "right"})
        _table(axis, left + 0.05, top, ids, name, 0.25, color, words)
        _arrow(axis, (left + 0.05, y), (left + 1.55, y))
        _part(axis, left + 0.55, y, 0.85, "embedding\n+ positions")
        _table(axis, left + 1.55, top, vectors, "vectors", 0.55, color, words)
    _arrow(axis, (left + 1.55, y_src), (stack + 1.25, y_src))
    name = f"encoder,\n{len(model.encoder.layers)} layers"
    _part(axis, stack + 0.1, y_src, 0.85, name)
    _table(axis, stack + 1.25, upper, memory, "memory", 0.55, SOURCE, sources)
    _arrow(axis, (left + 1.55, y_tgt), (stack + 2.6, y_tgt))
    box = Rectangle((stack - 0.02, y_tgt - 0.55), 2.46, 1.05, fc="#fffaf0", ec="0.6")
    axis.add_patch(box).set_zorder(0)
    for n, text in enumerate(
        ("self-\nattention", "cross-\nattention", "feed-\nforward")
    ):
        _part(axis, stack + 0.05 + 0.8 * n, y_tgt, 0.72, text)
    name = f"decoder, {len(model.decoder.layers)} layers"
    axis.text(stack + 1.21, y_tgt - 0.42, name, **TEXT)
    cross = stack + 1.21
    _arrow(axis, (cross, upper - ROW * len(sources) - 0.38), (cross, y_tgt + 0.28))
    note = "keys and values\nfor each layer"
    axis.text(cross - 0.08, y_tgt + 0.8, note, **TEXT | {"ha": "right"})
    _table(axis, stack + 2.6, lower, out, "vectors", 0.55, TARGET, targets)
    _arrow(axis, (stack + 2.6, y_tgt), (right, y_tgt))
    _part(axis, stack + 3.4, y_tgt, 0.6, "output")
    _table(axis, right, lower, logits, "logits", 1.0, SHADES["number"], targets)

    hidden, past = src_mask[row, 0], tgt_mask[row, 0]  # (1, S), (T, T)
    wide = DOT * len(sources)
    _mask(axis, stack + 0.52 - wide / 2, y_src + 0.55, hidden, "src_mask")
    _arrow(axis, (stack + 0.52, y_src + 0.55), (stack + 0.52, y_src + 0.28))
    _mask(axis, cross + 0.55, y_tgt + 0.82, hidden, "src_mask")
    _arrow(axis, (cross + 0.55, y_tgt + 0.86), (cross + 0.2, y_tgt + 0.28))
    own, below = stack + 0.41, y_tgt - 0.7 - DOT * len(targets)
    _mask(axis, own - DOT * len(targets) / 2, below, past, "")
    axis.text(own + DOT * len(targets) / 2 + 0.4, y_tgt - 0.9, "tgt_mask", **TEXT)
    _arrow(axis, (own, y_tgt - 0.7), (own, y_tgt - 0.28))
    return figure


def _table(
    axis: Axes,
    x: float,
    top: float,
    tensor: Tensor,
    name: str,
    width: float,
    color: str,
    words: Sequence[str],
) -> None:
    """One row for each position, ``<pad>`` in grey; a second sheet behind."""
    bottom, shape = top - ROW * len(words), ", ".join(map(str, tensor.shape))
    for shift in (0.09, 0):
        corner = x + shift, bottom + shift
        sheet = Rectangle(corner, width, top - bottom, fc=color, ec="0.4")
        axis.add_patch(sheet).set_zorder(2)
    for n, word in enumerate(words):
        fill = "0.88" if word == "<pad>" else color
        corner = x, top - ROW * (n + 1)
        line = Rectangle(corner, width, ROW, fc=fill, ec="0.7", lw=0.5)
        axis.add_patch(line).set_zorder(2)
    axis.text(x + width / 2, bottom - 0.21, f"{name}\n({shape})", **TEXT)


def _part(axis: Axes, x: float, y: float, width: float, text: str) -> None:
    part = Rectangle((x, y - 0.28), width, 0.56, fc=SHADES["module"], ec="0.6")
    axis.add_patch(part).set_zorder(2)
    axis.text(x + width / 2, y, text, **TEXT, zorder=3)


def _mask(axis: Axes, x: float, y: float, mask: Tensor, name: str) -> None:
    """Blue where a query may look; its lower left corner is (x, y)."""
    for r, row in enumerate(reversed(mask.tolist())):
        for c, seen in enumerate(row):
            corner = x + DOT * c, y + DOT * r
            fill = BLUE if seen else "white"
            cell = Rectangle(corner, DOT, DOT, fc=fill, ec="0.6", lw=0.4)
            axis.add_patch(cell).set_zorder(3)
    high = y + DOT * mask.size(0) + 0.1
    axis.text(x + DOT * mask.size(1) / 2, high, name, **TEXT)


def _arrow(axis: Axes, start: tuple[float, float], end: tuple[float, float]) -> None:
    style: Any = {"arrowstyle": "-|>", "color": "0.25", "lw": 1.4, "shrinkB": 0}
    axis.annotate("", end, start, arrowprops=style, zorder=1)
