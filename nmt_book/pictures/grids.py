"""Pictures of tables, such as masks, positions and weights.

Each ``plot_`` function returns a ``Picture``, the last line of its cell. All pictures
have a white background, a single font size, and the colours of ``palette``. Words,
titles and names of series come from data and are written as they are; only ``xlabel``
and ``ylabel`` may contain ``$math$``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Annotation
from torch import Tensor

from nmt_lib.translate.heatmap import (
    LETTER,
    WIDTH,
    Grid,
    draw_grids,
    in_lines,
    label_axes,
    set_title,
)
from nmt_lib.translate.heatmap import draw_grid as draw_grid
from nmt_lib.translate.heatmap import new_figure as new_figure

from .data import as_titled
from .palette import LIGHT, MIDDLE


def draw_arrow(axis: Axes, start: Any, end: Any, **style: Any) -> Annotation:
    """An arrow from one point to another; ``style`` goes to its patch."""
    return axis.annotate("", end, start, arrowprops={"arrowstyle": "-|>"} | style)


def plot_grids(
    grids: Any,
    rows: Any = None,
    columns: Any = None,
    *,
    numbers: str = "",
    lines: bool = False,
    dots: Sequence[tuple[int, int]] = (),
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
        dots: the (column, row) of dots in the first grid.
        cmap, vmin, vmax: colours, and the values of the first and the last of them;
            ``None``: the smallest or largest value of all grids.

    Raises:
        ValueError: too many or too few words.
    """
    layout = list(grids) if isinstance(grids, list | tuple) else [as_titled(grids)]
    titles = [title for line in layout for title in line]
    tables = [table for line in layout for table in line.values()]
    words = axis_words(rows, tables, 0), axis_words(columns, tables, 1)
    panels = [Grid(*parts) for parts in zip(titles, tables, *words, strict=True)]
    cell, needed = 0.3, 0.15
    if numbers:
        values = [value for table in tables for value in table.flatten().tolist()]
        longest = max(len(format(value, numbers)) for value in values)
        cell = needed = max(cell, LETTER * longest + 0.1)
    if len(layout) == 1:
        cuts = in_lines(panels, needed)
    else:
        rest = iter(panels)
        cuts = [[next(rest) for _ in line] for line in layout]
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
    for x, y in dots:
        axes[0].plot(x, y, "o", color=LIGHT["right"])
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
    return [[str(word) for word in row] for row in lists]


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
