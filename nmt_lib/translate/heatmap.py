"""Attention as heatmaps: a grid for each head, with the words on both axes."""

from __future__ import annotations

import io
import math
import textwrap
import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from PIL import Image
from torch import Tensor

from ..errors import check_kind
from .fonts import choose_fonts
from .translator import Translation

GOLD = "#a98420"
FONT = 10  # points
# Width of a letter, and of a picture that is still legible on a phone, in inches.
LETTER, WIDTH = 0.083, 5.9
STYLE: Any = {
    "font.size": FONT,
    "axes.titlesize": FONT,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "0.5",
    "axes.linewidth": 0.8,
    "legend.frameon": False,
}


class Picture(Figure):
    """A figure that a notebook shows, whatever its matplotlib settings."""

    def __repr__(self) -> str:
        """A name without the size, which depends on the words that a model wrote."""
        return "<Picture>"

    def _repr_png_(self) -> bytes:
        """The PNG with 256 colours, which are enough and keep the chapters small."""
        canvas, file = FigureCanvasAgg(self), io.BytesIO()
        choose_fonts(self)
        canvas.draw()
        image = Image.fromarray(np.asarray(canvas.buffer_rgba())[..., :3])
        image.quantize(256, Image.Quantize.MAXCOVERAGE).save(file, "png", optimize=True)
        return file.getvalue()

    def savefig(self, *args: Any, **options: Any) -> None:
        """Writes it to a file, in the fonts that a notebook shows."""
        choose_fonts(self)
        super().savefig(*args, **options)

    def draw(self, renderer: Any) -> None:
        with rc_context(STYLE), warnings.catch_warnings():
            # A letter that no font has is drawn as a box.
            warnings.filterwarnings("ignore", "Glyph")
            super().draw(renderer)


def new_figure(
    n_rows: int = 1,
    n_columns: int = 1,
    size: tuple[float, float] = (6.0, 3.5),
    **options: Any,
) -> tuple[Figure, list[Axes]]:
    """A figure and its axes in reading order; ``size`` in inches.

    Its background is white, so it is legible on light and on dark pages. Further
    options go to ``Figure.subplots``.
    """
    with rc_context(STYLE):
        figure = Picture(figsize=size, layout="constrained", facecolor="white", dpi=110)
        axes = figure.subplots(n_rows, n_columns, squeeze=False, **options)
    return figure, list(axes.flat)


def set_title(axis: Axes, title: str) -> None:
    """Sets a title exactly as it is written; a $ stays a dollar sign."""
    axis.set_title(title, fontsize=FONT, parse_math=False)


def draw_grid(
    axis: Axes,
    weights: Tensor,
    rows: Sequence[str],
    columns: Sequence[str],
    letters: float = 2,
    **style: Any,
) -> None:
    """A grid of shades for numbers from 0 to 1, ``(R, C)``, with words on both axes.

    The words of the columns are vertical if one of them has more than ``letters``
    letters. ``style`` has options for ``Axes.imshow``, such as ``cmap`` or ``vmax``.
    """
    default: Any = {"cmap": "Blues", "vmin": 0, "vmax": 1, "aspect": "auto"}
    axis.imshow(weights.detach().cpu().float().numpy(), **default | style)
    turned = 0 if max(map(len, columns), default=0) <= letters else 90
    text: Any = {"fontsize": FONT, "parse_math": False}
    axis.set_xticks(range(weights.size(1)), columns, rotation=turned, **text)
    axis.set_yticks(range(weights.size(0)), rows, **text)
    axis.tick_params(length=0)
    axis.spines[:].set(visible=True, color="0.7")


class Grid(NamedTuple):
    """One panel of a picture: a table with its words."""

    title: str
    table: Tensor  # (R, C)
    rows: Sequence[str]
    columns: Sequence[str]


def in_lines(grids: Sequence[Grid], cell: float = 0.15) -> list[Sequence[Grid]]:
    """Grids in lines of about equal length, with as many side by side as fit.

    With cells narrower than ``cell``, the words of neighbouring columns would touch.
    """
    panel = cell * max(grid.table.size(1) for grid in grids) + 0.3
    fit = max(1, int((WIDTH - LETTER * max(map(len, grids[0].rows))) / panel))
    n = math.ceil(len(grids) / math.ceil(len(grids) / fit))
    return [grids[i : i + n] for i in range(0, len(grids), n)]


def draw_grids(
    lines: Sequence[Sequence[Grid]],
    xlabel: str,
    ylabel: str,
    cell: float = 0.3,
    **style: Any,
) -> tuple[Figure, list[Axes]]:
    """A figure of lines of grids; ``cell`` is the width of a cell in inches.

    Words that the grid to the left or below already shows are not repeated.
    """
    n, grids = max(map(len, lines)), [grid for line in lines for grid in line]
    # The longest words at the left and below, and the gaps between grids, in inches.
    margin = LETTER * max([len(word) for grid in grids for word in grid.rows])
    longest = max([len(word) for grid in grids for word in grid.columns])
    gaps = margin + 0.3 * n + 0.3
    wide = [
        max(line[j].table.size(1) for line in lines if j < len(line)) for j in range(n)
    ]  # in cells
    high = [max(grid.table.size(0) for grid in line) for line in lines]
    across = max(min(cell, (WIDTH - gaps) / sum(wide)), 0.05)
    width = max(across * sum(wide), 1.2 * n) + gaps
    letters = max(2, (width - gaps) / sum(wide) / LETTER - 1)  # that fit below a cell
    under = LETTER * (longest if longest > letters else 2)
    height = 0.26 * sum(high) + under + 0.35 * len(lines) + 0.4
    shape, size = (len(lines), n), (width, height)
    figure, axes = new_figure(*shape, size, width_ratios=wide, height_ratios=high)
    for i, line in enumerate(lines):
        below = lines[i + 1] if i + 1 < len(lines) else []
        for j, (title, table, rows, columns) in enumerate(line):
            axis = axes[i * n + j]
            draw_grid(axis, table, rows, columns, letters, **style)
            set_title(axis, textwrap.fill(title, max(8, int(width / n / LETTER))))
            if j and rows == line[j - 1].rows:
                axis.set_yticks([])
            if j < len(below) and columns == below[j].columns:
                axis.set_xticks([])
        for axis in axes[i * n + len(line) : (i + 1) * n]:
            axis.remove()
    label_axes(figure, xlabel, ylabel, n_lines=len(lines))
    return figure, figure.axes


def label_axes(figure: Figure, xlabel: str, ylabel: str, n_lines: int = 1) -> None:
    """Labels the axes once for all panels."""
    if len(figure.axes) == 1 or not xlabel:
        figure.axes[0].set_xlabel(xlabel)
    else:
        figure.supxlabel(xlabel, fontsize=FONT)
    if n_lines == 1 or not ylabel:
        figure.axes[0].set_ylabel(ylabel)
    else:
        figure.supylabel(ylabel, fontsize=FONT)


KINDS = {  # kind → (label of the rows, label of the columns)
    "encoder": ("source word asks", "source word answers"),
    "decoder": ("word being written", "word read so far"),
    "cross": ("word being written", "source word"),
}


def plot_attention(
    translation: Translation | Sequence[Translation],
    kind: str = "cross",
    layer: int = -1,
    heads: Sequence[int] | None = None,
    *,
    mean: bool = False,
    gold: Sequence[Any] = (),
) -> Figure:
    """Attention as a grid per head: row = query, column = key, dark = high weight.

    Args:
        translation: what a ``Translator`` returns; or several, each in a panel with its
            sentence as the title.
        kind: ``"encoder"``, ``"decoder"`` or ``"cross"``.
        layer: from 0; −1 is the last.
        heads: the heads to draw; default: all.
        mean: one grid, the mean of the heads.
        gold: links (source word, target word) without special tokens, as
            ``Pair.alignment`` has them; they are framed in gold. For several
            translations, a list of links for each.

    Raises:
        ValueError: an unknown kind or layer; an empty text; a gold link to a
            word that does not exist; more or fewer lists of links than translations.
        IndexError: an unknown head.
    """
    is_list = isinstance(translation, Sequence)
    translations: Any = translation if is_list else [translation]
    golds = gold if is_list and gold else [gold] * len(translations)
    grids, frames = [], []
    for item, links in zip(translations, golds, strict=True):
        weights, *words = attention_table(item, kind, layer)  # (H, T, S)
        indices = [*range(len(weights))] if heads is None else list(heads)
        tables, names = weights[indices], [f"head {h % len(weights)}" for h in indices]
        if mean:
            tables, names = tables.mean(0, keepdim=True), ["mean of the heads"]
        if is_list and len(names) == 1:
            names = [item.source]  # the sentence is enough
        elif is_list:
            names = [f"{item.source}, {name}" for name in names]
        grids += [Grid(*grid, *words) for grid in zip(names, tables, strict=True)]
        frames += [gold_cells(item, kind, links)] * len(names)
    rows_label, columns_label = KINDS[kind]
    figure, axes = draw_grids(in_lines(grids), columns_label, rows_label)
    frame: Any = {"fill": False, "edgecolor": GOLD, "linewidth": 2}
    for axis, cells in zip(axes, frames, strict=True):
        for x, y in cells:
            axis.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, **frame))
    return figure


def attention_table(
    translation: Translation, kind: str, layer: int
) -> tuple[Tensor, list[str], list[str]]:
    """The weights ``(H, rows, columns)`` of a layer, and the words for both axes.

    Raises:
        ValueError: an unknown kind or layer; an empty text.
    """
    if kind not in KINDS:
        raise ValueError(f"kind {kind!r}: choose one of {', '.join(KINDS)}")
    check_kind(translation, Translation)
    if not translation.src_labels:
        raise ValueError("an empty text has no attention to draw")
    layers = getattr(translation.attention, kind)
    if not -len(layers) <= layer < len(layers):
        raise ValueError(
            f"layer {layer}: the {kind} attention has layers 0 to {len(layers) - 1}"
        )
    source, outputs = list(translation.src_labels), list(translation.tgt_labels)
    inputs = ["<sos>", *outputs[:-1]]
    rows = source if kind == "encoder" else outputs
    columns = inputs if kind == "decoder" else source
    return layers[layer][0].cpu(), rows, columns  # (H, T, S)


def gold_cells(
    translation: Translation, kind: str, gold: Sequence[tuple[int, int]]
) -> list[tuple[int, int]]:
    """The (column, row) of each gold link in the cross-attention.

    Raises:
        ValueError: a kind other than ``cross``; a link to a word that does not exist.
    """
    if gold and kind != "cross":
        raise ValueError(
            f"gold links join source and target: the {kind} attention has none"
        )
    n_specials = int(translation.src_labels[:1] == ("<sos>",))  # some models have none
    # Without <eos>.
    n_src, n_tgt = len(translation.src_labels) - n_specials - 1, len(translation.tokens)
    for s, t in gold:
        if not (0 <= s < n_src and 0 <= t < n_tgt):
            raise ValueError(
                f"gold link ({s}, {t}): there are {n_src} source words "
                f"and {n_tgt} target words, from 0"
            )
    return [(n_specials + s, t) for s, t in gold]
