"""Diagrams: every word, link and arrow is where it belongs."""

from typing import Any

import pytest
import torch
from matplotlib.colors import to_hex

import nmt_lib as nmt
from nmt_lib.decoding import Candidate
from nmt_lib.pictures.diagrams import FATES, MARKED
from nmt_lib.pictures.plotting import BLUE, ORANGE
from tests.lib.small import small_translator


def words_at(axis: Any) -> dict[str, tuple[float, float]]:
    """Text → position."""
    return {text.get_text(): text.get_position() for text in axis.texts}


def shades(axis: Any) -> dict[str, str]:
    return {
        text.get_text(): to_hex(text.get_bbox_patch().get_facecolor())
        for text in axis.texts
        if text.get_text()
    }


def test_boxes_and_arrows() -> None:
    boxes = {"a": ("src\n(B, S)", 0, 0, "tensor"), "b": ("encoder", 1, 0, "module")}
    _, (axis,) = nmt.new_figure()
    nmt.draw_boxes(axis, boxes, [("b", "a")])
    arrow = axis.texts[2]
    assert (arrow.xyann, arrow.xy) == ((1, 0), (0, 0)), "from b to a"
    assert axis.texts[0].get_text() == "src\n(B, S)"


def test_rows_of_words_with_links_and_marks() -> None:
    rows = {"en": ["a", "red", "hat"], "fr": ["$5", "<b>", "😀", "<eos>"]}
    links = [((0, 0), (1, 0)), ((0, 1), (1, 2))]
    figure = nmt.plot_words(rows, "title", links=links, marked=[(0, 1), (1, 2)])
    (axis,) = figure.axes
    at = words_at(axis)
    assert [*at] == [*rows["en"], *rows["fr"]]
    assert at["a"][0] == at["$5"][0] and at["hat"][0] == at["😀"][0]
    drawn = [[*zip(*line.get_data(), strict=True)] for line in axis.lines]
    assert drawn == [[at["a"], at["$5"]], [at["red"], at["😀"]]]
    assert [line.get_color() for line in axis.lines] == [BLUE, ORANGE]
    assert (shades(axis)["red"], shades(axis)["a"]) == (MARKED, "#ffffff")
    assert axis.get_title() == "title"
    assert [label.get_text() for label in axis.get_yticklabels()] == ["en", "fr"]
    assert axis.get_ylim()[0] > axis.get_ylim()[1], "the first row is on top"


def test_panels_of_words_count_their_rows_on_and_a_bow_is_in_its_row() -> None:
    rows = {"new": {"": ["it", "is"]}, "old": {"x": ["a", "b", "c"]}}
    figure = nmt.plot_words(rows, links=[((1, 2), (1, 0))], marked=[(1, 2)])
    first, second = figure.axes
    assert (first.get_title(), second.get_title()) == ("new", "old")
    *_, bow = second.texts
    at = words_at(second)
    assert len(first.texts) == 2 and shades(second)["c"] == MARKED
    assert (bow.xyann[0], bow.xy[0]) == (at["c"][0], at["a"][0])


def test_vectors_end_where_they_point_and_marked_ones_are_orange() -> None:
    arrows = {"$a": (1, 2), "b": torch.tensor([3.0, -1.0])}
    (axis,) = nmt.plot_vectors(arrows=arrows, marked=["b"]).axes
    found = {text.get_text(): (tuple(text.xy), text.get_color()) for text in axis.texts}
    del found[""]  # the arrows themselves
    assert found == {"$a": ((1, 2), BLUE), "b": ((3, -1), ORANGE)}


def test_a_clock_numbers_its_points() -> None:
    table = nmt.sinusoids(10, 4)
    clocks = {"pair 0": table[:, [1, 0]], "pair 1": table[:, [3, 2]]}
    figure = nmt.plot_clocks(clocks, arcs=[(0, 3)])
    for axis, (title, points) in zip(figure.axes, clocks.items(), strict=True):
        assert axis.get_title() == title
        arc = axis.lines[1].get_xydata() / 0.76
        assert arc[[0, -1]] == pytest.approx(points[[0, 3]].numpy(), abs=1e-6)
        at = [words_at(axis)[str(i)] for i in range(10)]
        torch.testing.assert_close(torch.tensor(at).float(), 1.18 * points)


TRACE = [  # two steps of a beam of two, as beam_search writes them
    Candidate(1, (), 4, -0.5, "kept"),
    Candidate(1, (), 5, -1.0, "kept"),
    Candidate(1, (), 6, -2.0, "dropped"),
    Candidate(2, (5,), nmt.EOS, -1.1, "finished"),
    Candidate(2, (4,), 7, -1.2, "kept"),
    Candidate(2, (4,), 6, -1.5, "kept"),
    Candidate(2, (5,), 7, -1.9, "dropped"),
]


def test_a_beam_is_drawn_as_a_tree_without_crossing_lines() -> None:
    lookup = lambda ids: [f"$w{i}" for i in ids]  # noqa: E731
    figure = nmt.plot_beam(TRACE, lookup, best=[5])
    (axis,) = figure.axes
    at = words_at(axis)
    assert len(at) == 1 + len(TRACE)
    lines = {
        tuple(map(tuple, line.get_xydata())): line for line in axis.lines[: len(TRACE)]
    }
    eos = lines[at["$w5\n-1.00"], at["$w3\n-1.10"]]
    assert (eos.get_color(), eos.get_linewidth()) == (FATES["finished"], 3)
    thick = [line for line in lines.values() if line.get_linewidth() == 3]
    assert len(thick) == 2, "the path of the best: $w5, <eos>"
    ends = [end for _, end in sorted((a[1], b[1]) for a, b in lines if b[0] == 2)]
    assert ends == sorted(ends), "no two lines cross"


def test_a_real_trace_can_be_drawn() -> None:
    translator, trace = small_translator(), list[Candidate]()
    ids = torch.tensor([translator.encode("ich sehe")])
    nmt.beam_search(translator.model, ids, 3, trace=trace)
    lookup = translator.tgt_tokenizer.lookup_tokens
    assert len(nmt.plot_beam(trace, lookup).axes[0].texts) == 1 + len(trace)
