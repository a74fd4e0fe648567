"""Batches: which sentences go together, and the tensors that the model gets.

Sentences of like length go together, so that little padding is needed; a batch holds about equally many
*tokens*, so that each update sees about equally much text (paper, section 5.1).
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from .errors import TrainingError
from .special import PAD

Example = tuple[
    list[int], list[int]
]  # ids of the source and of the target, each with its special tokens


@dataclass(frozen=True)
class Batch:
    """What one step sees. The target is cut twice: the model reads ``tgt_in`` and shall say ``tgt_out``."""

    src: Tensor  # (B, S) ends with <eos>, then <pad>
    tgt_in: Tensor  # (B, T) starts with <sos>
    tgt_out: Tensor  # (B, T) the same, one position further on; ends with <eos>

    @property
    def n_tokens(self) -> int:
        """How many target tokens there are to predict; padding does not count."""
        return int((self.tgt_out != PAD).sum())

    def to(self, device: torch.device | str) -> Batch:
        return Batch(
            self.src.to(device), self.tgt_in.to(device), self.tgt_out.to(device)
        )


def pad_batch(rows: Sequence[Sequence[int]], length: int | None = None) -> Tensor:
    """B lists of ids as ``(B, S)``, int64, filled up with ``<pad>`` on the right to ``length`` or the longest row."""
    width = length or max(map(len, rows))
    return torch.tensor(
        [list(row) + [PAD] * (width - len(row)) for row in rows], dtype=torch.long
    )  # (B, S)


def make_batch(
    examples: Sequence[Example], indices: Sequence[int] | None = None
) -> Batch:
    """The tensors for the examples, or for those with these ``indices``; targets have ``<sos>`` and ``<eos>``."""
    sources, targets = zip(
        *(examples if indices is None else [examples[i] for i in indices]), strict=True
    )
    src = pad_batch(sources)  # (B, S)
    tgt_in = pad_batch([target[:-1] for target in targets])  # (B, T)
    tgt_out = pad_batch([target[1:] for target in targets])  # (B, T)
    return Batch(src, tgt_in, tgt_out)


def token_batches(
    lengths: Sequence[tuple[int, int]] | np.ndarray,
    batch_tokens: int,
    seed: int,
    alone: bool = False,
) -> list[list[int]]:
    """Groups examples of like length so that sentences × longest side ≤ ``batch_tokens``: lists of indices.

    Args:
        lengths: ``(N, 2)``, how many ids the source and the target of each example have.
        batch_tokens: the budget, padding included.
        seed: draws the order of equals and of the batches.
        alone: a sentence over the budget is a batch by itself, and no error.

    Raises:
        TrainingError: one sentence alone is over the budget.
    """
    draw = random.Random(seed)
    sides = np.asarray(lengths, dtype=np.int64).reshape(-1, 2)
    longest = sides.max(axis=1)
    order = np.array(draw.sample(range(len(sides)), len(sides)), dtype=np.int64)
    order = order[
        np.lexsort((sides[order, 1], sides[order, 0], longest[order]))
    ]  # equals stay in the order drawn
    if len(order) and longest[order[-1]] > batch_tokens and not alone:
        index = order[longest[order] > batch_tokens][0]
        raise TrainingError(
            f"sentence {index} has {longest[index]} tokens, more than train.batch_tokens={batch_tokens}: "
            "raise train.batch_tokens or lower data.max_length"
        )
    batches = fill_batches(order.tolist(), longest.tolist(), batch_tokens)
    draw.shuffle(batches)
    return batches


def fill_batches(
    order: Iterable[int], lengths: Sequence[int], batch_tokens: int
) -> list[list[int]]:
    """Cuts an order, short ones first, so that sentences × longest ≤ ``batch_tokens``; who is over it goes alone."""
    batches: list[list[int]] = []
    for index in order:  # the longest of a batch is always the one that comes last
        if not batches or lengths[index] * (len(batches[-1]) + 1) > batch_tokens:
            batches.append([])
        batches[-1].append(index)
    return batches


def sentence_batches(
    n_examples: int, batch_sentences: int, seed: int
) -> list[list[int]]:
    """Groups examples in random order, equally many in each batch (the last may be smaller)."""
    order = random.Random(seed).sample(range(n_examples), n_examples)
    return [
        order[i : i + batch_sentences] for i in range(0, n_examples, batch_sentences)
    ]


def padding_share(batches: Iterator[Batch] | Sequence[Batch]) -> float:
    """The share of ``<pad>`` among all ids of source and target, 0 to 1."""
    pads = total = 0
    for batch in batches:
        for ids in (batch.src, batch.tgt_in):
            pads += int((ids == PAD).sum())
            total += ids.numel()
    return pads / max(1, total)
