"""Diagrams: boxes with arrows, and rows of words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.text import Text

from nmt_lib.translate.heatmap import LETTER, WIDTH, new_figure, set_title

from .data import as_panels, load_data
from .grids import draw_arrow
from .palette import GREY, LIGHT, MIDDLE, ROLES, pale

SHADES = {"plain": "white", "part": LIGHT["soft"]} | {
    role: pale(role) for role in ROLES
}
TOKENS: dict[str, Any] = {
    "<sos>": {"fill": LIGHT["soft"]},
    "<eos>": {"fill": LIGHT["soft"]},
    "<pad>": {"fill": pale("masked", 0.25), "ls": "--"},
    "<unk>": {"fill": pale("mistake", 0.25)},
}
MARKED = 0.35  # how opaque a marked box is
ARROW: Any = {"shrinkA": 0, "shrinkB": 1, "color": "0.3"}
DASHED: Any = {"ec": "0.6", "ls": "--"}
GROUND = {"facecolor": "white", "lw": 0, "pad": 1}
NOTE: Any = MIDDLE | {"color": GREY, "bbox": GROUND}


def plot_boxes(name: str) -> Figure:
    """A diagram from a YAML file: boxes, and arrows from edge to edge.

    Args:
        name: of the file, such as ``chapter08/search``. It has the ``size`` in inches,
            and ``panels``, from left to right: title → what is in it.

            ``xlim``, ``ylim``: the ends of the axes, y upwards.
            ``boxes``: name → [text, x, y, kind]; the kind is ``plain``,
            ``part`` (grey), or a role of ``palette``.
            ``arrows``: [from, to] or [from, to, style].
            ``texts``: [text, x, y] or [text, x, y, style].
            ``frame``: [x, y, width, height] of a dashed one.

            A style holds options of matplotlib; a colour is a role.
    """
    drawing = load_data(name)
    panels = drawing["panels"]
    figure, axes = new_figure(1, len(panels), drawing["size"])
    for axis, (title, panel) in zip(axes, panels.items(), strict=True):
        set_title(axis, title)
        boxes = {
            name: boxed(axis, x, y, text, SHADES[kind], LIGHT.get(kind, "0.6"), pad=0.4)
            for name, (text, x, y, kind) in panel["boxes"].items()
        }
        for start, end, *style in panel["arrows"]:
            a, b = boxes[start], boxes[end]
            ends = {"patchA": a.get_bbox_patch(), "patchB": b.get_bbox_patch()}
            options = ARROW | ends | styled(*style)
            draw_arrow(axis, a.get_position(), b.get_position(), **options)
        for text, x, y, *style in panel.get("texts", ()):
            axis.text(x, y, text, **NOTE | styled(*style))
        if frame := panel.get("frame"):
            axis.add_patch(Rectangle(frame[:2], *frame[2:], fill=False, **DASHED))
        axis.set(xlim=panel["xlim"], ylim=panel["ylim"])
        axis.axis("off")
    return figure


def styled(*styles: Mapping[str, Any]) -> dict[str, Any]:
    """Options of matplotlib, with the colours of roles by their names."""
    return {
        key: LIGHT.get(value, value) for style in styles for key, value in style.items()
    }


def boxed(
    axis: Axes,
    x: float,
    y: float,
    text: str,
    fill: str = "white",
    edge: str = "0.6",
    lw: float = 1,
    ls: str = "-",
    pad: float = 0.3,
    **style: Any,
) -> Text:
    """A text in a box with round corners, centred at (x, y)."""
    box = {"boxstyle": f"round,pad={pad}", "fc": fill, "ec": edge, "lw": lw, "ls": ls}
    return axis.text(x, y, text, bbox=box, parse_math=False, **MIDDLE | style)


def draw_words(
    axis: Axes,
    rows: Sequence[Sequence[str]],
    labels: Sequence[str],
    at: Any,
    marked: Any,
    role: str,
) -> None:
    """Rows of tokens in boxes; that of ``<pad>`` has a broken line.

    Args:
        axis: where they are drawn, the first row on top.
        rows: the tokens.
        labels: the name of each row.
        at: where each position is on the x axis.
        marked: the (row, position) of tokens with the colour of a role.
    """
    frame: Any = {"fill": pale(role, MARKED), "edge": LIGHT[role], "lw": 2}
    width = max(map(len, rows))
    for y, words in enumerate(rows):
        for x, word in enumerate(words):
            style = frame if (y, x) in marked else TOKENS.get(word, {})
            boxed(axis, at[x], y, word, **style)
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
    role: str = "gold",
) -> Figure:
    """Rows of tokens in boxes, each in its position, with links between them.

    Args:
        rows: row name → tokens, or panel title → such a dict.
        title: above the rows, where there is one panel.
        links: pairs ((row, position), (row, position)): a line between two rows, a bow
            from the first to the second within a row; in the role's colour between
            two marked tokens. Rows are counted from 0 through all panels.
        marked: the (row, position) of tokens that stand out.
        positions: write the position under each column.
        role: gives marked tokens their colour.
    """
    panels = as_panels(rows)
    lines = [[*map(str, row)] for part in panels.values() for row in part.values()]
    columns = zip_longest(*lines, fillvalue="")
    longest = [  # in inches; the angles of a special token are wide
        LETTER * max(2, *(len(word.replace("<", "<<")) for word in column))
        for column in columns
    ]
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
        draw_words(axis, lines[first:end], names[first:end], at, marked_here, role)
        set_title(axis, name or title)
        axis.set(xlim=(0, sum(widths)), ylim=(len(part) - 0.5, -1.35 if bows else -0.5))
        if not positions:
            axis.set_xticks([])
        for (r, x), (s, y) in links:
            if first <= r < end:
                is_marked = {(r, x), (s, y)} <= {*marked}
                color = LIGHT[role if is_marked else "right"]
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
