"""Pictures of chapter 07: the shift, the loss, the warm-up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure
from torch import Tensor

from nmt_lib.config import Config
from nmt_lib.data.tokenizers import Tokenizer
from nmt_lib.training.optim import learning_rate

from ..pictures.boxes import plot_words
from ..pictures.charts import plot_lines


def plot_history(history: Sequence[dict[str, float]], config: Config) -> Figure:
    """The losses at each validation (``Run.history``), and the learning rate.

    Raises:
        ValueError: there was no validation yet.
    """
    if not history:
        raise ValueError("the history is empty: plot it after the first validation")
    column = {key: [row[key] for row in history] for key in history[0]}
    updates = range(1, int(column["step"][-1]) + 1)
    d_model = config.model.d_model
    rates = [learning_rate(step, config.train, d_model) for step in updates]
    losses = {
        "training (smoothed, dropout on)": column["train_loss"],
        "validation (plain, dropout off)": column["valid_loss"],
    }
    panels = {
        "loss (nats a token)": losses,
        "learning rate": {"learning rate": (updates, rates)},
    }
    return plot_lines(panels, column["step"], xlabel="update", stacked=True)


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
    return plot_lines(panels, steps, xlabel="update", stacked=True)


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
    figure = plot_lines(panels, range(1, n + 1), xlabel="update", stacked=True)
    first, *stacks = figure.axes
    first.axhline(frequencies, color="0.35", lw=1, ls="--")
    first.text(n + 1, frequencies + 0.25, "word frequencies", ha="right", size=9)
    for axis in stacks:
        axis.set(yscale="log", ylim=(1e-5, 1.2))
    return figure


def plot_shift(tgt: Tensor, tokenizer: Tokenizer) -> Figure:
    """What the decoder reads, above what it should predict, for two targets.

    Args:
        tgt: ``(2, T + 1)``; the second target is the shorter one, and the <eos> that
            it keeps in ``tgt_in`` is marked.
    """
    words = [tokenizer.lookup_tokens(ids) for ids in tgt.tolist()]
    names = "a long target", "a shorter one"
    rows = {
        name: {"tgt_in": some[:-1], "tgt_out": some[1:]}
        for name, some in zip(names, words, strict=True)
    }
    return plot_words(rows, marked=[(2, words[1].index("<eos>"))])
