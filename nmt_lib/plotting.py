"""Pictures of what the model does. Each function returns a matplotlib ``Figure`` and never shows it itself."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from .decoding import Candidate
from .errors import ShapeError
from .special import EOS
from .translation import Translation

KINDS = {  # kind → (labels of the rows, labels of the columns)
    "encoder": ("source word asks", "source word answers"),
    "decoder": ("word being written", "word read so far"),
    "cross": ("word being written", "source word"),
}


def plot_attention(
    translation: Translation, kind: str = "cross", layer: int = -1, heads: Sequence[int] | None = None, columns: int = 4
) -> Figure:
    """One grid a head: row = the token that asks, column = the token that is looked at, dark = much.

    Args:
        translation: of a ``Translator``.
        kind: ``"encoder"``, ``"decoder"`` or ``"cross"``.
        layer: from 0; −1 is the last.
        heads: which; default: all.
        columns: grids side by side.

    Raises:
        ValueError: no such kind, layer or head; no column; an empty translation.
    """
    weights, rows, cols = attention_table(translation, kind, layer)  # (H, T, S)
    n_heads = len(weights)
    heads = list(range(n_heads)) if heads is None else list(heads)
    if not heads or any(not -n_heads <= head < n_heads for head in heads):
        raise ValueError(f"heads {heads}: this layer has heads 0 to {n_heads - 1}")
    if columns < 1:
        raise ValueError(f"columns must be at least 1, not {columns}")
    columns = min(columns, len(heads))
    size = (0.32 * len(cols) + 1.2, 0.28 * len(rows) + 1.2)
    n_rows = math.ceil(len(heads) / columns)
    figure, axes = new_figure(n_rows, columns, (size[0] * columns, size[1] * n_rows))
    for axis, head in zip(axes, heads, strict=False):
        draw_grid(axis, weights[head], rows, cols)
        axis.set_title(f"head {head % n_heads}", fontsize=9)
    for axis in axes[len(heads) :]:
        axis.remove()
    axes[0].set_ylabel(KINDS[kind][0])
    figure.supxlabel(KINDS[kind][1], fontsize=9)
    return figure


def attention_table(translation: Translation, kind: str, layer: int) -> tuple[Tensor, list[str], list[str]]:
    """The weights ``(H, rows, columns)`` of a layer, with the words on both axes.

    Raises:
        ValueError: no such kind or layer; an empty translation.
    """
    if kind not in KINDS:
        raise ValueError(f"kind {kind!r}: choose one of {', '.join(KINDS)}")
    if not translation.tokens:
        raise ValueError("an empty translation has no attention to draw")
    layers = getattr(translation.attention, kind)
    if not -len(layers) <= layer < len(layers):
        raise ValueError(f"layer {layer}: the {kind} attention has layers 0 to {len(layers) - 1}")
    source, written = list(translation.src_labels), list(translation.tgt_labels)
    read = ["<sos>", *written[:-1]]
    rows, cols = {"encoder": (source, source), "decoder": (written, read), "cross": (written, source)}[kind]
    return layers[layer][0].cpu(), rows, cols  # (H, T, S)


def new_figure(
    n_rows: int = 1, n_columns: int = 1, size: tuple[float, float] = (6.0, 3.5)
) -> tuple[Figure, list[Axes]]:
    """A figure on a white ground (readable on light and dark pages) and its axes in reading order."""
    figure = Picture(figsize=size, layout="constrained", facecolor="white", dpi=80)
    return figure, list(figure.subplots(n_rows, n_columns, squeeze=False).flat)


class Picture(Figure):
    """A figure that a notebook shows as the last line of a cell, whatever its matplotlib settings."""

    def _repr_png_(self) -> bytes:
        """As PNG with 128 colours: a picture of these kinds needs no more, and chapters stay small."""
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from PIL import Image

        canvas = FigureCanvasAgg(self)
        canvas.draw()
        file = io.BytesIO()
        Image.fromarray(np.asarray(canvas.buffer_rgba())[..., :3]).quantize(128).save(file, "png", optimize=True)
        return file.getvalue()


def draw_grid(axis: Axes, weights: Tensor, rows: Sequence[str], columns: Sequence[str], **style: Any) -> None:
    """A table of numbers from 0 to 1 as shades, with a word at each row and column.

    Raises:
        ShapeError: as many words as rows and columns are needed.
    """
    if tuple(weights.shape) != (len(rows), len(columns)):
        raise ShapeError(f"weights {tuple(weights.shape)} need {len(rows)} rows and {len(columns)} columns of words")
    axis.imshow(weights.float().numpy(), **{"cmap": "Blues", "vmin": 0.0, "vmax": 1.0, "aspect": "auto", **style})
    axis.set_xticks(range(len(columns)), columns, rotation=90, fontsize=8, parse_math=False)  # a $ is a dollar
    axis.set_yticks(range(len(rows)), rows, fontsize=8, parse_math=False)
    axis.tick_params(length=0)


FATES = {"kept": "tab:blue", "finished": "tab:green", "dropped": "tab:gray"}  # of a candidate → its colour


def plot_beam(
    trace: Sequence[Candidate], lookup: Callable[[list[int]], list[str]], best: Sequence[int] | None = None
) -> Figure:
    """The tree of a beam search: one column a step, one box a candidate, with the log-probability of its whole path.

    Args:
        trace: what ``beam_search`` wrote, from step 1 on; cut it to draw the first steps only.
        lookup: ids to words, such as ``tgt_tokenizer.lookup_tokens``.
        best: ids of the translation whose path is drawn thick; without ``<eos>``.

    Raises:
        ValueError: an empty trace.
    """
    if not trace:
        raise ValueError("an empty trace has no tree to draw")
    columns = [list(group) for _, group in groupby(trace, key=lambda candidate: candidate.step)]
    size = (len(columns) + 1, max(map(len, columns)))  # in boxes
    figure, (axis,) = new_figure(size=(1.1 * size[0], 0.55 * size[1] + 0.3))
    axis.set(xlim=(-0.5, size[0] - 0.5), ylim=(-size[1] / 2, size[1] / 2))
    axis.axis("off")
    box = {"boxstyle": "round,pad=0.25", "facecolor": "white"}
    text: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 8, "parse_math": False, "in_layout": False}
    axis.text(0, 0, "<sos>", bbox={**box, "edgecolor": "black"}, **text)
    heights: dict[tuple[int, ...], float] = {(): 0.0}  # of each path; children in their parents' order: no line crosses
    for column in columns:
        for row, c in enumerate(sorted(column, key=lambda c: (-heights[c.prefix], -c.log_prob))):
            path, color, y = (*c.prefix, c.token), FATES[c.fate], (len(column) - 1) / 2 - row
            thick = best is not None and path == (*best, EOS)[: len(path)]
            axis.plot([c.step - 1, c.step], [heights[c.prefix], y], color=color, lw=3 if thick else 1, zorder=0)
            label = f"{lookup([c.token])[0]}\n{c.log_prob:.2f}"
            axis.text(c.step, y, label, color=color, bbox={**box, "edgecolor": color, "lw": 2 if thick else 1}, **text)
            heights[path] = y
    keys = [axis.plot([], [], color=color, lw=3, label=fate)[0] for fate, color in FATES.items()]
    figure.legend(handles=keys, loc="outside lower center", ncols=3, fontsize=8, frameon=False)
    return figure


def plot_history(history: Sequence[dict[str, float]]) -> Figure:
    """Losses and learning rate by update, from a run's history."""
    figure, (losses, rates) = new_figure(1, 2, (9.0, 3.2))
    steps = [row["step"] for row in history]
    losses.plot(steps, [row["train_loss"] for row in history], label="training (smoothed, dropout on)", ls="--")
    losses.plot(steps, [row["valid_loss"] for row in history], label="validation (plain, dropout off)")
    losses.set(xlabel="update", ylabel="nats a token", ylim=(0, None))
    losses.legend(fontsize=8, frameon=False)
    rates.plot(steps, [row["lr"] for row in history], color="tab:green")
    rates.set(xlabel="update", ylabel="learning rate", ylim=(0, None))
    return figure
