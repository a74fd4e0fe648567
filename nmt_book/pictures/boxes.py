"""Diagrams: boxes with arrows, rows of words, the tree of a beam."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text

from nmt_lib.translate.heatmap import (
    BLUE,
    GREY,
    LETTER,
    MIDDLE,
    ORANGE,
    WIDTH,
    new_figure,
    set_title,
)

from .data import as_panels
from .grids import draw_arrow

SHADES = {
    "tensor": "#e8eef7",
    "module": "#fff3d6",
    "number": "#fde0dc",
    "data": "#e4f2e2",
    "plain": "white",
}
TOKENS = {"<sos>": "#cfe0f7", "<eos>": "#ffd9a8", "<pad>": "0.85", "<unk>": "#f6c6c6"}
MARKED = "#f7b26b"


def draw_boxes(
    axis: Axes,
    boxes: Mapping[str, tuple[str, float, float, str]],
    arrows: Sequence[tuple[Any, ...]] = (),
) -> dict[str, Text]:
    """Boxes, and arrows from edge to edge; the axes lose their frame.

    Args:
        axis: its limits follow the boxes.
        boxes: name → (text, x, y, kind), y upwards; the kind is ``tensor`` (blue),
            ``module`` (yellow), ``number`` (red), ``data`` (green) or ``plain``.
        arrows: (from, to) or (from, to, bend): the bend is 0 for a straight line, 0.3
            for a clear curve to the right.

    Returns:
        The boxes by name, for ``join_boxes``.
    """
    texts = {
        name: boxed(axis, x, y, text, SHADES[kind], pad=0.4)
        for name, (text, x, y, kind) in boxes.items()
    }
    for start, end, *bend in arrows:
        join_boxes(axis, texts[start], texts[end], *bend, color="0.3")
    _, xs, ys, _ = zip(*boxes.values(), strict=True)
    axis.set(xlim=(min(xs) - 0.5, max(xs) + 0.5), ylim=(min(ys) - 0.5, max(ys) + 0.5))
    axis.axis("off")
    return texts


def join_boxes(
    axis: Axes, start: Text, end: Text, bend: float = 0, **style: Any
) -> None:
    """An arrow from the edge of one box to that of another."""
    ends = {"patchA": start.get_bbox_patch(), "patchB": end.get_bbox_patch()}
    style = {"shrinkA": 0, "shrinkB": 1, "connectionstyle": f"arc3,rad={bend}"} | style
    draw_arrow(axis, start.get_position(), end.get_position(), **ends, **style)


def boxed(
    axis: Axes,
    x: float,
    y: float,
    text: str,
    fill: str = "white",
    edge: str = "0.6",
    lw: float = 1,
    pad: float = 0.3,
    **style: Any,
) -> Text:
    """A text in a box with round corners, centred at (x, y)."""
    box = {"boxstyle": f"round,pad={pad}", "fc": fill, "ec": edge, "lw": lw}
    return axis.text(x, y, text, bbox=box, parse_math=False, **MIDDLE | style)


def draw_words(
    axis: Axes,
    rows: Sequence[Sequence[str]],
    labels: Sequence[str],
    at: Any,
    marked: Any,
) -> None:
    """Rows of tokens in boxes: ``<sos>`` blue, ``<eos>`` orange, ``<pad>`` grey …

    Args:
        axis: where they are drawn, the first row on top.
        rows: the tokens.
        labels: the name of each row.
        at: where each position is on the x axis.
        marked: the (row, position) of tokens in orange.
    """
    width = max(map(len, rows))
    for y, words in enumerate(rows):
        for x, word in enumerate(words):
            shade = MARKED if (y, x) in marked else TOKENS.get(word, "white")
            boxed(axis, at[x], y, word, shade)
    axis.set_yticks(range(len(rows)), labels, parse_math=False)
    axis.set_xticks(at[:width], [str(x) for x in range(width)])
    axis.tick_params(length=0, labelcolor=GREY)
    axis.spines[:].set_visible(False)


def plot_words(
    rows: Mapping[str, Any],
    title: str = "",
    *,
    links: Sequence[Any] = (),
    marked: Sequence[tuple[int, int]] = (),
    positions: bool = True,
) -> Figure:
    """Rows of tokens in boxes, each in its position, with links between them.

    Args:
        rows: row name → tokens, or panel title → such a dict.
        title: above the rows, where there is one panel.
        links: pairs ((row, position), (row, position)): a line between two rows, a bow
            from the first to the second within a row; orange between two marked
            tokens. Rows are counted from 0 through all panels.
        marked: the (row, position) of tokens in orange.
        positions: write the position under each column.
    """
    panels = as_panels(rows)
    lines = [[*map(str, row)] for part in panels.values() for row in part.values()]
    columns = zip_longest(*lines, fillvalue="")
    longest = [LETTER * max(2, *map(len, column)) for column in columns]  # in inches
    names = [name for part in panels.values() for name in part]
    margin = LETTER * max(map(len, names)) + 0.3
    room = (WIDTH - margin - sum(longest)) / len(longest)
    widths = [width + min(0.26, max(0.13, room)) for width in longest]
    at = np.cumsum(widths) - np.array(widths) / 2
    bows = any(start[0] == end[0] for start, end in links)
    above = (0.6 if bows else 0.1) + (0.3 if title or len(panels) > 1 else 0)
    heights = [0.42 * len(part) + above + 0.25 for part in panels.values()]
    size = (max(sum(widths) + margin, 3), sum(heights) + 0.2)
    figure, axes = new_figure(len(panels), 1, size, height_ratios=heights)
    first = 0
    for axis, (name, part) in zip(axes, panels.items(), strict=True):
        end = first + len(part)
        marked_here = [(r - first, x) for r, x in marked]
        draw_words(axis, lines[first:end], names[first:end], at, marked_here)
        set_title(axis, name or title)
        axis.set(xlim=(0, sum(widths)), ylim=(len(part) - 0.5, -1.35 if bows else -0.5))
        if not positions:
            axis.set_xticks([])
        for (r, x), (s, y) in links:
            if first <= r < end:
                is_marked = {(r, x), (s, y)} <= {*marked}
                color = ORANGE if is_marked else BLUE
                draw_link(axis, at[x], r - first, at[y], s - first, color)
        first = end
    return figure


def draw_link(
    axis: Axes, x: float, row: int, other_x: float, other_row: int, color: str
) -> None:
    """A line between two rows, or a bow above a row with a head at its end."""
    if row != other_row:
        axis.plot([x, other_x], [row, other_row], color=color, lw=2, zorder=0)
        return
    bend = 0.25 if other_x < x else -0.25
    ends, bow = ((x, row - 0.42), (other_x, row - 0.42)), f"arc3,rad={bend}"
    draw_arrow(axis, *ends, color=color, lw=2, connectionstyle=bow)
