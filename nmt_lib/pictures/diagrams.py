"""Diagrams: boxes with arrows, rows of words, vectors, clocks, and the tree of a beam search."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import cycle, groupby
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text

from ..decoding import Candidate
from ..special import EOS
from .charts import SERIES, add_legend
from .data import as_numbers, as_panels
from .plotting import BLUE, FONT, GREY, LETTER, ORANGE, new_figure

SHADES = {
    "tensor": "#e8eef7",
    "module": "#fff3d6",
    "number": "#fde0dc",
    "data": "#e4f2e2",
    "plain": "white",
}
TOKEN_SHADES = {
    "<sos>": "#cfe0f7",
    "<eos>": "#ffd9a8",
    "<pad>": "0.85",
    "<unk>": "#f6c6c6",
}
MARKED = "#f7b26b"


def draw_boxes(
    axis: Axes,
    boxes: Mapping[str, tuple[str, float, float, str]],
    arrows: Sequence[tuple[Any, ...]] = (),
) -> None:
    """Boxes, and arrows from edge to edge; the axes lose their frame, and their limits follow the boxes.

    Args:
        boxes: name → (text, x, y, kind), y upwards; kind is one of ``SHADES``: ``tensor`` (blue), ``module`` (yellow),
            ``number`` (red), ``data`` (green), ``plain``.
        arrows: (from, to) or (from, to, bend): the bend is 0 for a straight line, 0.3 for a clear bow to the right.

    Raises:
        ValueError: an arrow to or from a box that is not there, or an unknown kind.
    """
    drawn = {}
    for name, (text, x, y, kind) in boxes.items():
        if kind not in SHADES:
            raise ValueError(
                f"box {name!r} has kind {kind!r}: choose one of {', '.join(SHADES)}"
            )
        drawn[name] = boxed(axis, x, y, text, SHADES[kind], pad=0.4)
    for start, end, *bend in arrows:
        for name in (start, end):
            if name not in boxes:
                raise ValueError(
                    f"an arrow names the box {name!r}, which is not there: {', '.join(boxes)}"
                )
        style = {
            "arrowstyle": "-|>",
            "color": "0.3",
            "shrinkA": 0,
            "shrinkB": 1,
            "connectionstyle": f"arc3,rad={bend[0] if bend else 0}",
            "patchA": drawn[start].get_bbox_patch(),
            "patchB": drawn[end].get_bbox_patch(),
        }
        axis.annotate("", boxes[end][1:3], boxes[start][1:3], arrowprops=style)
    xs, ys = [x for _, x, _, _ in boxes.values()], [y for _, _, y, _ in boxes.values()]
    axis.set(xlim=(min(xs) - 0.5, max(xs) + 0.5), ylim=(min(ys) - 0.5, max(ys) + 0.5))
    axis.axis("off")


def boxed(
    axis: Axes,
    x: float,
    y: float,
    text: str,
    fill: str,
    edge: str = "0.6",
    pad: float = 0.3,
    lw: float = 1,
    **style: Any,
) -> Text:
    """A text in a box with round corners, its middle at (x, y)."""
    box = {"boxstyle": f"round,pad={pad}", "fc": fill, "ec": edge, "lw": lw}
    return axis.text(
        x,
        y,
        text,
        bbox=box,
        **{
            "ha": "center",
            "va": "center",
            "fontsize": FONT,
            "parse_math": False,
            **style,
        },
    )


def draw_words(
    axis: Axes,
    rows: Sequence[Sequence[str]],
    labels: Sequence[str],
    title: str = "",
    at: Any = None,
    shades: Mapping[tuple[int, int], str] | None = None,
) -> None:
    """Rows of tokens, one box each: ``<sos>`` blue, ``<eos>`` orange, ``<pad>`` grey, ``<unk>`` red.

    Args:
        rows: the tokens, first row on top; the x axis counts positions from 0.
        labels: the name of each row.
        at: where each position stands on the x axis; default: 0, 1, 2 …
        shades: (row, position) → colour, where it is another.
    """
    width = max(map(len, rows))
    at = range(width) if at is None else at
    for y, words in enumerate(rows):
        for x, word in enumerate(words):
            boxed(
                axis,
                at[x],
                y,
                word,
                (shades or {}).get((y, x), TOKEN_SHADES.get(word, "white")),
            )
    axis.set(xlim=(at[0] - 0.6, at[-1] + 0.6), ylim=(len(rows) - 0.5, -0.5))
    axis.set_title(title, fontsize=FONT, parse_math=False)
    axis.set_yticks(range(len(rows)), labels, parse_math=False)
    axis.set_xticks(at[:width], [str(x) for x in range(width)])
    axis.tick_params(length=0, labelcolor=GREY)
    axis.spines[:].set_visible(False)


def plot_words(
    rows: Mapping[str, Any],
    title: str = "",
    *,
    links: Sequence[Any] = (),
    marked: Any = (),
    positions: bool = True,
) -> Figure:
    """Rows of tokens as boxes, each in its position, with links between them.

    Args:
        rows: row name → tokens, or panel title → such a dict.
        links: pairs ((row, position), (row, position)): a line between two rows, a bow from the first to the second
            within a row; orange between two marked tokens. Rows are counted from 0 through all panels.
        marked: the (row, position) of tokens in orange; or a function: token → colour, or ``None``.
        positions: write the position under each column.

    Raises:
        ValueError: nothing to draw; a link or mark that names no token.
    """
    panels = {
        name: {str(row): [str(t) for t in tokens] for row, tokens in part.items()}
        for name, part in (as_panels(rows) if rows else {}).items()
    }
    lines = [tokens for part in panels.values() for tokens in part.values()]
    if not any(lines):
        raise ValueError("nothing to draw: no row holds a token")
    places = {(r, x) for r, tokens in enumerate(lines) for x in range(len(tokens))}
    if callable(marked):
        shades = {
            place: shade
            for place in places
            if (shade := marked(lines[place[0]][place[1]]))
        }
    else:
        shades = dict.fromkeys(map(tuple, marked), MARKED)
    for place in [*shades, *(tuple(end) for link in links for end in link)]:
        if place not in places:
            raise ValueError(f"no token stands at row {place[0]}, position {place[1]}")
    bows = any(a[0] == b[0] for a, b in links)
    longest = [
        max(len(tokens[x]) if x < len(tokens) else 1 for tokens in lines)
        for x in range(max(map(len, lines)))
    ]
    widths = [LETTER * max(n, 2) + 0.26 for n in longest]  # inches
    at = [sum(widths[:x]) + w / 2 for x, w in enumerate(widths)]
    margin = LETTER * max(len(row) for part in panels.values() for row in part) + 0.3
    above = (0.6 if bows else 0.1) + (0.3 if title or len(panels) > 1 else 0)
    heights = [0.42 * len(part) + above + 0.25 for part in panels.values()]
    figure, axes = new_figure(
        len(panels),
        1,
        (max(sum(widths) + margin, 3), sum(heights) + 0.2),
        height_ratios=heights,
    )
    first = 0
    for axis, (name, part) in zip(axes, panels.items(), strict=True):
        mine = {
            (r - first, x): shade
            for (r, x), shade in shades.items()
            if first <= r < first + len(part)
        }
        draw_words(axis, list(part.values()), list(part), name or title, at, mine)
        axis.set(xlim=(0, sum(widths)), ylim=(len(part) - 0.5, -1.35 if bows else -0.5))
        if not positions:
            axis.set_xticks([])
        for (r, x), (s, y) in (
            link for link in links if first <= link[0][0] < first + len(part)
        ):
            color = ORANGE if (r, x) in shades and (s, y) in shades else BLUE
            if r == s:  # a bow above the row, with a head at its end
                style = {
                    "arrowstyle": "-|>",
                    "color": color,
                    "lw": 2,
                    "connectionstyle": f"arc3,rad={0.25 if y < x else -0.25}",
                }
                axis.annotate(
                    "",
                    (at[y], r - first - 0.42),
                    (at[x], r - first - 0.42),
                    arrowprops=style,
                )
            else:
                axis.plot(
                    [at[x], at[y]], [r - first, s - first], color=color, lw=2, zorder=0
                )
        first += len(part)
    return figure


def plot_vectors(
    points: Any = None,
    arrows: Mapping[str, Any] | None = None,
    *,
    hull: Any = None,
    cloud: Any = None,
    marked: Sequence[str] = (),
    xlabel: str = "first number",
    ylabel: str = "second number",
) -> Figure:
    """Vectors of the plane with their words: points, or arrows from the origin.

    Args:
        points: word → (x, y), or series → such a dict, each series in a colour and shape of its own.
        arrows: word → (x, y).
        hull: corners of an area ``(n, 2)``, in order around it.
        cloud: points without words ``(n, 2)``, grey.
        marked: words in orange.
    """
    if not points and not arrows:
        raise ValueError("nothing to draw: neither points nor arrows")
    figure, (axis,) = new_figure(size=(6.0, 4.0))
    text: Any = {
        "xytext": (5, 5),
        "textcoords": "offset points",
        "fontsize": FONT,
        "parse_math": False,
    }
    if hull is not None:
        axis.fill(*as_numbers(hull).T, facecolor="#e3eef7", edgecolor="#a9cbe4")
    if cloud is not None:
        axis.plot(*as_numbers(cloud).T, ".", color="0.65", ms=3)
    for (series, group), (color, _, marker) in zip(
        as_panels(points).items() if points else (), cycle(SERIES), strict=False
    ):
        x, y = as_numbers(group.values()).T
        colors = [ORANGE if word in marked else color for word in group]
        axis.scatter(x, y, s=50, c=colors, marker=marker, label=series, zorder=3)
        for word, px, py, shade in zip(group, x, y, colors, strict=True):
            axis.annotate(word, (px, py), color=shade, **text)
    head = {"arrowstyle": "-|>", "lw": 2.5, "shrinkA": 0, "shrinkB": 0}
    for word, (x, y) in {
        word: as_numbers(place) for word, place in (arrows or {}).items()
    }.items():
        color = ORANGE if word in marked else BLUE
        axis.annotate("", (x, y), (0, 0), arrowprops={**head, "color": color})
        axis.annotate(word, (x, y), color=color, **text)
        axis.update_datalim([(0, 0), (x, y)])
    axis.margins(0.15)
    axis.autoscale_view()
    axis.set(xlabel=xlabel, ylabel=ylabel)
    add_legend(figure)
    return figure


def plot_clocks(clocks: Any, arcs: Sequence[tuple[int, int]] = ()) -> Figure:
    """Pairs of numbers as hands of a clock: points of a unit circle, numbered as they follow each other.

    Args:
        clocks: title → ``(n, 2)``, such as cosine and sine of each position; a clock each.
        arcs: (from, to), two positions joined inside the circle along the way of the points; first blue, then orange.
    """
    panels = as_panels(clocks)[""] if clocks is not None else {}
    figure, axes = new_figure(1, len(panels), (min(8.2, 3.1 * len(panels)), 3.2))
    for axis, (title, points) in zip(axes, panels.items(), strict=True):
        xy = as_numbers(points)  # (n, 2)
        turn = np.linspace(0, 2 * math.pi, 200)
        axis.plot(np.cos(turn), np.sin(turn), color="0.85", lw=1)
        angles = np.unwrap(np.arctan2(xy[:, 1], xy[:, 0]))
        for i, ((start, end), (color, *_)) in enumerate(
            zip(arcs, cycle(SERIES), strict=False)
        ):
            way = np.interp(np.linspace(start, end, 60), range(len(xy)), angles)
            axis.plot(
                (0.76 - 0.12 * i) * np.cos(way),
                (0.76 - 0.12 * i) * np.sin(way),
                color=color,
                lw=4,
            )
        axis.plot(xy[:, 0], xy[:, 1], "o", color="black", ms=5)
        for number, (px, py) in enumerate(xy if len(xy) <= 24 else ()):
            axis.text(
                1.18 * px,
                1.18 * py,
                str(number),
                ha="center",
                va="center",
                fontsize=FONT,
            )
        axis.set(xlim=(-1.35, 1.35), ylim=(-1.35, 1.35), aspect="equal")
        axis.set_title(title, fontsize=FONT, parse_math=False)
        axis.axis("off")
    return figure


FATES = {
    "kept": BLUE,
    "finished": "#009e73",
    "dropped": "0.5",
}  # of a candidate → its colour


def plot_beam(
    trace: Sequence[Candidate],
    lookup: Callable[[list[int]], list[str]],
    best: Sequence[int] | None = None,
) -> Figure:
    """The tree of a beam search: one column a step, one box a candidate, with the log-probability of its whole path.

    Args:
        trace: what ``beam_search`` wrote, from step 1 on; cut it to draw the first steps only.
        lookup: ids to words, such as ``tgt_tokenizer.lookup_tokens``.
        best: ids of the translation whose path is drawn thick; without ``<eos>``.
    """
    if not trace:
        raise ValueError("an empty trace has no tree to draw")
    columns = [
        list(group) for _, group in groupby(trace, key=lambda candidate: candidate.step)
    ]
    size = (len(columns) + 1, max(map(len, columns)))  # in boxes
    figure, (axis,) = new_figure(size=(1.1 * size[0], 0.55 * size[1] + 0.3))
    axis.set(xlim=(-0.5, size[0] - 0.5), ylim=(-size[1] / 2, size[1] / 2))
    axis.axis("off")
    style: Any = {"fill": "white", "pad": 0.25, "fontsize": 8, "in_layout": False}
    boxed(axis, 0, 0, "<sos>", edge="black", **style)
    heights: dict[tuple[int, ...], float] = {
        (): 0.0
    }  # of each path; children in their parents' order: no line crosses
    for column in columns:
        for row, c in enumerate(
            sorted(column, key=lambda c: (-heights[c.prefix], -c.log_prob))
        ):
            path, color, y = (
                (*c.prefix, c.token),
                FATES[c.fate],
                (len(column) - 1) / 2 - row,
            )
            thick = best is not None and path == (*best, EOS)[: len(path)]
            axis.plot(
                [c.step - 1, c.step],
                [heights[c.prefix], y],
                color=color,
                lw=3 if thick else 1,
                zorder=0,
            )
            label = f"{lookup([c.token])[0]}\n{c.log_prob:.2f}"
            boxed(
                axis,
                c.step,
                y,
                label,
                edge=color,
                color=color,
                lw=2 if thick else 1,
                **style,
            )
            heights[path] = y
    keys = [
        axis.plot([], [], color=color, lw=3, label=fate)[0]
        for fate, color in FATES.items()
    ]
    figure.legend(
        handles=keys, loc="outside lower center", ncols=3, fontsize=8, frameon=False
    )
    return figure
