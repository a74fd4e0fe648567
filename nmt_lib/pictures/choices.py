"""A tree of choices: every sentence, with the probability of each branch and end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .plotting import BLUE, FONT, ORANGE, WIDTH, new_figure

COLORS = {"blue": BLUE, "orange": ORANGE}


def plot_choices(
    choices: Mapping[str, Mapping[str, float]], paths: Mapping[str, str]
) -> Figure:
    """The tree from left to right, with the probability of each whole sentence.

    Args:
        choices: the words so far → next word → its probability; the empty text is the
            root, and a text without an entry is complete.
        paths: complete sentence → ``blue`` or ``orange``: its path is thick.
    """
    depth = 1 + max(len(path.split()) for path in choices)
    figure, (axis,) = new_figure(size=(WIDTH, 3.5))
    axis.set(xlim=(-0.1, depth + 0.7), ylim=(-3.8, 3.8))
    axis.axis("off")
    _draw_fork(axis, choices, paths, "", 1.0, 0.0, 2.0)
    return figure


def _draw_fork(
    axis: Axes,
    choices: Mapping[str, Mapping[str, float]],
    paths: Mapping[str, str],
    path: str,
    probability: float,
    y: float,
    span: float,
) -> None:
    """The fork after the words of a path, and all forks behind it."""
    text: Any = {"va": "center", "fontsize": FONT}
    text["bbox"] = {"facecolor": "white", "lw": 0, "pad": 1}
    x, n = len(path.split()), len(choices[path])
    for i, (word, p) in enumerate(choices[path].items()):
        new, total = f"{path} {word}".strip(), probability * p
        end = y + span * (n - 1 - 2 * i) / max(n - 1, 1)  # from the top down
        named = [c for whole, c in paths.items() if f"{whole} ".startswith(f"{new} ")]
        color, width = (COLORS[named[0]], 3) if named else ("0.6", 1)
        axis.plot([x, x + 1], [y, end], color=color, lw=width, zorder=0)
        axis.text(x + 0.5, (y + end) / 2, f"{p:g}", ha="center", **text)
        label = f" {word}" if new in choices else f" {word}   {total:.4f}"
        axis.text(x + 1, end, label, color=color if named else "black", **text)
        if new in choices:
            _draw_fork(axis, choices, paths, new, total, end, span / n)
