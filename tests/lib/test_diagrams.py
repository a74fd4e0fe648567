from typing import Any

import pytest
import torch
from matplotlib.colors import to_hex
from tests.lib.small import small_translator

import nmt_lib as nmt
from nmt_lib.decoding import Candidate
from nmt_lib.pictures.diagrams import FATES, MARKED
from nmt_lib.pictures.plotting import BLUE, ORANGE


def picture(draw) -> bytes:
    figure, (axis,) = nmt.new_figure()
    draw(axis)
    return figure._repr_png_()


BOXES = {"a": ("src\n(B, S)", 0, 0, "tensor"), "b": ("encoder", 1, 0, "module")}


def test_arrows_change_the_picture_and_every_box_is_inside():
    without = picture(lambda axis: nmt.draw_boxes(axis, BOXES))
    with_arrow = picture(lambda axis: nmt.draw_boxes(axis, BOXES, [("a", "b")]))
    bent = picture(lambda axis: nmt.draw_boxes(axis, BOXES, [("a", "b", 0.4)]))
    assert len({without, with_arrow, bent}) == 3
    _, (axis,) = nmt.new_figure()
    nmt.draw_boxes(axis, BOXES)
    assert axis.get_xlim() == (-0.5, 1.5) and axis.get_ylim() == (-0.5, 0.5)
    assert [text.get_text() for text in axis.texts] == ["src\n(B, S)", "encoder"]


def test_what_is_not_there_is_named():
    _, (axis,) = nmt.new_figure()
    with pytest.raises(ValueError, match="'c'"):
        nmt.draw_boxes(axis, BOXES, [("a", "c")])
    with pytest.raises(ValueError, match="'blue'"):
        nmt.draw_boxes(axis, {"a": ("x", 0, 0, "blue")})


def test_words_stand_in_reading_order_under_their_places():
    _, (axis,) = nmt.new_figure()
    nmt.draw_words(axis, [["<sos>", "a", "b"], ["a", "b"]], ["in", "out"])
    assert [(text.get_text(), *text.get_position()) for text in axis.texts] == [
        ("<sos>", 0, 0),
        ("a", 1, 0),
        ("b", 2, 0),
        ("a", 0, 1),
        ("b", 1, 1),
    ]
    assert [label.get_text() for label in axis.get_yticklabels()] == ["in", "out"]
    assert axis.get_ylim()[0] > axis.get_ylim()[1], "the first row stands on top"


def shades(axis: Any) -> dict[str, str]:
    return {
        text.get_text(): to_hex(text.get_bbox_patch().get_facecolor())
        for text in axis.texts
        if text.get_text()
    }


def test_rows_of_words_with_links_and_marks() -> None:
    rows = {"en": ["a", "red", "hat"], "fr": ["$5", "<b>", "😀", "<eos>"]}
    figure = nmt.plot_words(
        rows,
        "title",
        links=[((0, 0), (1, 0)), ((0, 1), (1, 2))],
        marked=[(0, 1), (1, 2)],
    )
    (axis,) = figure.axes
    assert [text.get_text() for text in axis.texts] == [
        "a",
        "red",
        "hat",
        "$5",
        "<b>",
        "😀",
        "<eos>",
    ]
    places = {text.get_text(): text.get_position() for text in axis.texts}
    assert (
        places["a"][0] == places["$5"][0]
        and places["hat"][0] == places["😀"][0]
        and places["red"][1] == 0
    )
    lines = [
        ([*zip(*line.get_data(), strict=True)], line.get_color()) for line in axis.lines
    ]
    assert lines == [
        ([places["a"], places["$5"]], BLUE),
        ([places["red"], places["😀"]], ORANGE),
    ]
    assert (
        shades(axis)["red"] == MARKED
        and shades(axis)["a"] == "#ffffff"
        and axis.get_title() == "title"
    )
    assert len(figure._repr_png_()) > 1000, "no warning, no error, whatever the words"


def test_panels_of_words_count_their_rows_on_and_a_bow_stays_in_its_row() -> None:
    figure = nmt.plot_words(
        {"new": {"": ["it", "is"]}, "old": {"x": ["a", "b", "c"]}},
        links=[((1, 2), (1, 0))],
        marked=[(1, 2)],
    )
    first, second = figure.axes
    assert (first.get_title(), second.get_title()) == ("new", "old")
    assert [len(first.texts), len(second.texts)] == [2, 4] and shades(second)[
        "c"
    ] == MARKED
    (axis,) = nmt.plot_words(
        {"a": [1, 2]}, marked=lambda token: "#00ff00" if token == "2" else None
    ).axes
    assert shades(axis) == {"1": "#ffffff", "2": "#00ff00"}


@pytest.mark.parametrize(
    ("rows", "options", "message"),
    [
        ({}, {}, "nothing to draw"),
        ({"a": []}, {}, "nothing to draw"),
        ({"a": ["x"]}, {"marked": [(0, 1)]}, "row 0, position 1"),
        ({"a": ["x"]}, {"links": [((0, 0), (1, 0))]}, "row 1, position 0"),
    ],
)
def test_words_that_are_not_there_are_named(
    rows: Any, options: Any, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        nmt.plot_words(rows, **options)


def test_vectors_stand_where_they_point_and_marked_ones_are_orange() -> None:
    (axis,) = nmt.plot_vectors(
        arrows={"$a": (1, 2), "b": torch.tensor([3.0, -1.0])}, marked=["b"]
    ).axes
    words = {
        text.get_text(): (tuple(text.xy), text.get_color())
        for text in axis.texts
        if text.get_text()
    }
    assert words == {"$a": ((1, 2), BLUE), "b": ((3, -1), ORANGE)}
    points = {"values": {"x": (0, 1), "y": (2, 3)}, "outputs": {"x": (4, 5)}}
    (axis,) = nmt.plot_vectors(
        points, hull=torch.eye(3)[:, :2], cloud=torch.rand(5, 2)
    ).axes
    assert [scatter.get_offsets().tolist() for scatter in axis.collections] == [
        [[0, 1], [2, 3]],
        [[4, 5]],
    ]
    with pytest.raises(ValueError, match="nothing to draw"):
        nmt.plot_vectors()


def test_a_clock_numbers_its_points() -> None:
    table = nmt.sinusoids(10, 4)
    figure = nmt.plot_clocks(
        {"pair 0": table[:, [1, 0]], "pair 1": table[:, [3, 2]]}, arcs=[(0, 3)]
    )
    for axis, pair in zip(figure.axes, (0, 1), strict=True):
        assert [text.get_text() for text in axis.texts] == [str(i) for i in range(10)]
        x, y = axis.lines[-1].get_data()
        torch.testing.assert_close(
            torch.tensor([*zip(x, y, strict=True)]).float(),
            table[:, [2 * pair + 1, 2 * pair]],
        )
        start, end = (axis.lines[1].get_data()[0][i] / 0.76 for i in (0, -1))
        assert (start, end) == pytest.approx((x[0], x[3]), abs=1e-5)
    with pytest.raises(ValueError, match="nothing to draw"):
        nmt.plot_clocks({})


TRACE = [  # two steps of a beam of two, as beam_search writes them
    Candidate(1, (), 4, -0.5, "kept"),
    Candidate(1, (), 5, -1.0, "kept"),
    Candidate(1, (), 6, -2.0, "dropped"),
    Candidate(2, (5,), nmt.EOS, -1.1, "finished"),
    Candidate(2, (4,), 7, -1.2, "kept"),
    Candidate(2, (4,), 6, -1.5, "kept"),
    Candidate(2, (5,), 7, -1.9, "dropped"),
]


def lookup(ids: list[int]) -> list[str]:
    return [f"$w{index}" for index in ids]


def test_a_beam_is_drawn_as_a_tree(tmp_path: Any) -> None:
    figure = nmt.plot_beam(TRACE, lookup, best=[5])
    figure.savefig(tmp_path / "a.png")
    (axis,) = figure.axes
    assert [t.get_text() for t in axis.texts][:2] == ["<sos>", "$w4\n-0.50"] and len(
        axis.texts
    ) == 1 + len(TRACE)
    places = {t.get_text(): t.get_position() for t in axis.texts}
    lines = axis.lines[: len(TRACE)]  # the others are the legend's
    assert all(line.get_xdata()[1] - line.get_xdata()[0] == 1 for line in lines)
    eos = next(
        line
        for line in lines
        if line.get_ydata()[1] == places["$w3\n-1.10"][1] and line.get_xdata()[1] == 2
    )
    assert (
        eos.get_ydata()[0] == places["$w5\n-1.00"][1]
        and eos.get_color() == FATES["finished"]
    )
    assert [line.get_linewidth() for line in lines].count(
        3
    ) == 2  # the path of the best: $w5, <eos>
    assert [t.get_text() for t in figure.legends[0].get_texts()] == [
        "kept",
        "finished",
        "dropped",
    ]


def test_the_lines_of_a_tree_do_not_cross() -> None:
    lines = [
        line
        for line in nmt.plot_beam(TRACE, lookup).axes[0].lines[: len(TRACE)]
        if line.get_xdata()[1] == 2
    ]
    starts_ends = sorted((line.get_ydata()[0], line.get_ydata()[1]) for line in lines)
    ends = [end for _, end in starts_ends]
    assert ends == sorted(ends)


def test_a_real_trace_can_be_drawn_and_an_empty_one_is_named() -> None:
    translator, trace = small_translator(), list[Candidate]()
    nmt.beam_search(
        translator.model, torch.tensor([translator.encode("ich sehe")]), 3, trace=trace
    )
    figure = nmt.plot_beam(trace, translator.tgt_tokenizer.lookup_tokens)
    assert len(figure.axes[0].texts) == 1 + len(trace)
    with pytest.raises(ValueError, match="empty trace"):
        nmt.plot_beam([], lookup)
