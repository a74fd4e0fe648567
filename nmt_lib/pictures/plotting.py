"""Pictures of tables, such as masks, positions and weights.

Each ``plot_`` function returns a ``Picture``, the last line of its cell. All pictures
have a white background and a single font size; blue stands for "as it should be",
orange for "the mistake". Words, titles and names of series come from data and are
written as they are; only ``xlabel`` and ``ylabel`` may contain ``$math$``.
"""

from __future__ import annotations

import io
import math
import textwrap
import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Annotation
from PIL import Image
from torch import Tensor

from .data import as_titled
from .fonts import choose_fonts

BLUE, ORANGE, GREY = "#0072b2", "#e8710a", "0.35"
PALE = "#f7c9a0"  # orange behind text, or of large areas
FONT = 10  # points
MIDDLE: Any = {"ha": "center", "va": "center", "fontsize": FONT}  # of a text at a point
# Width of a letter, and of a picture whose letters a phone can still show, in inches.
LETTER, WIDTH = 0.083, 6.2
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
        """Omits the size, which depends on the words that a model wrote."""
        return "<Picture>"

    def _repr_png_(self) -> bytes:
        """As PNG with 256 colours, which is enough and keeps the chapters small."""
        canvas, file = FigureCanvasAgg(self), io.BytesIO()
        choose_fonts(self)
        with rc_context(STYLE), warnings.catch_warnings():
            # A letter that no font has is drawn as a box.
            warnings.filterwarnings("ignore", "Glyph")
            canvas.draw()
        image = Image.fromarray(np.asarray(canvas.buffer_rgba())[..., :3])
        image.quantize(256, Image.Quantize.MAXCOVERAGE).save(file, "png", optimize=True)
        return file.getvalue()


def new_figure(
    n_rows: int = 1,
    n_columns: int = 1,
    size: tuple[float, float] = (6.0, 3.5),
    **options: Any,
) -> tuple[Figure, list[Axes]]:
    """A figure and its axes in reading order; ``size`` in inches.

    Its background is white, so it can be read on light and on dark pages. Further
    options go to ``Figure.subplots``.
    """
    with rc_context(STYLE):
        figure = Picture(figsize=size, layout="constrained", facecolor="white", dpi=110)
        axes = figure.subplots(n_rows, n_columns, squeeze=False, **options)
    return figure, list(axes.flat)


def set_title(axis: Axes, title: str) -> None:
    """A title as it is written: $ is a dollar sign."""
    axis.set_title(title, fontsize=FONT, parse_math=False)


def draw_arrow(axis: Axes, start: Any, end: Any, **style: Any) -> Annotation:
    """An arrow from one point to another; ``style`` goes to its patch."""
    return axis.annotate("", end, start, arrowprops={"arrowstyle": "-|>"} | style)


def draw_grid(
    axis: Axes,
    weights: Tensor,
    rows: Sequence[str],
    columns: Sequence[str],
    letters: float = 2,
    **style: Any,
) -> None:
    """Numbers from 0 to 1, ``(R, C)``, as shades, with a word at each row and column.

    The words of the columns are turned if one of them has more than ``letters``.
    ``style`` has more options for ``Axes.imshow``, such as ``cmap`` or ``vmax``.
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
    """A table with its words: one panel of a picture."""

    title: str
    table: Tensor  # (R, C)
    rows: Sequence[str]
    columns: Sequence[str]


def in_lines(grids: Sequence[Grid], cell: float = 0.15) -> list[Sequence[Grid]]:
    """As many side by side as fit with cells of that width, about as many in each line.

    In narrower cells, the words of two columns would touch.
    """
    each = cell * max(grid.table.size(1) for grid in grids) + 0.3
    fit = max(1, int((WIDTH - LETTER * max(map(len, grids[0].rows))) / each))
    n = math.ceil(len(grids) / math.ceil(len(grids) / fit))
    return [grids[i : i + n] for i in range(0, len(grids), n)]


def draw_grids(
    lines: Sequence[Sequence[Grid]],
    xlabel: str,
    ylabel: str,
    cell: float = 0.3,
    **style: Any,
) -> tuple[Figure, list[Axes]]:
    """Lines of grids; ``cell`` is the width of a cell in inches.

    Words that the grid to the left or below already has are not repeated.
    """
    n, grids = max(map(len, lines)), [grid for line in lines for grid in line]
    # The longest words at the left and below, and the gaps between grids, in inches.
    left = LETTER * max([len(word) for grid in grids for word in grid.rows])
    longest = max([len(word) for grid in grids for word in grid.columns])
    gaps = left + 0.3 * n + 0.3
    wide = [
        max(line[j].table.size(1) for line in lines if j < len(line)) for j in range(n)
    ]  # in cells
    high = [max(grid.table.size(0) for grid in line) for line in lines]
    across = max(min(cell, (WIDTH - gaps) / sum(wide)), 0.05)
    width = max(across * sum(wide), 1.2 * n) + gaps
    letters = max(2, (width - gaps) / sum(wide) / LETTER - 1)  # that fit below a cell
    under = LETTER * (longest if longest > letters else 2)
    height = 0.26 * sum(high) + under + 0.35 * len(lines) + 0.4
    size, ratios = (width, height), {"width_ratios": wide, "height_ratios": high}
    figure, axes = new_figure(len(lines), n, size, **ratios)
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
    """Names the axes once for all panels."""
    if len(figure.axes) == 1 or not xlabel:
        figure.axes[0].set_xlabel(xlabel)
    else:
        figure.supxlabel(xlabel, fontsize=FONT)
    if n_lines == 1 or not ylabel:
        figure.axes[0].set_ylabel(ylabel)
    else:
        figure.supylabel(ylabel, fontsize=FONT)


def plot_grids(
    grids: Any,
    rows: Any = None,
    columns: Any = None,
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
        grids: a tensor ``(R, C)``, or title → tensor, or a list of such dicts, one for
            each line of panels.
        rows, columns: the words of the axes: one list for all grids, or a list for
            each; default: numbers from 0.
        numbers: how the values are written into the cells, such as ``".2f"``.
        lines: thin lines between the cells, as for masks.
        cmap, vmin, vmax: colours, and the values of the first and the last of them;
            ``None``: the smallest or largest value of all grids.

    Raises:
        ValueError: too many or too few words.
    """
    given = list(grids) if isinstance(grids, list | tuple) else [as_titled(grids)]
    titles = [title for line in given for title in line]
    tables = [table for line in given for table in line.values()]
    words = axis_words(rows, tables, 0), axis_words(columns, tables, 1)
    panels = [Grid(*parts) for parts in zip(titles, tables, *words, strict=True)]
    cell, needed = 0.3, 0.15
    if numbers:
        values = [value for table in tables for value in table.flatten().tolist()]
        longest = max(len(format(value, numbers)) for value in values)
        cell = needed = max(cell, LETTER * longest + 0.1)
    if len(given) == 1:
        cuts = in_lines(panels, needed)
    else:
        rest = iter(panels)
        cuts = [[next(rest) for _ in line] for line in given]
    vmin = min(float(table.min()) for table in tables) if vmin is None else vmin
    vmax = max(float(table.max()) for table in tables) if vmax is None else vmax
    if all(table.dtype == torch.bool for table in tables):
        vmax = 1.4  # True is not the darkest blue
    style: Any = {"cmap": cmap, "vmin": vmin, "vmax": vmax}
    figure, axes = draw_grids(cuts, xlabel, ylabel, cell, **style)
    for axis, table in zip(axes, tables, strict=True):
        if lines:
            n_rows, n_columns = table.shape
            thin: Any = {"color": "0.8", "lw": 0.8}
            axis.hlines(np.arange(1, n_rows) - 0.5, -0.5, n_columns - 0.5, **thin)
            axis.vlines(np.arange(1, n_columns) - 0.5, -0.5, n_rows - 0.5, **thin)
        if numbers:
            write_numbers(axis, table, numbers)
    return figure


def write_numbers(axis: Axes, table: Tensor, numbers: str) -> None:
    """Each value in its cell: black on bright shades, white on dark ones."""
    image = axis.images[0]
    for (r, c), value in np.ndenumerate(table.detach().cpu().float().numpy()):
        red_green_blue = image.cmap(image.norm(value))[:3]
        bright = np.dot(red_green_blue, (0.3, 0.59, 0.11)) > 0.5
        text = format(table[r, c].item(), numbers)
        text = text.replace("-", "−" if text.strip("-0.") else "")  # no −0.00
        axis.text(c, r, text, color="black" if bright else "white", **MIDDLE)


def axis_words(words: Any, tables: Sequence[Tensor], axis: int) -> list[list[str]]:
    """The words of each table: numbers from 0, the one list for all, or its own."""
    if words is None:
        lists = [range(table.size(axis)) for table in tables]
    elif not words or isinstance(words[0], str | int):
        lists = [words] * len(tables)
    else:
        lists = words
    return [[str(word) for word in some] for some in lists]


def plot_tables(tables: Any, *, xlabel: str = "column") -> Figure:
    """Large tables of numbers from −1 to 1, a position in each row, without words.

    Wide ones are drawn below each other.

    Args:
        tables: a tensor ``(R, C)``, or title → tensor.
        xlabel: of all tables.
    """
    titled = as_titled(tables)
    n = len(titled)
    if below := all(table.size(1) > 1.5 * table.size(0) for table in titled.values()):
        shape, size = (n, 1), (WIDTH, 0.4 + (1.4 if n > 1 else 2.4) * n)
    else:
        shape, size = (1, n), (min(WIDTH, 0.8 + 3.6 * n), 3.2)
    figure, axes = new_figure(*shape, size, sharex=below)
    style: Any = {"cmap": "cividis", "aspect": "auto", "interpolation": "nearest"}
    style |= {"vmin": -1, "vmax": 1}
    for axis, (title, table) in zip(axes, titled.items(), strict=True):
        image = axis.imshow(table.detach().cpu().float().numpy(), **style)
        set_title(axis, title)
    label_axes(figure, xlabel, "position", n_lines=shape[0])
    bar: Any = figure.colorbar(image, ax=axes, aspect=30)
    bar.outline.set_visible(False)
    return figure
