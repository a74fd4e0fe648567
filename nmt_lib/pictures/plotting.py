"""Pictures of tables: masks, positions, any weights. Each function returns a ``Picture``, the last line of its cell.

Common to all pictures: a white ground, one size of text, blue for "as it should be" and orange for "the mistake". Names
that come from data (words, titles, series) are written as they are; only ``xlabel`` and ``ylabel`` may hold ``$math$``.
"""

from __future__ import annotations

import io
import textwrap
import warnings
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import torch
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from ..errors import ShapeError

BLUE, ORANGE, GREY = "#0072b2", "#e8710a", "0.35"
FONT, LETTER, WIDTH = (
    10,
    0.083,
    8.2,
)  # points; width of a letter and of a page in inches
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
    """A figure that a notebook shows as the last line of a cell, whatever its matplotlib settings."""

    def __repr__(self) -> str:
        """Without its size, which follows the words that a model wrote: stored outputs are compared with new ones."""
        return "<Picture>"

    def _repr_png_(self) -> bytes:
        """As PNG with 256 colours: a picture of these kinds needs no more, and chapters stay small."""
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from PIL import Image

        canvas = FigureCanvasAgg(self)
        with rc_context(STYLE), warnings.catch_warnings():
            warnings.filterwarnings(
                "ignore", "Glyph"
            )  # a letter that the font lacks is drawn as a box
            canvas.draw()
        file, image = (
            io.BytesIO(),
            Image.fromarray(np.asarray(canvas.buffer_rgba())[..., :3]),
        )
        image.quantize(256, Image.Quantize.MAXCOVERAGE).save(file, "png", optimize=True)
        return file.getvalue()


def new_figure(
    n_rows: int = 1,
    n_columns: int = 1,
    size: tuple[float, float] = (6.0, 3.5),
    **options: Any,
) -> tuple[Figure, list[Axes]]:
    """A figure on a white ground (readable on light and dark pages) and its axes in reading order."""
    with rc_context(STYLE):
        figure = Picture(figsize=size, layout="constrained", facecolor="white", dpi=110)
        return figure, list(
            figure.subplots(n_rows, n_columns, squeeze=False, **options).flat
        )


def draw_grid(
    axis: Axes,
    weights: Tensor,
    rows: Sequence[str],
    columns: Sequence[str],
    **style: Any,
) -> None:
    """A table of numbers from 0 to 1 as shades, with a word at each row and column.

    Raises:
        ShapeError: as many words as rows and columns are needed.
    """
    if tuple(weights.shape) != (len(rows), len(columns)):
        raise ShapeError(
            f"weights {tuple(weights.shape)} need {len(rows)} rows and {len(columns)} columns of words"
        )
    weights = weights.detach().cpu()
    axis.imshow(
        weights.float().numpy(),
        **{"cmap": "Blues", "vmin": 0.0, "vmax": 1.0, "aspect": "auto", **style},
    )
    turned = 0 if max(map(len, columns), default=0) <= 2 else 90
    axis.set_xticks(
        range(len(columns)), columns, rotation=turned, fontsize=FONT, parse_math=False
    )  # a $ is a dollar
    axis.set_yticks(range(len(rows)), rows, fontsize=FONT, parse_math=False)
    axis.tick_params(length=0)
    axis.spines[:].set(visible=True, color="0.7")


class Grid(NamedTuple):
    """A table with its words: one panel of a picture."""

    title: str
    table: Tensor  # (R, C)
    rows: Sequence[str]
    columns: Sequence[str]


def draw_grids(
    lines: Sequence[Sequence[Grid]],
    xlabel: str,
    ylabel: str,
    cell: tuple[float, float] = (0.3, 0.26),
    **style: Any,
) -> tuple[Figure, list[Axes]]:
    """Lines of grids, ``cell`` in inches; words that the grid to the left or below has are not repeated."""
    n, grids = max(map(len, lines)), [grid for line in lines for grid in line]
    left = LETTER * max([len(word) for grid in grids for word in grid.rows])  # inches
    under = LETTER * max([len(word) for grid in grids for word in grid.columns])
    wide = [
        max([line[j].table.size(1) for line in lines if j < len(line)])
        for j in range(n)
    ]  # in cells
    high = [max([grid.table.size(0) for grid in line]) for line in lines]
    across = max(
        min(cell[0], (WIDTH - left - 0.3 * n - 0.3) / sum(wide)), 0.05
    )  # inches
    width = max(across * sum(wide), 1.2 * n) + left + 0.3 * n + 0.3
    height = cell[1] * sum(high) + under + 0.35 * len(lines) + 0.4
    figure, axes = new_figure(
        len(lines), n, (width, height), width_ratios=wide, height_ratios=high
    )
    for i, line in enumerate(lines):
        below = lines[i + 1] if i + 1 < len(lines) else []
        for j, (title, table, rows, columns) in enumerate(line):
            axis = axes[i * n + j]
            draw_grid(axis, table, rows, columns, **style)
            axis.set_title(
                textwrap.fill(title, max(8, int(width / n / LETTER))),
                fontsize=FONT,
                parse_math=False,
            )
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
        grids: a tensor ``(R, C)``, or title → tensor, or a list of such dicts, one for each line of panels.
        rows, columns: the words of the axes: one list for all grids, or a list for each; default: numbers from 0.
        numbers: how the values are written into the cells, such as ``".2f"``.
        lines: thin lines between the cells, as for masks.
        cmap, vmin, vmax: colours and what they stand for; ``None``: smallest and largest of all grids.

    Raises:
        ValueError: nothing to draw; words that are too many or too few (a ShapeError).
    """
    given = list(grids) if isinstance(grids, (list, tuple)) else [as_titled(grids)]
    tables = checked_tables([table for line in given for table in line.values()])
    titles = [title for line in given for title in line]
    panels = list(
        map(
            Grid,
            titles,
            tables,
            axis_words(rows, tables, 0),
            axis_words(columns, tables, 1),
        )
    )
    texts = (
        [
            [[format(v, numbers) for v in row] for row in table.tolist()]
            for table in tables
        ]
        if numbers
        else []
    )
    cell = max(
        [
            0.3,
            *(
                LETTER * len(text) + 0.1
                for table in texts
                for row in table
                for text in row
            ),
        ]
    )
    if len(given) == 1:  # as many side by side as the page is wide
        each = (cell if numbers else 0.2) * max(table.size(1) for table in tables) + 0.3
        n = max(1, int((WIDTH - LETTER * max(map(len, panels[0].rows))) / each))
        cuts = [panels[i : i + n] for i in range(0, len(panels), n)]
    else:
        rest = iter(panels)
        cuts = [list(islice(rest, len(line))) for line in given]
    vmin = min(float(table.min()) for table in tables) if vmin is None else vmin
    vmax = max(float(table.max()) for table in tables) if vmax is None else vmax
    vmax = (
        1.4 if all(table.dtype == torch.bool for table in tables) else vmax
    )  # True: not the darkest blue
    figure, axes = draw_grids(
        cuts, xlabel, ylabel, (cell, 0.26), cmap=cmap, vmin=vmin, vmax=vmax
    )
    for axis, table in zip(axes, tables, strict=True) if lines else ():
        axis.hlines(
            [r - 0.5 for r in range(1, table.size(0))],
            -0.5,
            table.size(1) - 0.5,
            color="0.8",
            lw=0.8,
        )
        axis.vlines(
            [c - 0.5 for c in range(1, table.size(1))],
            -0.5,
            table.size(0) - 0.5,
            color="0.8",
            lw=0.8,
        )
    for axis, table, written in (
        zip(axes, tables, texts, strict=True) if numbers else ()
    ):
        for (r, c), value in np.ndenumerate(table.detach().cpu().float().numpy()):
            shade = axis.images[0].cmap(axis.images[0].norm(value))[:3]
            color = (
                "black" if np.dot(shade, (0.3, 0.59, 0.11)) > 0.5 else "white"
            )  # on bright, on dark
            axis.text(
                c,
                r,
                written[r][c].replace("-", "−"),
                ha="center",
                va="center",
                fontsize=FONT,
                color=color,
            )
    return figure


def as_titled(data: Any) -> dict[str, Any]:
    """Title → thing; a thing alone has an empty title."""
    return dict(data) if isinstance(data, Mapping) else {"": data}


def checked_tables(tables: Sequence[Tensor]) -> list[Tensor]:
    """The tables, if there is something to draw in each."""
    if not tables or any(table.dim() != 2 or not table.numel() for table in tables):
        raise ValueError(
            "nothing to draw: each table must have two dimensions (R, C) and at least one cell"
        )
    return list(tables)


def axis_words(words: Any, tables: Sequence[Tensor], axis: int) -> list[list[str]]:
    """The words for each table: numbers from 0, the one list for all, or the list of each."""
    words = (
        [range(table.size(axis)) for table in tables] if words is None else list(words)
    )
    lists = (
        [words] * len(tables)
        if not words or isinstance(words[0], (str, int))
        else words
    )
    if len(lists) != len(tables):
        raise ShapeError(f"{len(lists)} lists of words for {len(tables)} grids")
    return [[str(word) for word in some] for some in lists]


def plot_tables(
    tables: Any,
    *,
    cmap: str = "cividis",
    vmin: float = -1,
    vmax: float = 1,
    xlabel: str = "column",
    ylabel: str = "position",
) -> Figure:
    """Large tables without words and one scale of colours: a tensor ``(R, C)``, or title → tensor.

    Wide ones stand below each other. Tables of booleans have no colour bar. Nothing to draw is a ValueError.
    """
    titles, given = [*as_titled(tables)], checked_tables([*as_titled(tables).values()])
    n, yes_no = len(given), given[0].dtype == torch.bool
    below = all(table.size(1) > 1.5 * table.size(0) for table in given)
    size = (
        (WIDTH, 0.4 + (1.4 if n > 1 else 2.4) * n)
        if below
        else (min(WIDTH, 0.8 + 3.6 * n), 3.2)
    )
    figure, axes = new_figure(n if below else 1, 1 if below else n, size, sharex=below)
    low, high = (0, 1) if yes_no else (vmin, vmax)
    for axis, title, table in zip(axes, titles, given, strict=True):
        numbers = table.detach().cpu().float().numpy()
        image = axis.imshow(
            numbers, cmap, aspect="auto", interpolation="nearest", vmin=low, vmax=high
        )
        axis.set_title(title, fontsize=FONT, parse_math=False)
    label_axes(figure, xlabel, ylabel, n_lines=n if below else 1)
    if not yes_no:
        figure.colorbar(image, ax=axes, aspect=30).outline.set_visible(False)
    return figure
