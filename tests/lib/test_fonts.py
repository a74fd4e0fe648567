"""Letters that matplotlib's own font lacks."""

import warnings
from io import BytesIO
from typing import Any

import pytest
from matplotlib.text import Text

import nmt_book as book
from nmt_lib.translate import fonts


def picture(title: str) -> Any:
    figure, [axis] = book.new_figure()
    axis.set_title(title)
    return figure


# STIX comes with matplotlib, and has ⫷.
def test_another_font_is_taken_for_letters_that_the_usual_one_lacks() -> None:
    figure = picture("∫ and ⫷")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        figure._repr_png_()
    (title,) = (t for t in figure.findobj(Text) if "⫷" in t.get_text())
    assert title.get_fontfamily()[-1].startswith("STIX")
    assert title.get_fontfamily()[0] != title.get_fontfamily()[-1] and not caught
    usual = picture("plain, العربية")
    usual._repr_png_()
    assert not any("STIX" in str(t.get_fontfamily()) for t in usual.findobj(Text))


def test_without_such_a_font_a_warning_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(fonts, "font_with", lambda letters: "")
    for show, *file in (("_repr_png_",), ("savefig", BytesIO())):
        with pytest.warns(UserWarning, match="no font .* '中文'.*noto-cjk") as warned:
            getattr(picture("中文"), show)(*file)
        assert len(warned) == 1
