"""What chapter 11 found in five write-ups, by the harm that it did."""

from __future__ import annotations

from typing import Any

from matplotlib.figure import Figure

from .plotting import new_figure

HARM = {  # verdict → colour
    "much": "#b2182b",
    "some": "#ef8a62",
    "open": "#fee090",
    "sleeps": "#92c5de",
    "none": "#d9d9d9",
}
DEFECTS = {  # verdict → what, who has it, what was measured
    "much": [
        ("translation starts with <sos>", "D", "BLEU 100 becomes 68.9"),
        ("does not run as printed", "D", "TypeError, NameError …"),
    ],
    "some": [
        ("every sentence padded to 200", "A", "18.7 positions a token, not 1.5"),
        ("no <eos> on the source in use", "A", "without a full stop, 188 of 200"),
        ("validation loss is smoothed", "C", "perplexity 2.6, should be 1.1"),
        (
            "whole prefix again at each step",
            "ABCDE",
            "(T + 1) / 2 times the positions",
        ),
    ],
    "open": [
        (
            "exponent of the positions doubled",
            "ABD",
            "slower at width 64; 512 not measured",
        ),
        (
            "LayerNorm created in each forward",
            "E",
            "a little worse; two seeds cannot tell",
        ),
        ("chosen on the training loss", "A", "worse loss; BLEU cannot tell"),
    ],
    "sleeps": [
        ("table of positions too short", "BCD", "crashes at a longer sentence"),
        ("post-LN, Adam, no warm-up", "C", "stands still at 10 × the rate"),
        ("−1e10 in the mask", "C", "error or NaN in float16"),
        ("dropout not passed to the layers", "D", "asked 0.3, got 0.1"),
        ("stops at “.”, not at <eos>", "E", "by reading: cuts off, or runs on"),
        ("crashes without dropout", "C", "UnboundLocalError"),
        (".cuda() everywhere", "DE", "by reading: stops without a GPU"),
    ],
    "none": [
        (
            "norm divides by (unbiased std + ε)",
            "BD",
            "0.1 % at width 512; a gain undoes it",
        ),
        ("text says padded, means masked", "B", "text only"),
        ("text confuses its symbols S and E", "E", "text only"),
        ("loss is a mean of batch means", "C", "0.059; by tokens 0.059"),
        ("text says masked is not parallel", "B", "text only"),
    ],
}


def plot_defects() -> Figure:
    """A row for each defect: what, a coloured cell for each who has it, the measure."""
    figure, (axis,) = new_figure(size=(8.2, 6.4))
    y = 0.0
    style: Any = {"ha": "center", "va": "center", "weight": "bold"}
    for verdict, defects in DEFECTS.items():
        middle = y + (len(defects) - 1) / 2
        axis.text(-9.4, middle, verdict, rotation=90, **style)
        for what, who, measured in defects:
            axis.text(-0.8, y, what, ha="right", va="center", parse_math=False)
            for x, letter in enumerate("ABCDE"):
                shade = HARM[verdict] if letter in who else "#f7f7f7"
                axis.barh(y, 0.9, 0.86, left=x - 0.45, color=shade)
            axis.text(4.8, y, measured, va="center", parse_math=False)
            y += 1
        y += 0.6
    for x, letter in enumerate("ABCDE"):
        axis.text(x, -1.1, letter, **style)
    axis.set(xlim=(-9.8, 14), ylim=(y - 0.4, -1.8))
    axis.axis("off")
    return figure
