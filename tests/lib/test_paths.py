"""Paths through a diagram."""

import pytest

import nmt_lib as nmt

BOXES = {name: (name, float(x), 0.0, "data") for x, name in enumerate("abc")}


def test_each_path_has_its_arrows_and_its_name() -> None:
    figure = nmt.plot_paths(BOXES, {"long": "abc", "short": "ac"})
    (axis,) = figure.axes
    arrows = [getattr(text, "arrow_patch", None) for text in axis.texts]
    colors = [arrow.get_edgecolor() for arrow in arrows if arrow]
    assert colors[0] == colors[1] != colors[2] and len(colors) == 3
    named = [text.get_text() for text in figure.legends[0].get_texts()]
    assert named == ["long", "short"]


def test_a_path_through_no_box_is_an_error() -> None:
    with pytest.raises(KeyError):
        nmt.plot_paths(BOXES, {"away": "ad"})
