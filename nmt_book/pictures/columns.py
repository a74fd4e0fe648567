"""Layers as columns of boxes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from matplotlib.text import Text

from nmt_lib.translate.heatmap import GREY, MIDDLE

from .boxes import draw_boxes


def draw_column(
    axis: Axes,
    texts: Sequence[tuple[str, str]],
    around: Sequence[tuple[int, int]],
    more: Mapping[str, Any] | None = None,
    bend: float = -1.1,
) -> dict[str, Text]:
    """Boxes (text, kind) from the bottom to the top, and residual connections.

    Args:
        axis: where they are drawn.
        texts: of the boxes, whose names are "0", "1" …
        around: the boxes that each residual connection joins, by number.
        more: further boxes, as ``draw_boxes`` takes them.
        bend: of the residual connections, below 0 to the left.
    """
    boxes = {str(i): (text, 0.0, i, kind) for i, (text, kind) in enumerate(texts)}
    arrows = [*pairwise(boxes), *((str(a), str(b), bend) for a, b in around)]
    return draw_boxes(axis, boxes | dict(more or {}), arrows)


def draw_frame(axis: Axes, n_layers: int, n_boxes: int) -> None:
    """What belongs to a layer, which is stacked; and what the curved arrows are."""
    top = n_boxes - 0.3
    style: Any = {"fill": False, "ec": "0.6", "ls": "--"}
    axis.add_patch(Rectangle((-2.3, 0.5), 4.45, top - 0.5, **style))
    axis.text(1.8, top - 0.25, f"× {n_layers}", color=GREY, weight="bold", **MIDDLE)
    axis.text(-1.7, n_boxes - 3, "residual\nconnection", color=GREY, **MIDDLE)
    axis.set(ylim=(-0.4, top + 0.1))
