import pytest

import nmt_lib as nmt


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
        ("<sos>", 0, 0), ("a", 1, 0), ("b", 2, 0), ("a", 0, 1), ("b", 1, 1),
    ]  # fmt: skip
    assert [label.get_text() for label in axis.get_yticklabels()] == ["in", "out"]
    assert axis.get_ylim()[0] > axis.get_ylim()[1], "the first row stands on top"
