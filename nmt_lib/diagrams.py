"""Diagrams: boxes with arrows, and rows of words, drawn by code so that a chapter holds no picture from elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHADES = {"tensor": "#e8eef7", "module": "#fff3d6", "number": "#fde0dc", "data": "#e4f2e2", "plain": "white"}
TOKEN_SHADES = {"<sos>": "#cfe0f7", "<eos>": "#ffd9a8", "<pad>": "0.85", "<unk>": "#f6c6c6"}


def draw_boxes(
    axis: Axes,
    boxes: Mapping[str, tuple[str, float, float, str]],
    arrows: Sequence[tuple[str, str] | tuple[str, str, float]] = (),
    fontsize: float = 9,
) -> None:
    """Boxes, and arrows from edge to edge; the axes' limits follow the boxes.

    Args:
        axis: where to draw; it loses its frame.
        boxes: name → (text, x, y, kind), y upwards; kind is one of ``SHADES``: ``tensor`` (blue), ``module`` (yellow),
            ``number`` (red), ``data`` (green), ``plain``.
        arrows: (from, to) or (from, to, bend): the bend is 0 for a straight line, 0.3 for a clear bow to the right.
        fontsize: of the text.

    Raises:
        ValueError: an arrow to or from a box that is not there, or an unknown kind.
    """
    for name, (_, _, _, kind) in boxes.items():
        if kind not in SHADES:
            raise ValueError(f"box {name!r} has kind {kind!r}: choose one of {', '.join(SHADES)}")
    for name in (end for arrow in arrows for end in arrow[:2]):
        if name not in boxes:
            raise ValueError(f"an arrow names the box {name!r}, which is not there: {', '.join(boxes)}")
    drawn = {
        name: axis.text(x, y, text, ha="center", va="center", fontsize=fontsize, parse_math=False,
                        bbox={"boxstyle": "round,pad=0.4", "fc": SHADES[kind], "ec": "0.6"})
        for name, (text, x, y, kind) in boxes.items()
    }  # fmt: skip
    for start, end, *bend in arrows:
        style = {"arrowstyle": "-|>", "color": "0.3", "shrinkA": 0, "shrinkB": 1,
                 "connectionstyle": f"arc3,rad={bend[0] if bend else 0}",
                 "patchA": drawn[start].get_bbox_patch(), "patchB": drawn[end].get_bbox_patch()}  # fmt: skip
        axis.annotate("", boxes[end][1:3], boxes[start][1:3], arrowprops=style)
    xs, ys = [x for _, x, _, _ in boxes.values()], [y for _, _, y, _ in boxes.values()]
    axis.set(xlim=(min(xs) - 0.5, max(xs) + 0.5), ylim=(min(ys) - 0.5, max(ys) + 0.5))
    axis.axis("off")


def draw_words(axis: Axes, rows: Sequence[Sequence[str]], labels: Sequence[str], title: str = "") -> None:
    """Rows of tokens, one box each: ``<sos>`` blue, ``<eos>`` orange, ``<pad>`` grey, ``<unk>`` red.

    Args:
        axis: where to draw; the x axis counts places from 0.
        rows: the tokens, first row on top.
        labels: the name of each row.
        title: above the rows.
    """
    width = max(map(len, rows))
    for y, words in enumerate(rows):
        for x, word in enumerate(words):
            box = {"boxstyle": "round,pad=0.3", "fc": TOKEN_SHADES.get(word, "white"), "ec": "0.6"}
            axis.text(x, y, word, ha="center", va="center", fontsize=9, bbox=box, parse_math=False)
    axis.set(xlim=(-0.6, width - 0.4), ylim=(len(rows) - 0.5, -0.5), title=title, xlabel="place")
    axis.set_yticks(range(len(rows)), labels)
    axis.set_xticks(range(width))
    axis.tick_params(length=0)
    axis.spines[:].set_visible(False)
