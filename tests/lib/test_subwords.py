"""Boxes over letters: where they are, and which one is new."""

import pytest
from matplotlib.colors import to_rgba

import nmt_lib as nmt
from nmt_lib.pictures.diagrams import MARKED


def test_a_box_spans_the_letters_of_its_token_and_a_new_one_is_orange() -> None:
    rows = {"characters": list("▁sun"), "u + n": ["▁", "s", "un"]}
    (axis,) = nmt.plot_subwords({"▁sun": rows}).axes
    ends = [patch.get_path().get_extents() for patch in axis.patches]
    assert [(round(e.x0), round(e.x1)) for e in ends[4:]] == [(0, 1), (1, 2), (2, 4)]
    orange = [patch.get_facecolor() == to_rgba(MARKED) for patch in axis.patches]
    assert orange == [False] * 6 + [True]


def test_spaces_are_skipped_and_a_foreign_token_is_refused() -> None:
    (axis,) = nmt.plot_subwords({"a  b": {"at spaces": ["a", "b"]}}).axes
    assert [text.get_position()[0] for text in axis.texts] == [0.5, 3.5]
    with pytest.raises(ValueError, match="no 'c' after position 1"):
        nmt.plot_subwords({"a b": {"at spaces": ["a", "c"]}})


def test_padding_is_what_lies_beyond_the_length() -> None:
    (axis,) = nmt.plot_padding({"a bucket": ([1, 3], 4)}).axes
    assert axis.images[0].get_array().tolist() == [[1, 0, 0, 0], [1, 1, 1, 0]]
    assert axis.get_title() == "a bucket: 2 × 4 ids, 50% padding"
