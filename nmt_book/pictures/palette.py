"""The colours of pictures, pages and things to touch; each stands for one thing.

A picture takes a colour by its role, and a second sign goes with it for eyes that see
no hue: the letters Q, K and V; filled or outlined; gold only as a frame or a line, and
masked with a broken one; solid or dashed; ✓ or ✗.
"""

from typing import Any

from matplotlib.colors import to_rgb

from nmt_lib.translate.heatmap import FONT, GOLD

ROLES = {  # on a light and on a dark page
    "encoder": ("#005f50", "#7df0e2"),  # the source and the memory, too
    "decoder": ("#7f4cb9", "#c3b0fd"),  # and the target
    "query": ("#a80a3a", "#ffa3ad"),
    "key": ("#3b4183", "#6d92fa"),
    "value": ("#687600", "#8dbb4f"),
    "right": ("#0062b8", "#66bdf5"),  # and weights, links, buttons
    "mistake": ("#a34805", "#e58b4b"),  # and what is switched off
    "gold": (GOLD, "#f5d15c"),  # the highlighter: known links, what is new; no text
    "masked": ("#68707e", "#8b93a1"),  # and padding
}
GROUND = {
    "paper": ("#ffffff", "#121212"),
    "soft": ("#f5f7fa", "#1b1f24"),
    "edge": ("#ccd3de", "#414955"),
    "faint": ("#5d6575", "#a3abba"),
    "ink": ("#1c2230", "#e8ebf1"),
}
LIGHT, DARK = (
    {name: pair[i] for name, pair in (ROLES | GROUND).items()} for i in (0, 1)
)
GREY = LIGHT["faint"]
MIDDLE: Any = {"ha": "center", "va": "center", "fontsize": FONT}  # of a text at a point


def css(colors: dict[str, str]) -> str:
    """``LIGHT`` or ``DARK`` as declarations, such as ``--gold: #a98420;``."""
    return " ".join(f"--{name}: {color};" for name, color in colors.items())


def pale(name: str, opacity: float = 0.12) -> str:
    """The colour of a role behind text, on white."""
    parts = [1 - opacity * (1 - part) for part in to_rgb(LIGHT[name])]
    return "#" + "".join(f"{round(255 * part):02x}" for part in parts)
