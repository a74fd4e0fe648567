"""Colours of the pictures beside the library's own, and a text at a point."""

from typing import Any

from nmt_lib.translate.heatmap import FONT

BLUE, GREY = "#0072b2", "0.35"
PALE = "#f7c9a0"  # orange behind text, or of large areas
MIDDLE: Any = {"ha": "center", "va": "center", "fontsize": FONT}  # of a text at a point
