from typing import Any

import numpy as np
import pytest
import torch
from matplotlib.colors import to_hex

import nmt_lib as nmt
from nmt_lib.pictures.charts import SERIES
from nmt_lib.pictures.plotting import BLUE, ORANGE


def ticks(axis: Any, which: str = "x") -> list[str]:
    return [text.get_text() for text in getattr(axis, f"get_{which}ticklabels")()]


def legend(figure: Any) -> list[str]:
    return [text.get_text() for one in figure.legends for text in one.get_texts()]


def test_curves_have_their_places_and_differ_in_more_than_colour() -> None:
    figure = nmt.plot_lines(
        {"$5": [1, 2], "<b>": ([1, 3, 5], torch.tensor([3.0, 2.0, 1.0]))},
        [1, 4],
        xlabel="update",
    )
    (axis,) = figure.axes
    assert [[list(values) for values in line.get_data()] for line in axis.lines] == [
        [[1, 4], [1, 2]],
        [[1, 3, 5], [3, 2, 1]],
    ]
    assert [
        (to_hex(line.get_color()), line.get_linestyle(), line.get_marker())
        for line in axis.lines
    ] == [
        (BLUE, "-", "o"),
        (ORANGE, "--", "s"),
    ]
    assert (
        ticks(axis) == ["1", "3", "4", "5"]
        and legend(figure) == ["$5", "<b>"]
        and axis.get_xlabel() == "update"
    )
    assert len(
        {style for _, style, _ in ((0, str(s), 0) for _, s, _ in SERIES)}
    ) == len(SERIES)


def test_one_curve_has_no_legend_and_many_points_no_markers() -> None:
    figure = nmt.plot_lines(range(100))
    assert not legend(figure) and figure.axes[0].lines[0].get_marker() == ""
    assert list(figure.axes[0].lines[0].get_ydata()) == list(range(100))


def test_runs_are_thin_and_their_mean_is_thick() -> None:
    lines = nmt.plot_lines({"a": [[1, 2, 3], [3, 4, 5]]}).axes[0].lines
    assert [list(line.get_ydata()) for line in lines] == [
        [1, 2, 3],
        [3, 4, 5],
        [2, 3, 4],
    ]
    assert lines[0].get_linewidth() < lines[2].get_linewidth()


def test_panels_share_a_scale_only_with_a_ylabel() -> None:
    curves = {
        "entropy": {"a": [0.1, 0.2], "b": [1, 2]},
        "weight": {"a": [10, 20], "b": [30, 40]},
    }
    left, right = nmt.plot_lines(curves).axes
    assert (left.get_title(), right.get_title()) == (
        "entropy",
        "weight",
    ) and left.get_ylim() != right.get_ylim()
    figure = nmt.plot_lines(curves, ylabel="nats", xlabel="update")
    assert (
        figure.axes[0].get_ylim() == figure.axes[1].get_ylim()
        and figure.get_supxlabel() == "update"
    )
    assert legend(figure) == ["a", "b"], "one for both"
    other = nmt.plot_lines({"x": {"a": [1, 2], "b": [1, 3]}, "y": {"c": [1, 2]}})
    assert not legend(other) and [
        axis.get_legend() is not None for axis in other.axes
    ] == [True, False]


def test_words_logarithms_levels_and_dots() -> None:
    (axis,) = nmt.plot_lines({"a": [1, 2, 3]}, ["$5", "😀", "trained"]).axes
    assert ticks(axis) == ["$5", "😀", "trained"]
    marks = {"level": {"even": 1.5}, "at": {"here": 4}, "dots": {"d": (2, 1)}}
    figure = nmt.plot_lines({"a": [0.2, 2.0]}, [1, 512], log="xy", **marks)
    (axis,) = figure.axes
    assert axis.get_xscale() == axis.get_yscale() == "log" and ticks(axis) == [
        "1",
        "2",
        "512",
    ]
    assert [list(line.get_ydata()) for line in axis.lines[1:3]] == [[1], [1.5, 1.5]]
    assert list(axis.lines[3].get_xdata()) == [4, 4] and [
        text.get_text() for text in axis.texts
    ] == ["even", "here"]


def test_ticks_that_would_touch_are_left_out() -> None:
    shown = ticks(nmt.plot_lines([1, 2, 3, 4, 5], [1, 2, 4, 5000, 10000]).axes[0])
    assert shown == ["1", "5,000", "10,000"]


def heights(axis: Any) -> list[list[float]]:
    return [[bar.get_height() for bar in group] for group in axis.containers]


def test_bars_have_their_labels_numbers_and_marks() -> None:
    (axis,) = nmt.plot_bars(
        {"$5": 1, "<b>": 2.25, "😀": 3},
        numbers=".1f",
        marked=["<b>"],
        level={"a coin": 2},
    ).axes
    assert ticks(axis) == ["$5", "<b>", "😀"] and heights(axis) == [[1, 2.25, 3]]
    assert [to_hex(bar.get_facecolor()) for bar in axis.patches] == [BLUE, ORANGE, BLUE]
    assert [text.get_text() for text in axis.texts] == ["1.0", "2.2", "3.0", "a coin"]
    assert list(axis.lines[0].get_ydata()) == [2, 2]


def test_flat_bars_lie_with_the_first_on_top() -> None:
    (axis,) = nmt.plot_bars(
        {"a": 1e3, "b": 1e6}, flat=True, log=True, level=5e4, xlabel="operations"
    ).axes
    assert ticks(axis, "y") == ["a", "b"] and [
        bar.get_width() for bar in axis.patches
    ] == [1e3, 1e6]
    bottom, top = axis.get_ylim()
    assert (
        bottom > top
        and axis.get_xscale() == "log"
        and list(axis.lines[0].get_xdata()) == [5e4, 5e4]
    )


def test_series_stand_beside_or_on_each_other() -> None:
    series = {"x": [1, 2], "y": torch.tensor([3.0, 4.0])}
    figure = nmt.plot_bars(series, ["a", "a"])
    assert (
        heights(figure.axes[0]) == [[1, 2], [3, 4]]
        and legend(figure) == ["x", "y"]
        and ticks(figure.axes[0]) == ["a", "a"]
    )
    assert len({bar.get_x() for bar in figure.axes[0].patches}) == 4
    (axis,) = nmt.plot_bars(series, ["a", "b"], stacked=True).axes
    assert [bar.get_y() for bar in axis.containers[1]] == [1, 2] and len(
        {bar.get_x() for bar in axis.patches}
    ) == 2
    panels = nmt.plot_bars({"P": {"a": 1}, "Q": {"b": 2, "c": 3}}).axes
    assert [(axis.get_title(), ticks(axis), heights(axis)) for axis in panels] == [
        ("P", ["a"], [[1]]),
        ("Q", ["b", "c"], [[2, 3]]),
    ]


def test_numbers_without_room_are_left_out() -> None:
    (axis,) = nmt.plot_bars([1234567] * 40).axes
    assert not [text for text in axis.texts if text.get_text()]


def test_samples_share_their_bins() -> None:
    figure = nmt.plot_hists(
        {"a": [0, 1, 1, 2], "b": [2, 2, 4]}, middle=0.5, xlabel="BLEU"
    )
    (axis,) = figure.axes
    edges = [np.unique(patch.get_xy()[:, 0]).tolist() for patch in axis.patches[::2]]
    assert edges[0][0] == edges[1][0] == 0 and edges[0][-1] == edges[1][-1] == 4
    assert (
        list(axis.lines[0].get_xdata()) == pytest.approx([0.75, 1.25])
        and axis.get_xlabel() == "BLEU"
    )
    assert legend(figure) == ["a", "b"]


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: nmt.plot_lines({}), "nothing to draw"),
        (lambda: nmt.plot_lines({"a": []}), "curve 'a' is empty"),
        (
            lambda: nmt.plot_lines({"a": [1, 2, 3]}, [1, 2]),
            "curve 'a' has 3 values for 2 places",
        ),
        (lambda: nmt.plot_lines({"a": ([1], [1, 2])}), "2 values for 1 places"),
        (lambda: nmt.plot_lines({"a": [1, 2]}, ["x"]), "2 values for 1 places"),
        (lambda: nmt.plot_lines({"panel": {}}), "nothing to draw"),
        (lambda: nmt.plot_bars({}), "nothing to draw"),
        (lambda: nmt.plot_bars([]), "nothing to draw"),
        (
            lambda: nmt.plot_bars({"s": [1, 2]}, ["a"]),
            "series 's' has 2 heights for 1 labels",
        ),
        (lambda: nmt.plot_bars({"a": 1}, marked=["b"]), "marked 'b' is no label: a"),
        (lambda: nmt.plot_hists({}), "nothing to draw"),
        (lambda: nmt.plot_hists({"a": []}), "nothing to draw"),
    ],
)
def test_what_cannot_be_drawn_is_named(draw: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        draw()


def test_the_history_is_drawn_by_update() -> None:
    history = [
        {
            "step": s,
            "epoch": 0,
            "lr": s / 10,
            "train_loss": 4.0 / s,
            "valid_loss": 3.0 / s,
        }
        for s in (1, 2, 4)
    ]
    losses, rates = nmt.plot_history(history).axes
    assert [list(line.get_ydata()) for line in losses.lines] == [
        [4.0, 2.0, 1.0],
        [3.0, 1.5, 0.75],
    ]
    assert [list(line.get_xdata()) for line in (*losses.lines, *rates.lines)] == [
        [1, 2, 4]
    ] * 3
    assert list(rates.lines[0].get_ydata()) == [0.1, 0.2, 0.4]
    assert (
        len(losses.get_legend().get_texts()) == 2
        and rates.figure.get_supxlabel() == "update"
    )
