"""Tokens as boxes over the letters of their text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from nmt_lib.translate.heatmap import LETTER, WIDTH, new_figure

from ..pictures.boxes import MARKED
from ..pictures.palette import GREY, LIGHT, MIDDLE, pale

Cut = Callable[[str, Sequence[Any]], Sequence[str]]
PITCH = 0.2  # of the letters, in inches; less if the text is long


def plot_subwords(texts: Mapping[str, Mapping[str, Sequence[str]]]) -> Figure:
    """Texts split in several ways: a box spans the letters of a token.

    The letters keep their columns, so that boxes grow together where subwords are
    merged. A box that is not in the row above is gold.

    Args:
        texts: text → name of the row → its tokens, in order.

    Raises:
        ValueError: a token is not in the rest of its text.
    """
    names = [name for rows in texts.values() for name in rows]
    width = max(map(len, texts))
    margin = LETTER * max(map(len, names)) + 0.4
    size = min(PITCH * width + margin, WIDTH), 0.34 * len(names) + 0.1
    heights = [len(rows) for rows in texts.values()]
    figure, axes = new_figure(len(texts), 1, size, height_ratios=heights)
    for axis, (text, rows) in zip(axes, texts.items(), strict=True):
        edges: set[tuple[int, int]] | None = None
        for y, tokens in enumerate(rows.values()):
            boxes = spans(text, tokens)
            for start, end in boxes:
                new = edges is not None and (start, end) not in edges
                style: Any = {"boxstyle": "round,pad=0,rounding_size=0.25"}
                style |= {"fc": "white", "ec": "0.6"}
                if new:
                    style |= {"fc": pale("gold", MARKED), "ec": LIGHT["gold"], "lw": 2}
                size = end - start - 0.16, 0.72
                axis.add_patch(FancyBboxPatch((start + 0.08, y - 0.36), *size, **style))
                for x in range(start, end):
                    axis.text(x + 0.5, y, text[x], parse_math=False, **MIDDLE)
            edges = set(boxes)
        axis.set(xlim=(0, width), ylim=(len(rows) - 0.5, -0.5), xticks=[])
        axis.set_yticks(range(len(rows)), list(rows), parse_math=False)
        axis.tick_params(length=0, labelcolor=GREY)
        axis.spines[:].set_visible(False)
    return figure


def plot_merges(cut: Cut, words: Sequence[str], merges: Sequence[Any]) -> Figure:
    """How the subwords of words grow, one row for each merge that changes something.

    Args:
        cut: (word, merges) → its tokens.
        words: without the mark of their start.
        merges: in the order of learning.
    """
    panels: dict[str, dict[str, Sequence[str]]] = {}
    for word in words:
        pieces = cut(word, [])
        rows = panels.setdefault(f"▁{word}", {"characters": pieces})
        for n, pair in enumerate(merges, start=1):
            tokens = cut(word, merges[:n])
            if tokens != pieces:
                rows[" + ".join(pair)] = pieces = tokens
    return plot_subwords(panels)


def spans(text: str, tokens: Iterable[str]) -> list[tuple[int, int]]:
    """Where each token starts and ends in its text."""
    bounds, end = [], 0
    for token in tokens:
        start = text.find(token, end)
        if start < 0:
            raise ValueError(f"there is no {token!r} after position {end} of {text!r}")
        end = start + len(token)
        bounds.append((start, end))
    return bounds
