"""Chapter 07: a hundred sentences learnt by heart, with and without remedies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import cycle, islice
from typing import Any

import torch
from torch import Tensor

import nmt_lib as nmt

from ..loop import mean_loss, updates


def of_frequencies(batches: Sequence[nmt.Batch]) -> float:
    """The loss of a model that knows only how frequent each word of batches is."""
    right = torch.cat([batch.tgt_out[batch.tgt_out != nmt.PAD] for batch in batches])
    share = right.bincount()[right.unique()] / len(right)  # of each word that occurs
    return -(share * share.log()).sum().item()


Curves = dict[str, list[float]]  # name → losses


def overfit(
    fresh: Callable[..., nmt.Transformer],
    known: Sequence[nmt.Batch],
    unseen: nmt.Batch,
    n_updates: int = 250,
    every: int = 5,
) -> tuple[Curves, Curves]:
    """Losses on known and on unseen sentences, by name, after every few updates."""
    training: Curves = {}
    validation: Curves = {}
    ways = {"plain": (0.0, 0.0), "smoothing": (0.0, 0.1), "dropout": (0.1, 0.0)}
    for name, (dropout, smoothing) in (ways | {"both": (0.1, 0.1)}).items():
        model = fresh(n_layers=1, dropout=dropout)
        optimizer = torch.optim.Adam(model.parameters(), 3e-3, (0.9, 0.98), 1e-9)
        training[name], validation[name] = [], []
        loss_of = partial(mean_loss, model, smoothing=smoothing)
        batches = islice(cycle(known), n_updates)
        for step, loss in enumerate(updates(optimizer, loss_of, batches), start=1):
            if step % every == 0:
                training[name].append(loss.item())
                validation[name].append(nmt.validation_loss(model, [unseen]))
    return training, validation


def note_differences(encoder: torch.nn.Module) -> list[float]:
    """A list that gets longer with each pass: what differs between the words.

    That is the share of chapter 05, over all positions of the batch: 0 if the encoder
    gives the same vector for each.
    """
    shares: list[float] = []

    def note(_module: torch.nn.Module, _given: Any, memory: Tensor) -> None:
        x = memory.detach()  # (B, S, D)
        shares.append(((x - x.mean((0, 1))).norm() / x.norm()).item())

    encoder.register_forward_hook(note)
    return shares
