"""Fonts: pictures in scripts that matplotlib's own font lacks, such as Chinese.

matplotlib draws a box for each letter that none of a text's fonts has. This module adds
another font of the machine; if none has the letters, a warning says what to install.
"""

from __future__ import annotations

from contextlib import suppress
from functools import cache

from matplotlib import font_manager, rcParams
from matplotlib.figure import Figure
from matplotlib.ft2font import FT2Font
from matplotlib.text import Text

from ..errors import warn


def choose_fonts(figure: Figure) -> None:
    """Adds a font to the figure's texts for the letters that the default one lacks."""
    texts: list[Text] = figure.findobj(Text)
    letters = {ord(c) for text in texts for c in text.get_text() if c.isprintable()}
    default = font_manager.findfont(font_manager.FontProperties())
    lacking = letters - charmap(default)
    name = font_with(frozenset(lacking)) if lacking else ""
    if name:
        for text in texts:
            text.set_fontfamily([*rcParams["font.family"], name])
    elif lacking:
        sample = "".join(map(chr, sorted(lacking)[:8]))
        warn(
            f"no font of this machine has {sample!r}, which the picture shows as "
            "boxes: install one, such as Debian's fonts-noto-cjk or fonts-noto-core "
            "(on Colab: !apt-get install fonts-noto-cjk), and restart Python"
        )


@cache
def font_with(letters: frozenset[int]) -> str:
    """The name of a font with all of these letters, upright if possible; else empty.

    Fonts that were installed after matplotlib made its list are found as well.
    """
    fonts = font_manager.fontManager
    listed = {font.fname for font in fonts.ttflist}
    for path in sorted({*font_manager.findSystemFonts()} - listed):
        with suppress(OSError, RuntimeError, ValueError):  # a font that it cannot read
            fonts.addfont(path)
    for font in sorted(
        fonts.ttflist,
        key=lambda f: (f.style != "normal", f.weight != 400, "Sans" not in f.name),
    ):
        with suppress(OSError, RuntimeError):  # Last Resort has boxes for all letters
            if letters <= charmap(font.fname) and "Last Resort" not in font.name:
                return font.name
    return ""


def charmap(path: str) -> set[int]:
    """The code points for which a font file has a glyph."""
    return set(FT2Font(path).get_charmap())
