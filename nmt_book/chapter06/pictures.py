"""The picture of chapter 06: the path of the data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from torch import Tensor

from nmt_lib.data.batches import Batch
from nmt_lib.data.tokenizers import Tokenizer
from nmt_lib.model.attention import padding_mask, target_mask
from nmt_lib.model.transformer import Transformer
from nmt_lib.translate.heatmap import new_figure

from ..pictures.grids import draw_arrow
from ..pictures.palette import LIGHT, MIDDLE, pale

SOURCE, TARGET = pale("encoder", 0.2), pale("decoder", 0.2)
ROW, DOT = 0.17, 0.085  # height of a position and side of a mask's cell, in inches
TEXT: Any = MIDDLE | {"parse_math": False}


class Part(NamedTuple):
    """A table or a box: its left edge, in inches from the words, and its width."""

    left: float
    width: float

    @property
    def middle(self) -> float:
        return self.left + self.width / 2


# From left to right; source and target have the first three each, and the output and
# the logits are above the decoder's vectors.
IDS, EMBEDDING, VECTORS = Part(0.05, 0.25), Part(0.42, 0.88), Part(1.42, 0.45)
ENCODER, MEMORY = Part(2.04, 0.8), Part(2.98, 0.45)
DECODER = Part(2.0, 2.38)
SELF, CROSS, FORWARD = Part(2.06, 0.72), Part(2.83, 0.72), Part(3.6, 0.72)
OUT, OUTPUT, LOGITS = Part(4.58, 0.45), Part(4.5, 0.6), Part(4.3, 1.0)
SRC_MASK = 2.44  # the middle of the encoder's mask


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

    # The target's line is at y = 0, the source's above it.
    high = ROW * len(targets) / 2
    up = ROW * len(sources) / 2 + 1.3 + high
    left, right = -0.09 * max(map(len, sources + targets)), LOGITS.left + 1.15
    top = up + ROW * len(sources) / 2 + 0.15
    bottom = -high - 0.95
    figure, (axis,) = new_figure(size=(right - left, top - bottom))
    axis.set(xlim=(left, right), ylim=(bottom, top), aspect="equal")
    axis.axis("off")
    for at, words, name, ids, vectors, color in (
        (up, sources, "src", src, read, SOURCE),
        (0, targets, "tgt_in", tgt_in, x, TARGET),
    ):
        for n, word in enumerate(words):
            row_y = at + ROW * (len(words) / 2 - n - 0.5)
            axis.text(0, row_y, word, **TEXT | {"ha": "right"})
        _table(axis, IDS, at, ids, name, color, words)
        _arrow(axis, (IDS.left, at), (VECTORS.left, at))
        _box(axis, EMBEDDING, at, "embedding\n+ positions")
        _table(axis, VECTORS, at, vectors, "vectors", color, words)

    _arrow(axis, (VECTORS.left, up), (MEMORY.left, up))
    _box(axis, ENCODER, up, f"encoder,\n{len(model.encoder.layers)} layers")
    _table(axis, MEMORY, up, memory, "memory", SOURCE, sources)

    _arrow(axis, (VECTORS.left, 0), (OUT.left, 0))
    frame = Rectangle(
        (DECODER.left, -0.55), DECODER.width, 1.05, fc=pale("decoder", 0.05), ec="0.6"
    )
    axis.add_patch(frame).set_zorder(0)
    _box(axis, SELF, 0, "self-\nattention")
    _box(axis, CROSS, 0, "cross-\nattention")
    _box(axis, FORWARD, 0, "feed-\nforward")
    name = f"decoder, {len(model.decoder.layers)} layers"
    axis.text(CROSS.middle, -0.42, name, **TEXT)
    below = up - ROW * len(sources) / 2 - 0.38  # the name of the memory
    _arrow(axis, (CROSS.middle, below), (CROSS.middle, 0.28))
    note = "keys and values\nfor each layer"
    axis.text(CROSS.middle - 0.08, 0.95, note, **TEXT | {"ha": "right"})
    _table(axis, OUT, 0, out, "vectors", TARGET, targets)
    _box(axis, OUTPUT, high + 0.68, "output")
    _arrow(axis, (OUT.middle, high + 0.1), (OUT.middle, high + 0.4))
    _arrow(axis, (OUT.middle, high + 0.96), (OUT.middle, high + 1.24))
    place = 2 * high + 1.62  # with room for the name
    _table(axis, LOGITS, place, logits, "logits", TARGET, targets)

    hidden, past = src_mask[row, 0], tgt_mask[row, 0]  # (1, S), (T, T)
    _mask(axis, SRC_MASK - DOT * len(sources) / 2, up + 0.55, hidden, "src_mask")
    _arrow(axis, (SRC_MASK, up + 0.55), (SRC_MASK, up + 0.28))
    _mask(axis, CROSS.middle + 0.35, 0.82, hidden, "src_mask")
    _arrow(axis, (CROSS.middle + 0.35, 0.86), (CROSS.middle + 0.2, 0.28))
    side = DOT * len(targets)
    _mask(axis, SELF.middle - side / 2, -0.7 - side, past, "")
    axis.text(SELF.middle + side / 2 + 0.4, -0.9, "tgt_mask", **TEXT)
    _arrow(axis, (SELF.middle, -0.7), (SELF.middle, -0.28))
    return figure


def _table(
    axis: Axes,
    part: Part,
    y: float,
    tensor: Tensor,
    name: str,
    color: str,
    words: Sequence[str],
) -> None:
    """One row a position, those of ``<pad>`` grey; a second sheet behind."""
    high = ROW * len(words)
    shape = ", ".join(map(str, tensor.shape))
    for shift in (0.09, 0):
        corner = part.left + shift, y - high / 2 + shift
        sheet = Rectangle(corner, part.width, high, fc=color, ec="0.4")
        axis.add_patch(sheet).set_zorder(2)
    for n, word in enumerate(words):
        fill = pale("masked", 0.25) if word == "<pad>" else color
        corner = part.left, y + high / 2 - ROW * (n + 1)
        line = Rectangle(corner, part.width, ROW, fc=fill, ec="0.7", lw=0.5)
        axis.add_patch(line).set_zorder(2)
    axis.text(part.middle, y - high / 2 - 0.21, f"{name}\n({shape})", **TEXT)


def _box(axis: Axes, part: Part, y: float, text: str) -> None:
    corner, fill = (part.left, y - 0.28), LIGHT["soft"]
    box = Rectangle(corner, part.width, 0.56, fc=fill, ec="0.6")
    axis.add_patch(box).set_zorder(2)
    axis.text(part.middle, y, text, **TEXT, zorder=3)


def _mask(axis: Axes, x: float, y: float, mask: Tensor, name: str) -> None:
    """Blue where a query may look; its lower left corner is (x, y)."""
    for r, row in enumerate(reversed(mask.tolist())):
        for c, value in enumerate(row):
            corner = x + DOT * c, y + DOT * r
            fill = LIGHT["right"] if value else "white"
            cell = Rectangle(corner, DOT, DOT, fc=fill, ec="0.6", lw=0.4)
            axis.add_patch(cell).set_zorder(3)
    high = y + DOT * mask.size(0) + 0.1
    axis.text(x + DOT * mask.size(1) / 2, high, name, **TEXT)


def _arrow(axis: Axes, start: tuple[float, float], end: tuple[float, float]) -> None:
    draw_arrow(axis, start, end, color="0.25", lw=1.4, shrinkB=0).set_zorder(1)
