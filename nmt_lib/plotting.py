"""Pictures of what the model does. Each function returns a matplotlib ``Figure`` and never shows it itself."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from torch import Tensor

from .errors import ShapeError
from .translator import Translation

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained", facecolor="white", dpi=80)
    FigureCanvasAgg(figure)
    return figure, list(figure.subplots(n_rows, n_columns, squeeze=False).flat)


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
