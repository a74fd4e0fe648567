"""Charts: lines, bars and histograms, from data and labels only."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from itertools import cycle, pairwise
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator

from ..config import Config
from ..errors import ShapeError
from ..schedules import learning_rate
from .data import as_numbers, as_panels, as_series, has_words
from .plotting import (
    BLUE,
    FONT,
    GREY,
    LETTER,
    ORANGE,
    WIDTH,
    as_titled,
    label_axes,
    new_figure,
    set_title,
)

SERIES: list[tuple[str, Any, str]] = [  # colour, line style, marker
    (BLUE, "-", "o"),
    (ORANGE, "--", "s"),
    ("#009e73", "-.", "^"),
    ("#b0568f", ":", "D"),
    ("0.3", (0, (5, 1)), "v"),
    ("#56b4e9", (0, (1, 1, 4, 1)), "P"),
]
FEW = 12  # up to so many points have markers and ticks of their own
THIN: Any = {"color": GREY, "lw": 1, "ls": "--", "zorder": 0.9}
NAME: Any = {"textcoords": "offset points", "color": GREY, "fontsize": FONT}


def plot_lines(
    curves: Any,
    x: Any = None,
    *,
    xlabel: str = "",
    ylabel: str = "",
    log: str = "",
    level: Any = None,
    at: Any = None,
    dots: Mapping[str, Any] | None = None,
) -> Figure:
    """Curves, which differ in colour, line style and marker.

    Args:
        curves: label → y, or label → (x, y), or panel title → such a dict; or one y
            alone. A y of ``(runs, n)`` draws each run thin and their mean thick.
        x: the positions of all y without their own, numbers or words; default: 0, 1 …
        xlabel, ylabel: of all panels; with a ``ylabel`` they share their scale.
        log: the logarithmic axes: ``"x"``, ``"y"`` or ``"xy"``.
        level: name → height of a thin horizontal line, or the height alone.
        at: name → position of a thin vertical line, or the position alone.
        dots: label → (x, y), single points.

    Raises:
        ValueError: nothing to draw.
        ShapeError: a curve has more or fewer values than positions.
    """
    panels = as_panels(curves)
    size = (WIDTH if len(panels) > 1 else 6.4, 2.9)
    figure, axes = new_figure(1, len(panels), size, sharey=bool(ylabel))
    extra = {label: ([px], [py]) for label, (px, py) in (dots or {}).items()}
    for axis, (title, series) in zip(axes, panels.items(), strict=True):
        set_title(axis, title)
        axis.set_xscale("log" if "x" in log else "linear")
        axis.set_yscale("log" if "y" in log else "linear")
        positions = [
            draw_curve(axis, label, y, x, style)
            for (label, y), style in zip((series | extra).items(), cycle(SERIES))
        ]
        if level is not None:
            draw_levels(axis, level, named=axis is axes[-1])
        if at is not None:
            draw_places(axis, at)
        low, high = axis.dataLim.intervaly
        if "y" not in log and 0 <= low < 0.5 * high:
            axis.set_ylim(-0.03 * high)
        elif "y" in log and high < 300 * low:  # 0.2, 0.5, 1, 2: not powers of 10 alone
            axis.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            axis.yaxis.set_major_formatter("{x:g}")
            axis.yaxis.set_minor_formatter("")
        points = np.unique(np.concatenate(positions))
        if len(points) <= FEW:
            names = [x[int(p)] if has_words(x) else f"{p:,g}" for p in points]
            set_ticks(axis, points, names, WIDTH / len(axes) - 1)
    add_legend(figure)
    label_axes(figure, xlabel, ylabel)
    return figure


def draw_curve(
    axis: Axes, label: str, y: Any, x: Any, style: tuple[str, Any, str]
) -> np.ndarray:
    """One curve, with its runs if it has several; gives its positions."""
    if isinstance(y, tuple) and len(y) == 2 and np.ndim(as_numbers(y[0])) == 1:
        x, y = y
    runs = np.atleast_2d(as_numbers(y))  # (runs, n)
    n = runs.shape[1]
    x = range(n) if x is None else range(len(x)) if has_words(x) else x
    positions = as_numbers(x)
    if len(positions) != n:
        raise ShapeError(
            f"curve {label!r} has {n} values for {len(positions)} positions"
        )
    if not n:
        raise ValueError(f"nothing to draw: curve {label!r} is empty")
    color, dashes, marker = style
    for run in runs if len(runs) > 1 else ():
        axis.plot(positions, run, color=color, lw=0.8, alpha=0.5)
    line: Any = {"lw": 2, "ls": dashes, "ms": 6} if n > 1 else {"ls": "", "ms": 10}
    line |= {"marker": marker if n <= FEW else "", "mec": "white", "label": label}
    axis.plot(positions, runs.mean(0), color=color, **line)
    return positions


def draw_levels(axis: Axes, levels: Any, named: bool) -> None:
    """Thin horizontal lines, with their names at the right."""
    for name, y in as_titled(levels).items():
        axis.axhline(y, **THIN)
        where: Any = {"xycoords": axis.get_yaxis_transform(), "va": "center"}
        words = textwrap.fill(name, 16) if named else ""
        axis.annotate(words, (1, y), (4, 0), **where, **NAME, parse_math=False)


def draw_places(axis: Axes, places: Any) -> None:
    """Thin vertical lines, with their names at the top."""
    for name, x in as_titled(places).items():
        axis.axvline(x, **THIN)
        where: Any = {"xycoords": axis.get_xaxis_transform(), "va": "top"}
        axis.annotate(name, (x, 1), (4, -1), **where, **NAME, parse_math=False)


def set_ticks(axis: Axes, x: Any, names: Sequence[str], inches: float) -> None:
    """A tick at each x, without those whose words would touch the one before."""
    scaled = np.log10(x) if axis.get_xscale() == "log" else x
    letter = LETTER * max(scaled[-1] - scaled[0], 1e-9) / inches
    kept = [0]
    for i in range(1, len(names)):
        letters = (len(names[i]) + len(names[kept[-1]])) / 2 + 1
        if scaled[i] - scaled[kept[-1]] > letter * letters:
            kept.append(i)
    axis.minorticks_off()
    axis.set_xticks(x[kept], [names[i] for i in kept], parse_math=False)


def add_legend(figure: Figure) -> None:
    """A legend above, or in each panel if they differ; none for a single series."""
    found = {axis: axis.get_legend_handles_labels() for axis in figure.axes}
    first, *others = found.values()
    labels, legends = first[1], []
    style: Any = {"frameon": False, "fontsize": FONT}
    if any(theirs != labels for _, theirs in others):
        several = [axis for axis, (_, theirs) in found.items() if len(theirs) > 1]
        legends = [axis.legend(**style) for axis in several]
    elif len(labels) > 1:
        room = figure.get_figwidth() / (LETTER * max(map(len, labels)) + 0.6)
        style["ncols"] = max(1, min(len(labels), int(room)))
        legends = [figure.legend(*first, loc="outside upper center", **style)]
    for legend in legends:
        for text in legend.get_texts():
            text.set_parse_math(False)


def plot_bars(
    bars: Any,
    labels: Sequence[Any] | None = None,
    *,
    flat: bool = False,
    stacked: bool = False,
    numbers: str = ".0f",
    marked: Sequence[Any] = (),
    level: Any = None,
    xlabel: str = "",
    ylabel: str = "",
    log: bool = False,
) -> Figure:
    """Bars with the number at each.

    Args:
        bars: label → height, or series → heights, or panel title → one of these; or
            heights alone.
        labels: the words under the bars of a series; default: numbers from 0.
        flat: horizontal, with the words at the left.
        stacked: the series on top of each other, not side by side.
        numbers: how the heights are written, such as ``".2f"``, where there is room;
            ``""``: not at all.
        marked: labels whose bars are orange.
        level: name → height of a thin line across, or the height alone.
        xlabel, ylabel: of all panels; with a label for the heights they share their
            scale.
        log: heights on a logarithmic axis.

    Raises:
        ValueError: nothing to draw.
        ShapeError: a series has more or fewer heights than labels.
    """
    panels = {
        title: as_series(panel, labels) for title, panel in as_panels(bars).items()
    }
    n_labels = max(len(names) for names, _ in panels.values())
    n_letters = max(len(name) for names, _ in panels.values() for name in names)
    n_series = max(len(series) for _, series in panels.values())
    bar = max(0.34, 0.22 * (1 if stacked else n_series))  # inches for each label
    if flat:
        width, height = 6.2, 0.9 + n_labels * bar
    else:
        width, height = 1 + n_labels * max(bar, LETTER * n_letters + 0.1), 2.7
    width = min(max(width, 3.2), WIDTH / len(panels) if len(panels) > 1 else 6.8)
    size = (width * len(panels), height)
    shared = {"sharex": bool(xlabel)} if flat else {"sharey": bool(ylabel)}
    figure, axes = new_figure(1, len(panels), size, **shared)
    margin = 0.15 if numbers and not stacked else None
    for axis, (title, (names, series)) in zip(axes, panels.items(), strict=True):
        set_title(axis, title)
        positive = [h for heights in series.values() for h in heights if h > 0]
        least = 10 ** np.floor(np.log10(min(positive, default=1)) - 0.5)
        if flat:
            groups = draw_bars(axis.barh, names, series, stacked, marked)
            room = np.inf
            set_words(axis.yaxis, names, room)
            axis.set_ylim(n_labels - 0.5, -0.5)  # bars of all panels in line
            axis.margins(x=margin)
            if level is not None:
                draw_places(axis, level)
            if log:
                axis.set(xscale="log", xlim=(least, None))
        else:
            groups = draw_bars(axis.bar, names, series, stacked, marked)
            room = (width - 0.8) / len(names)  # inches for each label
            set_words(axis.xaxis, names, room)
            axis.margins(y=margin)
            if level is not None:
                draw_levels(axis, level, named=axis is axes[-1])
            if log:
                axis.set(yscale="log", ylim=(least, None))
        if numbers:
            write_heights(axis, groups, numbers, stacked, room)
    add_legend(figure)
    label_axes(figure, xlabel, ylabel)
    return figure


def draw_bars(
    draw: Callable[..., Any],
    names: Sequence[str],
    series: Mapping[str, np.ndarray],
    stacked: bool,
    marked: Sequence[Any],
) -> list[Any]:
    """The bars of a panel, by ``Axes.bar`` or ``Axes.barh``: a group each series."""
    marks, groups = {str(label) for label in marked}, []
    places, start = np.arange(len(names)), np.zeros(len(names))
    thick = 0.8 if stacked else 0.8 / len(series)
    for i, (label, heights) in enumerate(series.items()):
        color = SERIES[i % len(SERIES)][0]
        colors = [ORANGE if name in marks else color for name in names]
        shift = 0 if stacked else (i - (len(series) - 1) / 2) * thick
        bars = places + shift, heights, 0.95 * thick, start
        groups.append(draw(*bars, color=colors, label=label))
        start = start + heights * stacked
    return groups


def write_heights(
    axis: Axes, groups: Sequence[Any], numbers: str, stacked: bool, room: float
) -> None:
    """The height of each bar, if it fits; ``room``: inches for each label."""
    least, share = -np.inf, 0.8 / len(groups)
    style: Any = {"padding": 2}
    if stacked:
        least = 0.06 * sum(group.datavalues for group in groups).max()
        share, style = 0.8, {"label_type": "center", "color": "white"}
    for group in groups:
        heights = map(float, group.datavalues)
        texts = [format(h, numbers) if h > least else "" for h in heights]
        if LETTER * max(map(len, texts)) < room * share + 0.05:
            axis.bar_label(group, texts, fontsize=FONT, **style)


def set_words(axis: Axis, names: Sequence[str], room: float) -> None:
    """A word at each bar, turned where they would touch; ``room``: inches for each."""
    near = [(len(a) + len(b)) / 2 for a, b in pairwise(names)] or [len(names[0])]
    style: Any = {"parse_math": False}
    if LETTER * (max(near) + 1) > room:
        style |= {"rotation": 40, "ha": "right", "rotation_mode": "anchor"}
    axis.set_ticks(range(len(names)), names, **style)
    axis.set_tick_params(length=0)


def plot_hists(
    samples: Any, *, middle: float = 0, xlabel: str = "", ylabel: str = ""
) -> Figure:
    """Histograms over each other, with the same bins.

    Args:
        samples: label → values, or the values alone.
        middle: 0.95 draws a bar below for the middle 95 % of each sample.
        xlabel, ylabel: of the axes.
    """
    values = {label: as_numbers(sample) for label, sample in as_titled(samples).items()}
    edges: Any = np.histogram_bin_edges(np.concatenate([*values.values()]), 30)
    figure, (axis,) = new_figure(size=(6.4, 2.9))
    for (label, sample), (color, style, _) in zip(values.items(), cycle(SERIES)):
        axis.hist(sample, edges, histtype="stepfilled", color=color, alpha=0.3)
        line: Any = {"color": color, "ls": style, "lw": 1.8, "label": label}
        axis.hist(sample, edges, histtype="step", **line)
    below = -0.07 * axis.dataLim.y1
    for i, sample in enumerate(values.values() if middle else ()):
        ends = np.quantile(sample, [0.5 - middle / 2, 0.5 + middle / 2])
        axis.plot(ends, [below * (i + 1)] * 2, color=SERIES[i][0], lw=4)
    add_legend(figure)
    label_axes(figure, xlabel, ylabel)
    return figure


def plot_history(history: Sequence[dict[str, float]], config: Config) -> Figure:
    """The losses of each validation (``Run.history``) and the rate of each update."""
    column = {key: [row[key] for row in history] for key in history[0]}
    updates = range(1, int(column["step"][-1]) + 1)
    d_model = config.model.d_model
    rates = [learning_rate(step, config.train, d_model) for step in updates]
    losses = {
        "training (smoothed, dropout on)": column["train_loss"],
        "validation (plain, dropout off)": column["valid_loss"],
    }
    panels = {
        "loss (nats a token)": losses,
        "learning rate": {"learning rate": (updates, rates)},
    }
    return plot_lines(panels, column["step"], xlabel="update")
