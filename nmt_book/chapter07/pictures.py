"""Pictures of chapter 07: losses, with the rate or with what collapses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from nmt_lib.config import Config
from nmt_lib.training.optim import learning_rate

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
        "loss (nats per token)": losses,
        "learning rate": {"learning rate": (updates, rates)},
    }
    return plot_lines(panels, column["step"], xlabel="update", stacked=True)


def plot_collapse(
    losses: Mapping[str, Sequence[float]],
    differs: Mapping[str, Mapping[str, Sequence[float]]],
    frequencies: float,
) -> Figure:
    """Losses of several runs, and what differs between their words in each stack.

    Args:
        losses: name → after each update, in nats per token; the second run is stuck.
        differs: stack → name → the share of chapter 05, on a logarithmic axis.
        frequencies: the loss of the word frequencies alone, a dashed line.
    """
    panels = {"loss (nats per token)": losses}
    panels |= {f"{stack}: what differs": shares for stack, shares in differs.items()}
    n = len(next(iter(losses.values())))
    stuck = [*losses][1:2]
    figure = plot_lines(
        panels, range(1, n + 1), xlabel="update", stacked=True, marked=stuck
    )
    first, *stacks = figure.axes
    first.axhline(frequencies, color="0.35", lw=1, ls="--")
    first.text(n + 1, frequencies + 0.25, "word frequencies", ha="right", size=9)
    for axis in stacks:
        axis.set(yscale="log", ylim=(1e-5, 1.2))
    return figure
