"""Draws the pictures of this folder: ``python figures/draw.py``."""

import csv
from collections import defaultdict
from pathlib import Path

import matplotlib.pyplot as plt

from nmt_book.pictures.palette import LIGHT

HERE = Path(__file__).parent


def multi30k() -> None:
    """BLEU on the validation set while the best recipe trains, as measured."""
    curves = defaultdict(list)
    with (HERE.parent / "benchmarks/results/multi30k_curve.csv").open() as file:
        for row in csv.DictReader(file):
            curves[row["direction"].replace("-", " → ")].append(
                (int(row["updates"]), float(row["valid_bleu"]))
            )
    figure, axis = plt.subplots(figsize=(6, 3.2), layout="constrained")
    for direction, points in curves.items():
        axis.plot(*zip(*points, strict=True), marker="o", label=direction)
    axis.set(
        xlabel="updates",
        ylabel="BLEU, validation",
        title="Multi30k: mean of the last ten checkpoints, beam of 5, α = 0.6",
    )
    axis.set_xlim(left=0)
    axis.legend(frameon=False)
    axis.spines[["top", "right"]].set_visible(False)
    figure.savefig(HERE / "multi30k.png", dpi=120)


CARD = """
0.82 | 38 | right | bold | Build a translator, and see inside it
0.64 | 23 | ink | normal | A red car is parked in front of a white house.
0.49 | 23 | ink | bold | Une voiture rouge est garée devant une maison blanche.
0.33 | 20 | faint | normal | one attention head switched off:
0.22 | 23 | mistake | bold | Un voiture rouge est garé devant une maison blanche.
0.07 | 20 | faint | normal | The Transformer in notebooks: write it, train it, open it
"""


def card() -> None:
    """What is shown beside a shared address: one head, and what it was for."""
    figure = plt.figure(figsize=(12, 6.3), facecolor=LIGHT["soft"])
    for line in CARD.strip().splitlines():
        height, size, role, weight, text = line.split(" | ")
        options = {"size": int(size), "color": LIGHT[role], "weight": weight}
        figure.text(0.05, float(height), text, **options)
    figure.savefig(HERE / "card.png", dpi=100)


if __name__ == "__main__":
    multi30k()
    card()
