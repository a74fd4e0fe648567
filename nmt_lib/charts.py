"""Charts: lines, bars and histograms, drawn by code so that a chapter gives data and labels only."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import Any

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .errors import ShapeError
from .plotting import BLUE, FONT, GREY, LETTER, ORANGE, WIDTH, label_axes, new_figure

SERIES = [(BLUE, "-", "o"), (ORANGE, "--", "s"), ("#009e73", "-.", "^"), ("#b0568f", ":", "D"), ("0.3", (0, (5, 1)), "v"),
          ("#56b4e9", (0, (1, 1, 4, 1)), "P")]  # fmt: skip
FEW = 12  # up to so many points have markers and ticks of their own


def plot_lines(
    curves: Any,
    x: Sequence[Any] | None = None,
    *,
    xlabel: str = "",
    ylabel: str = "",
    log: str = "",
    level: Any = None,
    at: Any = None,
    band: Any = None,
    dots: Any = None,
) -> Figure:
    """Curves; colour, line style and marker change together, first blue, then orange.

    Args:
        curves: label → y, or label → (x, y), or panel title → such a dict; one y alone. A y of ``(runs, n)`` draws each
            run thin and their mean thick.
        x: places of all y without their own, numbers or words; default: 0, 1, 2 …
        xlabel, ylabel: of all panels; with a ``ylabel`` they share their scale.
        log: the logarithmic axes: ``"x"``, ``"y"`` or ``"xy"``.
        level, at: label → height (place) of a thin line across, or the number alone.
        band: label → (from, to) along x in grey, or the two numbers.
        dots: label → (x, y), single points.

    Raises:
        ShapeError: another number of values than of places.
        ValueError: nothing to draw.
    """
    panels = as_panels(curves)
    figure, axes = panel_figure(len(panels), 2.9, share=bool(ylabel))
    extra = {label: ([px], [py]) for label, (px, py) in (dots or {}).items()}
    for axis, (title, series) in zip(axes, panels.items(), strict=True):
        axis.set_title(title, parse_math=False)
        axis.set(xscale="log" if "x" in log else "linear", yscale="log" if "y" in log else "linear")
        places = [draw_curve(axis, *item, x, *style) for item, style in zip((series | extra).items(), cycle(SERIES))]
        draw_levels(axis, level, at, band, last=axis is axes[-1])
        low, high = axis.dataLim.intervaly
        if "y" not in log and 0 <= low < 0.5 * high:
            axis.set_ylim(0)
        points = np.unique(np.concatenate(places))
        if len(points) <= FEW:
            names = [str(x[int(p)]) if x is not None and isinstance(x[0], str) else f"{p:,g}" for p in points]
            set_ticks(axis, points, names, WIDTH / len(axes) - 0.7)
    add_legend(figure, axes)
    label_axes(figure, axes, xlabel, ylabel)
    return figure


def draw_curve(axis: Axes, label: str, y: Any, x: Any, color: str, style: Any, marker: str) -> np.ndarray:
    """One curve, with its runs if it has several; its places."""
    if isinstance(y, tuple) and len(y) == 2 and np.ndim(as_numbers(y[0])) == 1:
        x, y = y
    runs = np.atleast_2d(as_numbers(y))  # (runs, n)
    n = runs.shape[1]
    places = np.arange(n) if x is None or isinstance(x[0], str) else as_numbers(x)
    if len(places) != n or (x is not None and len(x) != n):
        raise ShapeError(f"curve {label!r} has {n} values, but x has {len(x)} places")
    if not n:
        raise ValueError(f"nothing to draw: curve {label!r} is empty")
    for run in runs if len(runs) > 1 else ():
        axis.plot(places, run, color=color, lw=0.8, alpha=0.5)
    axis.plot(places, runs.mean(0), color=color, ls=style if n > 1 else "", lw=2, label=label,
              marker=marker if n <= FEW else "", ms=6 if n > 1 else 10, mec="white")  # fmt: skip
    return places


def draw_levels(axis: Axes, level: Any, at: Any, band: Any = None, last: bool = True) -> None:
    """Thin lines across with their names: at the right (levels, in the last panel) or at the top (places)."""
    text: dict[str, Any] = {"textcoords": "offset points", "fontsize": FONT, "color": GREY, "parse_math": False}
    for name, height in named(level).items():
        axis.axhline(height, color=GREY, lw=1, ls="--", zorder=0.9)
        if name and last:
            name = textwrap.fill(name, 16)
            axis.annotate(name, (1, height), (4, 0), xycoords=axis.get_yaxis_transform(), va="center", **text)
    for name, place in named(at).items():
        axis.axvline(place, color=GREY, lw=1, ls="--", zorder=0.9)
        axis.annotate(name, (place, 1), (4, -1), xycoords=axis.get_xaxis_transform(), va="top", **text)
    for name, (start, end) in named(band).items():
        axis.axvspan(start, end, color="0.88", lw=0, label=name, zorder=0)


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
        bars: label → height, or series → heights, or panel title → one of these; heights alone.
        labels: the words under the bars of a series; default: numbers from 0.
        flat: lying, with the words at the left.
        stacked: the series on top of each other, not side by side.
        numbers: how the heights are written, such as ``".2f"``; ``""``: not. Where they have no room they are left out.
        marked: labels whose bars are orange (of a single series).
        level: label → height of a thin line across, or the number alone.
        xlabel, ylabel: of all panels; with a label on the axis of the heights they share their scale.
        log: heights on a logarithmic axis.

    Raises:
        ShapeError: another number of heights than of labels.
        ValueError: nothing to draw; a marked label that is not there.
    """
    panels = {title: as_series(panel, labels) for title, panel in as_panels(bars).items()}
    words, n = next(iter(panels.values()))[0], max(len(series) for _, series in panels.values())
    side = n if not stacked else 1
    longest = max(len(word) for names, _ in panels.values() for word in names)
    thick = max(0.34, 0.22 * side)
    each = 4.2 if flat else min(WIDTH / min(len(panels), 2), max(1.0 + len(words) * max(thick, LETTER * longest + 0.1), 2.8))
    height = 0.9 + len(words) * thick if flat else 2.6
    figure, axes = panel_figure(len(panels), height, share=bool(xlabel if flat else ylabel), each=each, flat=flat)
    for axis, (title, (names, series)) in zip(axes, panels.items(), strict=True):
        axis.set_title(title, parse_math=False)
        draw_bars(axis, names, series, flat, stacked, numbers, marked, log)
        draw_levels(axis, *((None, level) if flat else (level, None)), last=axis is axes[-1])
        inches = figure.get_figwidth() / len(axes) - 0.7
        if flat:
            axis.set_yticks(range(len(names)), names, parse_math=False)
            axis.invert_yaxis()
        else:
            turned = LETTER * sum(map(len, names)) > inches
            axis.set_xticks(range(len(names)), names, rotation=40 if turned else 0, ha="right" if turned else "center",
                            rotation_mode="anchor" if turned else "default", parse_math=False)  # fmt: skip
        (axis.yaxis if flat else axis.xaxis).set_tick_params(length=0)
    add_legend(figure, axes)
    label_axes(figure, axes, xlabel, ylabel)
    return figure


def draw_bars(axis: Axes, names: list[str], series: Any, flat: bool, stacked: bool, numbers: str, marked: Any, log: bool) -> None:
    """The bars of one panel, with their numbers."""
    missing = [label for label in marked if str(label) not in names]
    if missing:
        raise ValueError(f"marked {missing[0]!r} is no label: {', '.join(names)}")
    axis.set(**{"xscale" if flat else "yscale": "log" if log else "linear"})
    places, base = np.arange(len(names)), np.zeros(len(names))
    thick = 0.8 if stacked else 0.8 / len(series)
    for i, ((label, heights), (color, *_)) in enumerate(zip(series.items(), cycle(SERIES))):
        where = places if stacked else places + (i - (len(series) - 1) / 2) * thick
        colors = [ORANGE if name in map(str, marked) else BLUE for name in names] if len(series) == 1 else color
        if flat:
            drawn = axis.barh(where, heights, 0.95 * thick, left=base if stacked else 0, color=colors, label=label)
        else:
            drawn = axis.bar(where, heights, 0.95 * thick, bottom=base if stacked else 0, color=colors, label=label)
        texts = [format(float(h), numbers) if numbers else "" for h in heights]
        if stacked:
            total = sum(as_numbers(h) for h in series.values()).max()
            texts = [t if h > 0.06 * total else "" for t, h in zip(texts, heights)]
            base = base + heights
        axis.bar_label(drawn, texts, label_type="center" if stacked else "edge", padding=0 if stacked else 2, fontsize=FONT,
                       color="white" if stacked else "black")  # fmt: skip
    if not stacked and numbers:
        axis.margins(**{"x" if flat else "y": 0.15})


def plot_hists(samples: Any, *, bins: Any = 30, middle: float = 0, level: Any = None, xlabel: str = "") -> Figure:
    """How often which value: several samples over each other, in the same bins.

    Args:
        samples: label → values, or the values alone.
        bins: how many, or their edges.
        middle: 0.95 draws a bar below for the middle 95 % of each sample.
        level: label → value of a thin line, or the number alone.
        xlabel: what the values are.

    Raises:
        ValueError: nothing to draw.
    """
    values = {label: as_numbers(v) for label, v in next(iter(as_panels(samples).values())).items()}
    if not all(v.size for v in values.values()):
        raise ValueError("nothing to draw: a sample is empty")
    edges = np.histogram_bin_edges(np.concatenate([*values.values()]), bins if isinstance(bins, int) else list(bins))
    figure, axes = panel_figure(1, 2.9)
    for (label, v), (color, style, _) in zip(values.items(), cycle(SERIES)):
        axes[0].hist(v, edges, histtype="stepfilled", color=color, alpha=0.35)
        axes[0].hist(v, edges, histtype="step", color=color, ls=style, lw=1.6)
    return figure


def as_numbers(values: Any) -> np.ndarray:
    """Numbers from a tensor, a list, a range, a list of tensors …"""
    if isinstance(values, torch.Tensor):
        return values.detach().double().cpu().numpy()
    if np.ndim(values) == 0 and not hasattr(values, "__iter__"):
        return np.asarray(float(values))
    return np.asarray([as_numbers(value) for value in values])


def as_panels(data: Any) -> dict[str, Any]:
    """Panel title → {label: data}: from that, from {label: data}, or from the data alone."""
    data = dict(data) if isinstance(data, Mapping) else {"": data}
    if not data:
        raise ValueError("nothing to draw: no data")
    return data if all(isinstance(part, Mapping) for part in data.values()) else {"": data}


def as_series(panel: Mapping[str, Any], labels: Sequence[Any] | None) -> tuple[list[str], dict[str, np.ndarray]]:
    """The words of the bars, and label → heights of each series."""
    if all(np.ndim(as_numbers(height)) == 0 for height in panel.values()):
        return [str(label) for label in panel], {"": as_numbers(panel.values())}
    series = {label: as_numbers(heights) for label, heights in panel.items()}
    n = len(next(iter(series.values())))
    words = [str(label) for label in (range(n) if labels is None else labels)]
    for label, heights in series.items():
        if len(heights) != len(words):
            raise ShapeError(f"series {label!r} has {len(heights)} heights for {len(words)} labels")
    if not words:
        raise ValueError("nothing to draw: no bar")
    return words, series


def named(thing: Any) -> dict[str, Any]:
    """Label → thing, the label being empty where there is none."""
    return {} if thing is None else dict(thing) if isinstance(thing, Mapping) else {"": thing}


def panel_figure(n: int, height: float, share: bool = False, each: float = 0, flat: bool = False) -> tuple[Figure, list[Axes]]:
    """Axes side by side."""
    width = min(WIDTH, n * (each or 6.4))
    return new_figure(1, n, (width, height), sharex=share and flat, sharey=share and not flat)


def set_ticks(axis: Axes, places: Sequence[float], names: Sequence[str], inches: float) -> None:
    """A tick at each place, without those whose words would touch the one before."""
    scaled = np.log10(places) if axis.get_xscale() == "log" else np.asarray(places)
    step = max(scaled[-1] - scaled[0], 1e-9) / inches  # of the axis in an inch
    kept: list[int] = []
    for i, name in enumerate(names):
        if not kept or scaled[i] - scaled[kept[-1]] > step * LETTER * (len(name) / 2 + len(names[kept[-1]]) / 2 + 1):
            kept.append(i)
    axis.set_xticks([places[i] for i in kept], [names[i] for i in kept], parse_math=False)
    axis.minorticks_off() if axis.get_xscale() == "log" else None


def add_legend(figure: Figure, axes: Sequence[Axes]) -> None:
    """One legend above, if there is more than one series and all panels have the same; else one in each panel."""
    keys = [axis.get_legend_handles_labels() for axis in axes]
    found = []
    if all(labels == keys[0][1] for _, labels in keys):
        if len(keys[0][1]) > 1:
            width = LETTER * max(map(len, keys[0][1])) + 0.6
            ncols = max(1, min(len(keys[0][1]), int(figure.get_figwidth() / width)))
            found = [figure.legend(*keys[0], loc="outside upper center", ncols=ncols, fontsize=FONT, frameon=False)]
    else:
        found = [axis.legend(fontsize=FONT, frameon=False) for axis, (_, labels) in zip(axes, keys) if len(labels) > 1]
    for text in (text for legend in found for text in legend.get_texts()):
        text.set_parse_math(False)


def plot_history(history: Sequence[dict[str, float]]) -> Figure:
    """Losses and learning rate by update, from a run's history."""
    steps = [row["step"] for row in history]
    losses = {"training (smoothed, dropout on)": [row["train_loss"] for row in history],
              "validation (plain, dropout off)": [row["valid_loss"] for row in history]}  # fmt: skip
    rates = {"learning rate": [row["lr"] for row in history]}
    return plot_lines({"loss (nats a token)": losses, "learning rate": rates}, steps, xlabel="update")
