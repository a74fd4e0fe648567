"""Fonts: pictures in scripts that matplotlib's own font lacks, such as Chinese.

matplotlib draws a box for each letter that its font has not got. Here, another font of
the machine is looked for; where there is none, a warning says what to install.
"""

from __future__ import annotations

from functools import cache

from matplotlib import font_manager, rcParams
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont
from matplotlib.ft2font import FT2Font
from matplotlib.text import Text

from ..errors import warn


def choose_fonts(figure: Figure) -> None:
    """Gives the figure's texts a font for the letters that the usual one lacks."""
    texts: list[Text] = figure.findobj(Text)
    usual = letters_of(findfont(FontProperties(family=rcParams["font.family"])))
    lacking = {ord(c) for text in texts for c in text.get_text() if c.isprintable()}
    if not (lacking := lacking - usual):
        return
    found = font_with(frozenset(lacking))
    if not found:
        some = "".join(map(chr, sorted(lacking)[:8]))
        warn(
            f"no font of this machine has {some!r}, which the picture shows as boxes: "
            "install one, such as Debian's fonts-noto-cjk or fonts-noto-core (on "
            "Colab: !apt-get install fonts-noto-cjk), and restart Python"
        )
        return
    for text in texts:
        text.set_fontfamily([*rcParams["font.family"], found])


@cache
def font_with(letters: frozenset[int]) -> str:
    """The name of a font with all of these letters; empty: there is none.

    Those that have been installed since matplotlib listed them are seen, too.
    """
    listed = {entry.fname for entry in font_manager.fontManager.ttflist}
    for path in font_manager.findSystemFonts():
        if path not in listed:
            try:
                font_manager.fontManager.addfont(path)
            except (OSError, RuntimeError, ValueError):  # a font that it cannot read
                continue
    upright = [
        entry
        for entry in font_manager.fontManager.ttflist
        if (entry.style, entry.weight) == ("normal", 400)
        and "Last Resort" not in entry.name  # which has boxes for all letters
    ]
    upright.sort(key=lambda entry: "Sans" not in entry.name)
    return next((e.name for e in upright if letters <= letters_of(e.fname)), "")


@cache
def letters_of(path: str) -> frozenset[int]:
    """The code points that a font file has a picture for."""
    try:
        return frozenset(FT2Font(path).get_charmap())
    except (OSError, RuntimeError):
        return frozenset()
