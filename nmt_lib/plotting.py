"""Pictures of tables: attention, masks, positions. Each function returns a ``Picture``, the last line of its cell.

Common to all pictures: a white ground, one size of text, blue for "as it should be" and orange for "the mistake". Names
that come from data (words, titles, series) are written as they are; only ``xlabel`` and ``ylabel`` may hold ``$math$``.
"""

from __future__ import annotations

import io
import textwrap
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from torch import Tensor

from .errors import ShapeError
from .translation import Translation

BLUE, ORANGE, GREY = "#0072b2", "#e8710a", "0.35"
FONT, LETTER, WIDTH = 10, 0.083, 8.2  # points; width of a letter and of a page in inches
STYLE = {"font.size": FONT, "axes.titlesize": FONT, "axes.spines.top": False, "axes.spines.right": False,
         "axes.edgecolor": "0.5", "axes.linewidth": 0.8, "legend.frameon": False}  # fmt: skip
KINDS = {  # kind → (labels of the rows, labels of the columns)
    "encoder": ("source word asks", "source word answers"),
    "decoder": ("word being written", "word read so far"),
    "cross": ("word being written", "source word"),
}


class Picture(Figure):
    """A figure that a notebook shows as the last line of a cell, whatever its matplotlib settings."""

    def _repr_png_(self) -> bytes:
        """As PNG with 96 colours: a picture of these kinds needs no more, and chapters stay small."""
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from PIL import Image

        canvas = FigureCanvasAgg(self)
        with rc_context(STYLE), warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Glyph")  # a letter that the font lacks is drawn as a box
            canvas.draw()
        file = io.BytesIO()
        Image.fromarray(np.asarray(canvas.buffer_rgba())[..., :3]).quantize(96).save(file, "png", optimize=True)
        return file.getvalue()


def new_figure(
    n_rows: int = 1, n_columns: int = 1, size: tuple[float, float] = (6.0, 3.5), **options: Any
) -> tuple[Figure, list[Axes]]:
    """A figure on a white ground (readable on light and dark pages) and its axes in reading order."""
    with rc_context(STYLE):
        figure = Picture(figsize=size, layout="constrained", facecolor="white", dpi=110)
        return figure, list(figure.subplots(n_rows, n_columns, squeeze=False, **options).flat)


def draw_grid(axis: Axes, weights: Tensor, rows: Sequence[str], columns: Sequence[str], **style: Any) -> None:
    """A table of numbers from 0 to 1 as shades, with a word at each row and column.

    Raises:
        ShapeError: as many words as rows and columns are needed.
    """
    if tuple(weights.shape) != (len(rows), len(columns)):
        raise ShapeError(f"weights {tuple(weights.shape)} need {len(rows)} rows and {len(columns)} columns of words")
    weights = weights.detach().cpu()
    axis.imshow(weights.float().numpy(), **{"cmap": "Blues", "vmin": 0.0, "vmax": 1.0, "aspect": "auto", **style})
    turned = 0 if max(map(len, columns), default=0) <= 2 else 90
    axis.set_xticks(range(len(columns)), columns, rotation=turned, fontsize=FONT, parse_math=False)  # a $ is a dollar
    axis.set_yticks(range(len(rows)), rows, fontsize=FONT, parse_math=False)
    axis.tick_params(length=0)
    axis.spines[:].set(visible=True, color="0.7")


class Grid(NamedTuple):
    """A table with its words: one panel of a picture."""

    title: str
    table: Tensor  # (R, C)
    rows: Sequence[str]
    columns: Sequence[str]


def grid_figure(
    lines: Sequence[Sequence[Grid]], xlabel: str = "", ylabel: str = "", cell: float = 0.3, **style: Any
) -> tuple[Figure, list[Axes]]:
    """Lines of grids with cells of one size; words that the grid to the left or below has too are not repeated."""
    n, longest = max(map(len, lines)), [0, 0]
    for grid in (grid for line in lines for grid in line):
        longest = [max([old, *map(len, words)]) for old, words in zip(longest, grid[2:], strict=True)]
    wide = [max(line[j].table.size(1) for line in lines if j < len(line)) for j in range(n)]  # in cells
    high = [max(grid.table.size(0) for grid in line) for line in lines]
    cell = max(0.16, min(cell, (WIDTH - LETTER * longest[0] - 0.3 * n - 0.3) / sum(wide)))  # inches
    size = (cell * sum(wide) + LETTER * longest[0] + 0.3 * n + 0.3, 0.26 * sum(high) + LETTER * longest[1])
    size = (max(size[0], 2.6), size[1] + 0.35 * len(lines) + 0.3)
    figure, axes = new_figure(len(lines), n, size, width_ratios=wide, height_ratios=high)
    kept = []
    for i, line in enumerate(lines):
        for j, axis in enumerate(axes[i * n : (i + 1) * n]):
            if j >= len(line):
                axis.remove()
                continue
            title, table, rows, columns = line[j]
            draw_grid(axis, table, rows, columns, **style)
            axis.set_title(textwrap.fill(title, max(8, int(size[0] / n / LETTER))), parse_math=False)
            if j and rows == line[j - 1].rows:
                axis.set_yticks([])
            if i + 1 < len(lines) and j < len(lines[i + 1]) and columns == lines[i + 1][j].columns:
                axis.set_xticks([])
            kept.append(axis)
    label_axes(figure, kept, xlabel, ylabel, n_lines=len(lines))
    return figure, kept


def label_axes(figure: Figure, axes: Sequence[Axes], xlabel: str, ylabel: str, n_lines: int = 1) -> None:
    """Names the axes once for all panels."""
    if xlabel:
        axes[0].set_xlabel(xlabel) if len(axes) == 1 else figure.supxlabel(xlabel, fontsize=FONT)
    if ylabel:
        axes[0].set_ylabel(ylabel) if n_lines == 1 else figure.supylabel(ylabel, fontsize=FONT)


def plot_grids(
    grids: Any,
    rows: Sequence[Any] | None = None,
    columns: Sequence[Any] | None = None,
    *,
    numbers: str = "",
    lines: bool = False,
    cmap: str = "Blues",
    vmin: float | None = 0,
    vmax: float | None = 1,
    xlabel: str = "",
    ylabel: str = "",
) -> Figure:
    """Small tables as shades, with words on both axes: weights, masks, vectors.

    Args:
        grids: a tensor ``(R, C)``, or title → tensor, or a list of such dicts, one for each line of panels.
        rows, columns: the words of the axes: one list for all grids, or a list for each; none: numbers from 0.
        numbers: how the values are written into the cells, such as ``".2f"``.
        lines: thin lines between the cells, as for masks.
        cmap, vmin, vmax: colours and what they stand for; ``None``: smallest and largest of all grids.
        xlabel, ylabel: what columns and rows are.

    Raises:
        ShapeError: another number of words than of rows or columns.
        ValueError: nothing to draw.
    """
    given = [grids] if isinstance(grids, Mapping) else grids if isinstance(grids, (list, tuple)) else [{"": grids}]
    tables = [table for line in given for table in line.values()]
    if not tables or any(table.dim() != 2 or not table.numel() for table in tables):
        raise ValueError("nothing to draw: grids must be tables (R, C) with at least one cell")
    words = [axis_words(given_words, tables, k) for k, given_words in enumerate((rows, columns))]
    panels = [Grid(title, *rest) for title, *rest in zip((t for line in given for t in line), tables, *words, strict=True)]
    cell = max(0.3, LETTER * len(format(float(tables[0].max()), numbers)) + 0.1) if numbers else 0.3
    if len(given) == 1:  # as many side by side as the page is wide
        each = 0.3 + max(0.2, cell if numbers else 0) * max(table.size(1) for table in tables)
        n = max(1, int((WIDTH - LETTER * max(map(len, words[0][0]))) / each))
        cuts = [panels[i : i + n] for i in range(0, len(panels), n)]
    else:
        left = iter(panels)
        cuts = [[next(left) for _ in line] for line in given]
    vmax = 1.4 if all(table.dtype == torch.bool for table in tables) else vmax  # True: not the darkest blue
    low = min(float(table.min()) for table in tables) if vmin is None else vmin
    high = max(float(table.max()) for table in tables) if vmax is None else vmax
    figure, axes = grid_figure(cuts, xlabel, ylabel, cell, cmap=cmap, vmin=low, vmax=high)
    for axis, table in zip(axes, tables, strict=True):
        if lines:
            axis.hlines([r - 0.5 for r in range(1, table.size(0))], -0.5, table.size(1) - 0.5, color="0.8", lw=0.8)
            axis.vlines([c - 0.5 for c in range(1, table.size(1))], -0.5, table.size(0) - 0.5, color="0.8", lw=0.8)
        if numbers:
            write_numbers(axis, table, numbers)
    return figure


def axis_words(words: Sequence[Any] | None, tables: Sequence[Tensor], axis: int) -> list[list[str]]:
    """A list of words for each table: numbers from 0, the one list for all, or the list of each."""
    if words is None:
        return [[str(k) for k in range(table.size(axis))] for table in tables]
    words = list(words)
    shared = not words or isinstance(words[0], (str, int))
    lists = [words] * len(tables) if shared else words
    if len(lists) != len(tables):
        raise ShapeError(f"{len(lists)} lists of words for {len(tables)} grids")
    return [[str(word) for word in some] for some in lists]


def write_numbers(axis: Axes, table: Tensor, numbers: str) -> None:
    """The values of a table in its cells, white on dark and black on bright."""
    image = axis.images[0]
    for r, row in enumerate(table.tolist()):
        for c, value in enumerate(row):
            bright = float(np.dot(image.cmap(image.norm(value))[:3], (0.3, 0.59, 0.11))) > 0.5
            text = format(value, numbers).replace("-", "−")
            axis.text(c, r, text, ha="center", va="center", fontsize=FONT, color="black" if bright else "white")


def plot_attention(
    translation: Translation | Sequence[Translation],
    kind: str = "cross",
    layer: int | None = -1,
    heads: Sequence[int] | None = None,
    columns: int = 4,
    *,
    mean: bool = False,
    gold: Sequence[Any] = (),
    small: bool = False,
) -> Figure:
    """One grid a head: row = the token that asks, column = the token that is looked at, dark = much.

    Args:
        translation: of a ``Translator``; or several: a panel each, with the sentence as its title.
        kind: ``"encoder"``, ``"decoder"`` or ``"cross"``.
        layer: from 0; −1 is the last; ``None``: all layers, a line of grids each.
        heads: which; default: all.
        columns: grids side by side.
        mean: one grid, the mean of the heads.
        gold: links (source word, target word) without special tokens, as ``Pair.alignment`` has them, framed in orange;
            with several translations: such links for each.
        small: without words.

    Raises:
        ValueError: no such kind, layer or head; no column; an empty translation; gold links beyond the words.
    """
    several = not isinstance(translation, Translation)
    shown: list[Translation] = list(translation) if several else [translation]  # type: ignore[arg-type, list-item]
    golds = list(gold) if several and gold else [gold] * len(shown)
    if not shown or len(golds) != len(shown):
        raise ValueError(f"{len(golds)} lists of gold links for {len(shown)} translations")
    if columns < 1:
        raise ValueError(f"columns must be at least 1, not {columns}")
    lines: list[list[Grid]] = []
    frames: list[list[tuple[int, int]]] = []
    for one, links in zip(shown, golds, strict=True):
        n_layers = len(getattr(one.attention, kind)) if kind in KINDS and one.tokens else 1
        for i in range(n_layers) if layer is None else [layer]:
            weights, down, across = attention_table(one, kind, i)  # (H, T, S)
            tables = {f"head {h}": weights[h] for h in checked_heads(heads, len(weights))}
            tables = {"mean of the heads": torch.stack([*tables.values()]).mean(0)} if mean else tables
            start = [f"layer {i}"] if layer is None else [one.source] if several else []
            down, across = ([""] * len(down), [""] * len(across)) if small else (down, across)
            name = [] if start and len(tables) == 1 else [None]
            lines.append([Grid(", ".join([*start, *(head for _ in name)]), t, down, across) for head, t in tables.items()])
            frames += [gold_cells(one, kind, links)] * len(tables)
    if layer is not None or max(map(len, lines)) == 1:
        flat = [grid for line in lines for grid in line]
        lines = [flat[i : i + columns] for i in range(0, len(flat), columns)]
    labels = KINDS[kind]
    figure, axes = grid_figure(lines, labels[1], labels[0], cell=0.12 if small else 0.3)
    for axis, cells in zip(axes, frames, strict=True):
        for column, row in cells:
            axis.add_patch(Rectangle((column - 0.5, row - 0.5), 1, 1, fill=False, edgecolor=ORANGE, linewidth=2))
    return figure


def checked_heads(heads: Sequence[int] | None, n_heads: int) -> list[int]:
    """The heads, counted from 0."""
    chosen = list(range(n_heads)) if heads is None else list(heads)
    if not chosen or any(not -n_heads <= head < n_heads for head in chosen):
        raise ValueError(f"heads {chosen}: this layer has heads 0 to {n_heads - 1}")
    return [head % n_heads for head in chosen]


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


def gold_cells(translation: Translation, kind: str, gold: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The (column, row) of each gold link in the cross-attention: the source may have ``<sos>`` in front."""
    first = int(translation.src_labels[:1] == ("<sos>",))
    cells = [(first + s, t) for s, t in gold]
    if cells and kind != "cross":
        raise ValueError(f"gold links join source and target: only the cross-attention has them, not {kind!r}")
    for column, row in cells:
        if not (first <= column < len(translation.src_labels) and 0 <= row < len(translation.tgt_labels)):
            raise ValueError(f"the gold link ({column - first}, {row}) is beyond the words of {translation.text!r}")
    return cells


def plot_tables(
    tables: Any,
    *,
    cmap: str = "cividis",
    vmin: float | None = -1,
    vmax: float | None = 1,
    xlabel: str = "column",
    ylabel: str = "position",
) -> Figure:
    """Large tables without words, one scale of colours for all; wide ones stand below each other.

    Args:
        tables: a tensor ``(R, C)``, or title → tensor.
        cmap, vmin, vmax, xlabel, ylabel: as in ``plot_grids``. Boolean tables have no colour bar.

    Raises:
        ValueError: nothing to draw.
    """
    tables = tables if isinstance(tables, Mapping) else {"": tables}
    if not tables or any(table.dim() != 2 or not table.numel() for table in tables.values()):
        raise ValueError("nothing to draw: tables must be (R, C) with at least one cell")
    numbers = [table.detach().float().cpu().numpy() for table in tables.values()]
    below = all(table.shape[1] > 1.5 * table.shape[0] for table in numbers)
    n = len(tables)
    size = (WIDTH, 0.4 + (1.4 if n > 1 else 2.4) * n) if below else (min(WIDTH, 0.8 + 3.6 * n), 3.2)
    figure, axes = new_figure(*((n, 1) if below else (1, n)), size, sharex=below)
    for axis, title, table in zip(axes, tables, numbers, strict=True):
        low, high = (0, 1) if next(iter(tables.values())).dtype == torch.bool else (vmin, vmax)
        image = axis.imshow(table, cmap=cmap, vmin=low, vmax=high, aspect="auto", interpolation="nearest")
        axis.set_title(title, parse_math=False)
    if next(iter(tables.values())).dtype != torch.bool:
        figure.colorbar(image, ax=axes, aspect=30).outline.set_visible(False)
    label_axes(figure, axes, xlabel, ylabel, n_lines=n if below else 1)
    return figure
