"""Charts show the numbers that they were given, under the right words."""

import math
from typing import Any

import numpy as np
import pytest
import torch
from matplotlib.colors import to_hex

import nmt_lib as nmt
from nmt_lib.pictures.plotting import BLUE, ORANGE


def ticks(axis: Any, which: str = "x") -> list[str]:
    return [text.get_text() for text in getattr(axis, f"get_{which}ticklabels")()]


def texts(some: Any) -> list[str]:
    return [text.get_text() for text in some]


def legend(figure: Any) -> list[str]:
    return [text for one in figure.legends for text in texts(one.get_texts())]


def points(axis: Any) -> list[list[list[float]]]:
    return [np.asarray(line.get_data()).tolist() for line in axis.lines]


def test_curves_have_their_positions_and_differ_in_more_than_colour() -> None:
    curves = {"$5": [1, 2], "<b>": ([1, 3, 5], torch.tensor([3.0, 2.0, 1.0]))}
    figure = nmt.plot_lines(curves, [1, 4], xlabel="update")
    (axis,) = figure.axes
    assert points(axis) == [[[1, 4], [1, 2]], [[1, 3, 5], [3, 2, 1]]]
    assert {line.get_linestyle() for line in axis.lines} == {"-", "--"}
    assert ticks(axis) == ["1", "3", "4", "5"]
    assert (legend(figure), axis.get_xlabel()) == (["$5", "<b>"], "update")
    *_, mean = points(nmt.plot_lines({"a": [[1, 2, 3], [3, 4, 5]]}).axes[0])
    assert mean == [[0, 1, 2], [2, 3, 4]], "of two runs"


def test_panels_share_a_scale_only_with_a_ylabel() -> None:
    curves = {"P": {"a": [0.1, 0.2], "b": [1, 2]}, "Q": {"a": [10, 20], "b": [30, 40]}}
    left, right = nmt.plot_lines(curves).axes
    assert (left.get_title(), right.get_title()) == ("P", "Q")
    assert left.get_ylim() != right.get_ylim()
    figure = nmt.plot_lines(curves, ylabel="nats", xlabel="update")
    left, right = figure.axes
    assert left.get_ylim() == right.get_ylim()
    assert (left.get_ylabel(), figure.get_supxlabel()) == ("nats", "update")
    assert legend(figure) == ["a", "b"], "one legend for both"


def test_logarithms_levels_and_dots() -> None:
    marks = {"level": {"even": 1.5}, "at": {"here": 4}, "dots": {"d": (2, 1)}}
    (axis,) = nmt.plot_lines({"a": [0.2, 2.0]}, [1, 512], log="xy", **marks).axes
    assert axis.get_xscale() == axis.get_yscale() == "log"
    assert ticks(axis) == ["1", "2", "512"]
    _, dot, level, at = points(axis)
    assert (dot, level[1], at[0]) == ([[2], [1]], [1.5, 1.5], [4, 4])
    assert texts(axis.texts) == ["even", "here"]


def lengths(axis: Any) -> list[list[float]]:
    return [[bar.get_width() for bar in group] for group in axis.containers]


def test_bars_have_their_labels_numbers_and_marks_the_first_on_top() -> None:
    options: Any = {"numbers": ".1f", "marked": ["<b>"], "xlabel": "BLEU"}
    (axis,) = nmt.plot_bars({"$5": 1, "<b>": 2.25, "😀": 3}, **options).axes
    assert (ticks(axis, "y"), lengths(axis)) == (["$5", "<b>", "😀"], [[1, 2.25, 3]])
    assert [to_hex(bar.get_facecolor()) for bar in axis.patches] == [BLUE, ORANGE, BLUE]
    assert sorted(texts(axis.texts)) == ["1.0", "2.2", "3.0"]
    bottom, top = axis.get_ylim()
    assert bottom > top
    (axis,) = nmt.plot_bars({"a": 1e3, "b": 1e6}, log=True, xlabel="x").axes
    assert (axis.get_xscale(), axis.get_xlabel()) == ("log", "x")


def test_series_are_beside_or_on_each_other() -> None:
    series = {"x": [1, 2], "y": torch.tensor([3.0, 4.0])}
    figure = nmt.plot_bars(series, ["a", "b"])
    (axis,) = figure.axes
    assert (lengths(axis), ticks(axis, "y")) == ([[1, 2], [3, 4]], ["a", "b"])
    assert legend(figure) == ["x", "y"]
    (axis,) = nmt.plot_bars(series, ["a", "b"], stacked=True).axes
    assert [bar.get_x() for bar in axis.containers[1]] == [1, 2]


def test_samples_share_their_bins() -> None:
    samples = {"a": [0, 1, 1, 2], "b": [2, 2, 4]}
    figure = nmt.plot_hists(samples, middle=0.5, xlabel="BLEU")
    (axis,) = figure.axes
    assert [patch.get_xy()[:, 0].max() for patch in axis.patches] == [4] * 4
    assert points(axis)[0][0] == pytest.approx([0.75, 1.25])
    assert (legend(figure), axis.get_xlabel()) == (["a", "b"], "BLEU")


def test_the_history_is_drawn_by_update() -> None:
    rows = [(1, 4.0, 3.0), (2, 2.0, 1.5), (4, 1.0, 0.75)]
    keys = ("step", "train_loss", "valid_loss")
    history = [dict(zip(keys, row, strict=True)) for row in rows]
    figure = nmt.plot_history(history, nmt.load_config("tiny", **{"train.warmup": 2}))
    losses, rates = map(points, figure.axes)
    assert losses == [[[1, 2, 4], [4, 2, 1]], [[1, 2, 4], [3, 1.5, 0.75]]]
    falling = [0.006 * math.sqrt(2 / step) for step in (2, 3, 4)]
    assert rates == [[[1, 2, 3, 4], pytest.approx([0.003, *falling])]]
    first, second = texts(figure.axes[0].get_legend().get_texts())
    assert "training" in first and "validation" in second
