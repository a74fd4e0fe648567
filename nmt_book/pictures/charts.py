"""Charts: lines, bars and histograms, from data and labels only."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from itertools import accumulate, cycle
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator

from nmt_lib.translate.heatmap import (
    FONT,
    LETTER,
    WIDTH,
    label_axes,
    new_figure,
    set_title,
)

from .data import as_numbers, as_panels, as_titled
from .palette import GREY, LIGHT

SERIES: list[tuple[str, Any, str]] = [  # colour, line style, marker
    (LIGHT["right"], "-", "o"),
    (LIGHT["ink"], "--", "s"),
    (LIGHT["faint"], "-.", "^"),
    (LIGHT["right"], ":", "D"),
    (LIGHT["ink"], (0, (5, 1)), "v"),
    (LIGHT["faint"], (0, (1, 1, 4, 1)), "P"),
]
HUES = 4  # of SERIES; where there are more curves, each has its name at its end
GAP = 0.1  # between two such names, in heights of the axes
SIGNS = dict(zip("os^DvP", "●■▲◆▼✚", strict=True))
FEW = 12  # up to this many points get a marker and a tick each
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
    dots: Mapping[str, Any] | None = None,
    marked: Sequence[str] = (),
    stacked: bool = False,
) -> Figure:
    """Curves that differ in colour, line style and marker.

    Args:
        curves: label → y, or label → (x, y), or panel title → such a dict; or a
            single y. A y of ``(runs, n)`` draws each run thin and their mean thick.
        x: the positions of every y that has none; default: 0, 1 …, and 1, 2 … on a
            logarithmic axis.
        xlabel, ylabel: of all panels; with a ``ylabel`` the panels share one scale.
        log: the logarithmic axes: ``"x"``, ``"y"`` or ``"xy"``.
        level: name → height of a thin horizontal line, or the height alone.
        dots: label → (x, y), single points.
        marked: labels of curves that have the colour of a mistake.
        stacked: one panel below the other, which a phone shows in legible letters.
    """
    panels = as_panels(curves)
    n = len(panels)
    size, shape, inches = (WIDTH, 2.9), (1, n), WIDTH / n
    if stacked:
        size, shape, inches = (WIDTH, 0.7 + 1.9 * n), (n, 1), WIDTH
    figure, axes = new_figure(*shape, size, sharey=bool(ylabel), sharex=stacked)
    mistake = LIGHT["mistake"]
    extra = {label: ([px], [py]) for label, (px, py) in (dots or {}).items()}
    for axis, (title, series) in zip(axes, panels.items(), strict=True):
        set_title(axis, textwrap.fill(title, int((inches - 0.5) / LETTER)))
        axis.set_xscale("log" if "x" in log else "linear")
        axis.set_yscale("log" if "y" in log else "linear")
        positions = [
            draw_curve(
                axis, label, y, x, (mistake if label in marked else color, *style)
            )
            for (label, y), (color, *style) in zip(
                (series | extra).items(), cycle(SERIES)
            )
        ]
        if level is not None:
            draw_levels(axis, level)
        points = np.unique(np.concatenate(positions))
        if len(points) <= FEW:
            set_ticks(axis, points, inches - 1)
    for axis in axes:
        set_heights(axis, axes if ylabel else [axis])
    if n == 1 and len(axes[0].get_legend_handles_labels()[0]) > HUES:
        name_ends(axes[0])
    else:
        add_legend(figure)
    label_axes(figure, xlabel, ylabel)
    return figure


def set_heights(axis: Axes, shared: Sequence[Axes]) -> None:
    """The limits of the y axes: zero if linear, and enough numbers if logarithmic."""
    lows, highs = zip(*(panel.dataLim.intervaly for panel in shared), strict=True)
    low, high = min(lows), max(highs)
    if axis.get_yscale() == "linear" and 0 <= low < 0.5 * high:
        axis.set_ylim(-0.03 * high)
    elif axis.get_yscale() == "log" and high < 300 * low:  # 0.2, 0.5, 1, 2 …
        axis.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.yaxis.set_major_formatter("{x:g}")
        axis.yaxis.set_minor_formatter("")


def draw_curve(
    axis: Axes, label: str, y: Any, x: Any, style: tuple[str, Any, str]
) -> np.ndarray:
    """Draws one curve (and each run, if there are several); returns its x values."""
    if isinstance(y, tuple):
        x, y = y
    runs = np.atleast_2d(as_numbers(y))  # (runs, n)
    n = runs.shape[1]
    first = int(axis.get_xscale() == "log")  # a logarithmic axis has no 0
    positions = as_numbers(range(first, first + n) if x is None else x)  # (n,)
    color, dashes, marker = style
    for run in runs if len(runs) > 1 else ():
        axis.plot(positions, run, color=color, lw=0.8, alpha=0.5)
    point: Any = {"ls": "", "ms": 10, "clip_on": False}
    line: Any = {"lw": 2, "ls": dashes, "ms": 6} if n > 1 else point
    line |= {"marker": marker if n <= FEW else "", "mec": "white", "label": label}
    axis.plot(positions, runs.mean(0), color=color, **line)
    return positions


def draw_levels(axis: Axes, levels: Any) -> None:
    """Thin horizontal lines, with their names at the right."""
    for name, y in as_titled(levels).items():
        axis.axhline(y, **THIN)
        where: Any = {"xycoords": axis.get_yaxis_transform(), "va": "center"}
        words = textwrap.fill(name, 16)
        axis.annotate(words, (1, y), (4, 0), **where, **NAME, parse_math=False)


def name_ends(axis: Axes) -> None:
    """The name and the marker of each curve at its end, none on top of another."""
    lines: Any = axis.get_legend_handles_labels()[0]
    lines.sort(key=lambda line: line.get_ydata()[-1])
    to_axes = axis.transData - axis.transAxes
    ends = [to_axes.transform(line.get_xydata()[-1])[1] for line in lines]
    up = accumulate(ends, lambda last, end: max(last + GAP, end))
    down = accumulate(ends[::-1], lambda last, end: min(last - GAP, end))
    for line, high, low in zip(lines, up, [*down][::-1], strict=True):
        where: Any = {"xycoords": "axes fraction", "va": "center"}
        style = NAME | where | {"color": line.get_color()}
        name = f"{SIGNS.get(line.get_marker(), '')} {line.get_label()}"
        axis.annotate(name, (1, (high + low) / 2), (4, 0), **style, parse_math=False)


def set_ticks(axis: Axes, x: np.ndarray, inches: float) -> None:
    """A tick at each x, except where its number would touch the one before."""
    names = [f"{value:,g}" for value in x]
    scaled = np.log10(x) if axis.get_xscale() == "log" else x
    letter = LETTER * max(scaled[-1] - scaled[0], 1e-9) / inches
    indices = [0]
    for i in range(1, len(names)):
        letters = (len(names[i]) + len(names[indices[-1]])) / 2 + 1
        if scaled[i] - scaled[indices[-1]] > letter * letters:
            indices.append(i)
    axis.minorticks_off()
    axis.set_xticks(x[indices], [names[i] for i in indices])


def add_legend(figure: Figure) -> None:
    """A legend above, or in each panel if they differ; none for a single series."""
    entries = {axis: axis.get_legend_handles_labels() for axis in figure.axes}
    first, *rest = entries.values()
    labels, legends = first[1], []
    style: Any = {"frameon": False, "fontsize": FONT}
    if any(names != labels for _, names in rest):
        axes = [axis for axis, (_, names) in entries.items() if len(names) > 1]
        legends = [axis.legend(**style) for axis in axes]
    elif len(labels) > 1:
        room = figure.get_figwidth() / (LETTER * max(map(len, labels)) + 0.6)
        style["ncols"] = max(1, min(len(labels), int(room)))
        legends = [figure.legend(*first, loc="outside upper center", **style)]
    for legend in legends:
        for text in legend.get_texts():
            text.set_parse_math(False)


def plot_bars(
    bars: Any,
    labels: Sequence[str] = (),
    *,
    stacked: bool = False,
    numbers: str = ".0f",
    marked: Sequence[str] = (),
    roles: Sequence[str] = (),
    log: bool = False,
    xlabel: str = "",
) -> Figure:
    """Horizontal bars with the number at each, the first on top.

    Args:
        bars: label → length; or series → lengths, or lengths alone, with ``labels``.
        labels: the words at the bars; default: numbers from 0.
        stacked: draws the series end to end instead of below each other.
        numbers: how the lengths are written, such as ``".2f"``.
        marked: labels whose bars have the colour of a mistake.
        roles: of the series, for their colours.
        log: lengths on a logarithmic axis.
        xlabel: what the lengths are.
    """
    if isinstance(bars, Mapping) and not labels:
        bars, labels = [*bars.values()], [*bars]
    series = {name: as_numbers(lengths) for name, lengths in as_titled(bars).items()}
    labels = labels or [str(i) for i in range(len(series[""]))]
    places, start = np.arange(len(labels)), np.zeros(len(labels))
    n = 1 if stacked else len(series)
    figure, (axis,) = new_figure(size=(WIDTH, 0.9 + max(0.34, 0.22 * n) * len(labels)))
    for i, (name, lengths) in enumerate(series.items()):
        shift = 0 if stacked else (i - (n - 1) / 2) * 0.8 / n
        color = LIGHT[roles[i]] if roles else SERIES[i][0]
        colors = [LIGHT["mistake"] if label in marked else color for label in labels]
        place = places + shift
        group = axis.barh(place, lengths, 0.76 / n, start, color=colors, label=name)
        style: Any = {"padding": 2}
        if stacked:
            start = start + lengths
            style = {"label_type": "center", "color": "white"}
        room = 0.06 * sum(series.values()).max() if stacked else -np.inf
        texts = [format(x, numbers) if x > room else "" for x in lengths]
        axis.bar_label(group, texts, fontsize=FONT, **style)
    axis.set_yticks(places, labels, parse_math=False)
    axis.tick_params(axis="y", length=0)
    axis.set_ylim(len(labels) - 0.5, -0.5)
    axis.margins(x=None if stacked else 0.15)
    if log:
        least = 10 ** np.floor(np.log10(np.min([*series.values()])) - 0.5)
        axis.set(xscale="log", xlim=(least, None))
    add_legend(figure)
    axis.set_xlabel(xlabel)
    return figure


def plot_hists(
    samples: Any, *, middle: float = 0, xlabel: str = "", ylabel: str = ""
) -> Figure:
    """Histograms on top of each other, with the same bins.

    Args:
        samples: label → values, or the values alone.
        middle: 0.95 draws a bar below for the middle 95 % of each sample.
        xlabel, ylabel: of the axes.
    """
    values = {label: as_numbers(sample) for label, sample in as_titled(samples).items()}
    edges: Any = np.histogram_bin_edges(np.concatenate([*values.values()]), 30)
    figure, (axis,) = new_figure(size=(WIDTH, 2.9))
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
