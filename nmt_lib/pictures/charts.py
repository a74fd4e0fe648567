"""Charts: lines, bars and histograms, so that a chapter gives data and labels only."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from itertools import cycle, pairwise
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator

from ..errors import ShapeError
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
    """Curves; colour, line style and marker change together, first blue, then orange.

    Args:
        curves: label → y, or label → (x, y), or panel title → such a dict; or one y alone. A y of ``(runs, n)`` draws
            each run thin and their mean thick.
        x: places of all y without their own, numbers or words; default: 0, 1, 2 …
        xlabel, ylabel: of all panels; with a ``ylabel`` they share their scale.
        log: the logarithmic axes: ``"x"``, ``"y"`` or ``"xy"``.
        level, at: name → height (or place) of a thin line across, or the number alone.
        dots: label → (x, y), single points.

    Raises:
        ValueError: nothing to draw; another number of values than of places (a ShapeError).
    """
    panels = as_panels(curves)
    figure, axes = new_figure(
        1, len(panels), (WIDTH if len(panels) > 1 else 6.4, 2.9), sharey=bool(ylabel)
    )
    extra = {label: ([px], [py]) for label, (px, py) in (dots or {}).items()}
    for axis, (title, series) in zip(axes, panels.items(), strict=True):
        axis.set_title(title, fontsize=FONT, parse_math=False)
        axis.set(
            xscale="log" if "x" in log else "linear",
            yscale="log" if "y" in log else "linear",
        )
        places = [
            draw_curve(axis, *item, x, *style)
            for item, style in zip({**series, **extra}.items(), cycle(SERIES))
        ]
        draw_levels(axis, level, at, last=axis is axes[-1])
        low, high = axis.dataLim.intervaly
        if "y" not in log and 0 <= low < 0.5 * high:
            axis.set_ylim(-0.03 * high)
        elif "y" in log and high < 300 * low:  # 0.2, 0.5, 1, 2: not powers of 10 alone
            axis.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            axis.yaxis.set_major_formatter("{x:g}")
            axis.yaxis.set_minor_formatter("")
        points = np.unique(np.concatenate(places))
        if len(points) <= FEW:
            names = [str(x[int(p)]) if has_words(x) else f"{p:,g}" for p in points]
            set_ticks(axis, points, names, WIDTH / len(axes) - 1)
    add_legend(figure)
    label_axes(figure, xlabel, ylabel)
    return figure


def draw_curve(
    axis: Axes, label: str, y: Any, x: Any, color: str, style: Any, marker: str
) -> np.ndarray:
    """One curve, with its runs if it has several; its places."""
    if isinstance(y, tuple) and len(y) == 2 and np.ndim(as_numbers(y[0])) == 1:
        x, y = y
    runs = np.atleast_2d(as_numbers(y))  # (runs, n)
    n = runs.shape[1]
    places = (
        np.arange(n if x is None else len(x))
        if x is None or has_words(x)
        else as_numbers(x)
    )
    if len(places) != n:
        raise ShapeError(
            f"curve {label!r} has {n} values for {len(places)} places on the x axis"
        )
    if not n:
        raise ValueError(f"nothing to draw: curve {label!r} is empty")
    for run in runs if len(runs) > 1 else ():
        axis.plot(places, run, color=color, lw=0.8, alpha=0.5)
    axis.plot(
        places,
        runs.mean(0),
        color=color,
        ls=style if n > 1 else "",
        lw=2,
        label=label,
        marker=marker if n <= FEW else "",
        ms=6 if n > 1 else 10,
        mec="white",
    )
    return places


def draw_levels(axis: Axes, level: Any, at: Any, last: bool = True) -> None:
    """Thin lines across with their names: at the right (levels, in the last panel) or at the top (places)."""
    text: dict[str, Any] = {
        "textcoords": "offset points",
        "fontsize": FONT,
        "color": GREY,
        "parse_math": False,
    }
    for name, height in ({} if level is None else as_titled(level)).items():
        axis.axhline(height, color=GREY, lw=1, ls="--", zorder=0.9)
        words, place = textwrap.fill(name, 16) if last else "", (1, height)
        axis.annotate(
            words,
            place,
            (4, 0),
            xycoords=axis.get_yaxis_transform(),
            va="center",
            **text,
        )
    for name, x in ({} if at is None else as_titled(at)).items():
        axis.axvline(x, color=GREY, lw=1, ls="--", zorder=0.9)
        axis.annotate(
            name, (x, 1), (4, -1), xycoords=axis.get_xaxis_transform(), va="top", **text
        )


def set_ticks(axis: Axes, places: Any, names: Sequence[str], inches: float) -> None:
    """A tick at each place, without those whose words would touch the one before."""
    scaled = (
        np.log10(places)
        if axis.get_xscale() == "log"
        else np.asarray(places, dtype=float)
    )
    letter = LETTER * max(scaled[-1] - scaled[0], 1e-9) / inches
    kept: list[int] = []
    for i, name in enumerate(names):
        if not kept or scaled[i] - scaled[kept[-1]] > letter * (
            len(name) / 2 + len(names[kept[-1]]) / 2 + 1
        ):
            kept.append(i)
    axis.minorticks_off()
    axis.set_xticks(
        [places[i] for i in kept], [names[i] for i in kept], parse_math=False
    )


def add_legend(figure: Figure) -> None:
    """One legend above, if there is more than one series and all panels have the same; else one in each panel."""
    keys = {axis: axis.get_legend_handles_labels() for axis in figure.axes}
    handles, labels = keys[figure.axes[0]]
    if any(others != labels for _, others in keys.values()):
        found = [
            axis.legend(frameon=False)
            for axis, (_, some) in keys.items()
            if len(some) > 1
        ]
    else:
        room = int(
            figure.get_figwidth() / (LETTER * max(map(len, labels), default=0) + 0.6)
        )
        place: Any = {
            "loc": "outside upper center",
            "ncols": max(1, min(len(labels), room)),
        }
        found = (
            [figure.legend(handles, labels, frameon=False, **place)]
            if len(labels) > 1
            else []
        )
    for text in (text for legend in found for text in legend.get_texts()):
        text.set(parse_math=False, fontsize=FONT)


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
        bars: label → height, or series → heights, or panel title → one of these; or heights alone.
        labels: the words under the bars of a series; default: numbers from 0.
        flat: lying, with the words at the left.
        stacked: the series on top of each other, not side by side.
        numbers: how the heights are written, such as ``".2f"``; ``""``: not. Left out where there is no room.
        marked: labels whose bars are orange, where there is one series.
        level: name → height of a thin line across, or the number alone.
        xlabel, ylabel: of all panels; with a label for the heights they share their scale.
        log: heights on a logarithmic axis.

    Raises:
        ValueError: nothing to draw; a marked label that is not there; another number of heights than of labels.
    """
    panels = {
        title: as_series(panel, labels) for title, panel in as_panels(bars).items()
    }
    names, series = max(
        panels.values(), key=lambda panel: len(panel[0]) * len(panel[1])
    )  # the largest panel
    bar = max(0.34, 0.22 * (1 if stacked else len(series)))  # inches for each label
    word = LETTER * max(map(len, names)) + 0.1
    width = 6.2 if flat else 1 + len(names) * max(bar, word)
    width = min(max(width, 3.2), WIDTH / len(panels) if len(panels) > 1 else 6.8)
    size = (width * len(panels), 0.9 + len(names) * bar if flat else 2.7)
    share = bool(xlabel if flat else ylabel)
    figure, axes = new_figure(
        1, len(panels), size, sharex=share and flat, sharey=share and not flat
    )
    for axis, (title, (names, series)) in zip(axes, panels.items(), strict=True):
        axis.set_title(title, fontsize=FONT, parse_math=False)
        axis.set(**{"xscale" if flat else "yscale": "log" if log else "linear"})
        room = (width - 0.8) / len(names)  # inches for each label
        draw_bars(
            axis, names, series, flat, stacked, numbers, [*map(str, marked)], room
        )
        draw_levels(
            axis,
            None if flat else level,
            level if flat else None,
            last=axis is axes[-1],
        )
        near = max(
            [(len(a) + len(b)) / 2 for a, b in pairwise(names)], default=len(names[0])
        )
        turn = LETTER * (near + 1) > room and not flat
        style: Any = (
            {"rotation": 40, "ha": "right", "rotation_mode": "anchor"} if turn else {}
        )
        (axis.set_yticks if flat else axis.set_xticks)(
            range(len(names)), names, parse_math=False, **style
        )
        axis.tick_params("y" if flat else "x", length=0)
        if log:
            lowest = min(
                (h for heights in series.values() for h in heights if h > 0), default=1
            )
            axis.set(
                **{
                    "xlim" if flat else "ylim": (
                        10 ** np.floor(np.log10(lowest) - 0.5),
                        None,
                    )
                }
            )
    for axis in axes if flat else ():
        axis.set_ylim(len(names) - 0.5, -0.5)
    add_legend(figure)
    label_axes(figure, xlabel, ylabel)
    return figure


def draw_bars(
    axis: Axes,
    names: list[str],
    series: Mapping[str, np.ndarray],
    flat: bool,
    stacked: bool,
    numbers: str,
    marked: list[str],
    room: float,
) -> None:
    """The bars of one panel, with their numbers where they fit; ``room``: inches for each label."""
    if missing := [label for label in marked if label not in names]:
        raise ValueError(f"marked {missing[0]!r} is no label: {', '.join(names)}")
    base, thick = np.zeros(len(names)), 0.8 / (1 if stacked else len(series))
    total = np.sum([*series.values()], axis=0).max()
    draw: Any = axis.barh if flat else axis.bar
    for i, ((label, heights), (color, *_)) in enumerate(
        zip(series.items(), cycle(SERIES))
    ):
        where = np.arange(len(names)) + (
            0 if stacked else (i - (len(series) - 1) / 2) * thick
        )
        colors = (
            [ORANGE if name in marked else BLUE for name in names]
            if len(series) == 1
            else color
        )
        drawn = draw(
            where,
            heights,
            0.95 * thick,
            base if stacked else None,
            color=colors,
            label=label,
        )
        texts = [
            format(float(h), numbers)
            if numbers and (not stacked or h > 0.06 * total)
            else ""
            for h in heights
        ]
        if flat or LETTER * max(map(len, texts)) < room * thick + 0.05:
            style: Any = (
                {"label_type": "center", "color": "white"}
                if stacked
                else {"padding": 2}
            )
            axis.bar_label(drawn, texts, fontsize=FONT, **style)
        base = base + heights
    if numbers and not stacked:
        axis.margins(x=0.15) if flat else axis.margins(y=0.15)


def plot_hists(
    samples: Any, *, middle: float = 0, xlabel: str = "", ylabel: str = ""
) -> Figure:
    """How often which value: label → values (or the values alone), over each other in the same bins.

    Args:
        middle: 0.95 draws a bar below for the middle 95 % of each sample.
    """
    values = {label: as_numbers(sample) for label, sample in as_titled(samples).items()}
    if not values or not all(sample.size for sample in values.values()):
        raise ValueError("nothing to draw: a sample is empty")
    edges: Any = np.histogram_bin_edges(np.concatenate([*values.values()]), 30)
    figure, (axis,) = new_figure(size=(6.4, 2.9))
    for (label, sample), (color, style, _) in zip(values.items(), cycle(SERIES)):
        axis.hist(sample, edges, histtype="stepfilled", color=color, alpha=0.3)
        axis.hist(
            sample, edges, histtype="step", color=color, ls=style, lw=1.8, label=label
        )
    highest = axis.dataLim.y1
    for i, (sample, (color, *_)) in enumerate(
        zip(values.values(), cycle(SERIES)) if middle else ()
    ):
        ends = np.quantile(sample, [0.5 - middle / 2, 0.5 + middle / 2])
        axis.plot(ends, [-0.07 * (i + 1) * highest] * 2, color=color, lw=4)
    add_legend(figure)
    label_axes(figure, xlabel, ylabel)
    return figure


def plot_history(history: Sequence[dict[str, float]]) -> Figure:
    """Losses and learning rate by update, from a run's history."""
    steps = [row["step"] for row in history]
    losses = {
        "training (smoothed, dropout on)": [row["train_loss"] for row in history],
        "validation (plain, dropout off)": [row["valid_loss"] for row in history],
    }
    rates = {"learning rate": [row["lr"] for row in history]}
    return plot_lines(
        {"loss (nats a token)": losses, "learning rate": rates}, steps, xlabel="update"
    )
