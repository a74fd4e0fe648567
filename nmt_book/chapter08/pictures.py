"""Pictures of chapter 08: choices, and the beam as a tree."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from nmt_lib.data.tokens import EOS
from nmt_lib.translate.heatmap import FONT, WIDTH, new_figure
from nmt_lib.translate.search import Candidate

from ..pictures.boxes import GROUND, boxed
from ..pictures.palette import LIGHT, pale


def plot_choices(
    choices: Mapping[str, Mapping[str, float]], paths: Mapping[str, str]
) -> Figure:
    """The tree from left to right, with the probability of each whole sentence.

    Args:
        choices: the words so far → next word → its probability; the empty text is the
            root, and a text without an entry is complete.
        paths: complete sentence → the role whose colour its thick path has.
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
    text: Any = {"va": "center", "fontsize": FONT, "bbox": GROUND}
    x, n = len(path.split()), len(choices[path])
    for i, (word, p) in enumerate(choices[path].items()):
        new, total = f"{path} {word}".strip(), probability * p
        end = y + span * (n - 1 - 2 * i) / max(n - 1, 1)  # from the top down
        beams = [c for whole, c in paths.items() if f"{whole} ".startswith(f"{new} ")]
        color, width = (LIGHT[beams[0]], 3) if beams else ("0.6", 1)
        axis.plot([x, x + 1], [y, end], color=color, lw=width, zorder=0)
        axis.text(x + 0.5, (y + end) / 2, f"{p:g}", ha="center", **text)
        label = f" {word}" if new in choices else f" {word}   {total:.4f}"
        axis.text(x + 1, end, label, color=color if beams else "black", **text)
        if new in choices:
            _draw_fork(axis, choices, paths, new, total, end, span / n)


FATES = {"kept": "right", "finished": "gold", "dropped": "masked"}  # of a candidate


def plot_beam(
    trace: Sequence[Candidate],
    lookup: Callable[[list[int]], list[str]],
    best: Sequence[int] | None = None,
    start: int = 0,
) -> Figure:
    """The tree of a beam search: a column for each step, a box for each candidate.

    A box shows the token, and the log-probability of the whole path that leads to it.

    Args:
        trace: the candidates that ``beam_search`` wrote, from step 1 on; cut it to
            draw only the first steps.
        lookup: ids to words, such as ``tgt_tokenizer.lookup_tokens``.
        best: ids, without ``<eos>``, of the translation whose path is drawn thick.
        start: draws only what continues that many tokens of the best translation.
    """
    root = tuple(best or ())[:start]
    trace = [c for c in trace if c.step > start and c.prefix[:start] == root]
    columns = [list(group) for _, group in groupby(trace, key=lambda c: c.step)]
    width, height = len(columns) + 1, max(map(len, columns))  # in boxes
    figure, (axis,) = new_figure(size=(0.95 * width, 0.62 * height + 0.3))
    axis.set(xlim=(-0.5, width - 0.5), ylim=(-height / 2, height / 2))
    axis.axis("off")
    style: Any = {"pad": 0.25, "in_layout": False}
    name = f"… {lookup([root[-1]])[0]}" if root else "<sos>"
    boxed(axis, 0, 0, name, edge="black", **style)
    heights: dict[tuple[int, ...], float] = {root: 0.0}  # of each path
    for column in columns:
        # Children are in the order of their parents, so that no two lines cross.
        column.sort(key=lambda c: (-heights[c.prefix], -c.log_prob))
        for row, c in enumerate(column):
            path, role = (*c.prefix, c.token), FATES[c.fate]
            y = (len(column) - 1) / 2 - row
            thick = best is not None and path == (*best, EOS)[: len(path)]
            x = c.step - start
            ends = [x - 1, x], [heights[c.prefix], y]
            axis.plot(*ends, color=LIGHT[role], lw=3 if thick else 1, zorder=0)
            label = f"{lookup([c.token])[0]}\n{c.log_prob:.2f}"
            ls = "--" if c.fate == "dropped" else "-"
            boxed(axis, x, y, label, pale(role), LIGHT[role], 1 + thick, ls, **style)
            heights[path] = y
    for fate, role in FATES.items():
        axis.plot([], [], color=LIGHT[role], lw=3, label=fate)
    place: Any = {"loc": "outside lower center", "ncols": 3}
    figure.legend(fontsize=FONT, frameon=False, **place)
    return figure
