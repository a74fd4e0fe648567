"""The pictures of chapter 07: warm-up, the shift, and runs that collapse."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure
from torch import Tensor

from ..tokenizers import Tokenizer
from .charts import plot_lines
from .diagrams import plot_words


def plot_warmup(
    warm: Sequence[float], cold: Sequence[float], rate: float, warmup: int
) -> Figure:
    """The learning rates of two runs and their losses, with and without warm-up.

    Args:
        warm, cold: after each update, in nats a token.
        rate: the highest learning rate.
        warmup: after how many updates ``warm`` has reached it.
    """
    steps = range(1, len(warm) + 1)
    rising = [rate * min(1, step / warmup) for step in steps]
    panels = {
        "learning rate": {"with warm-up": rising, "without": [rate] * len(warm)},
        "loss (nats a token)": {"with warm-up": warm, "without": cold},
    }
    return plot_lines(panels, steps, xlabel="update")


def plot_shift(tgt: Tensor, tokenizer: Tokenizer) -> Figure:
    """What the decoder reads, above what it should predict, for two targets.

    Args:
        tgt: ``(2, T + 1)``; the second target is the shorter one, and the <eos> that
            it keeps in ``tgt_in`` is marked.
    """
    words = [tokenizer.lookup_tokens(ids) for ids in tgt.tolist()]
    names = "a long target", "a shorter one"
    rows = {
        name: {"tgt_in: read": some[:-1], "tgt_out: say": some[1:]}
        for name, some in zip(names, words, strict=True)
    }
    return plot_words(rows, marked=[(2, words[1].index("<eos>"))])


def plot_collapse(
    losses: Mapping[str, Sequence[float]],
    differs: Mapping[str, Mapping[str, Sequence[float]]],
    frequencies: float,
) -> Figure:
    """Losses of several runs, and what differs between their words in each stack.

    Args:
        losses: name → after each update, in nats a token.
        differs: stack → name → the share of chapter 05, on a logarithmic axis.
        frequencies: the loss of the word frequencies alone, a dashed line.
    """
    panels = {"loss (nats a token)": losses}
    panels |= {f"{stack}: what differs": shares for stack, shares in differs.items()}
    n = len(next(iter(losses.values())))
    figure = plot_lines(panels, range(1, n + 1), xlabel="update")
    left, *stacks = figure.axes
    left.axhline(frequencies, color="0.35", lw=1, ls="--")
    left.text(n + 1, frequencies + 0.25, "word frequencies", ha="right", size=9)
    for axis in stacks:
        axis.set(yscale="log", ylim=(1e-5, 1.2))
    return figure
