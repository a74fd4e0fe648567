"""Draws the pictures of this folder: ``python figures/draw.py`` (trains the config tiny first, if need be)."""

from pathlib import Path

import nmt_lib as nmt

HERE = Path(__file__).parent


def attention() -> None:
    """What two heads look at while the tiny model writes a sentence."""
    translation = nmt.load_or_train("tiny")("The red car is new and it is very beautiful.")
    figure = nmt.plot_attention(translation, kind="cross", layer=-1, heads=[0, 1])
    figure.savefig(HERE / "attention.png")


if __name__ == "__main__":
    attention()
