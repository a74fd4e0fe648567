"""Batches: which sentences share a batch, and the tensors that the model gets.

Sentences of similar length share a batch, which keeps padding low. All batches hold
about the same number of *tokens*, so each update sees about the same amount of text
(paper, section 5.1).
"""

from __future__ import annotations

import os
import random
from array import array
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor

from ..config import Config, TrainConfig
from ..errors import TrainingError, warn
from .pairs import Pair
from .tokenizers import Tokenizers
from .tokens import PAD

SEED_STEP = 1_000_003  # a prime: no two seeds share the random numbers of an epoch
Ids = Sequence[int]
Example = tuple[Ids, Ids]  # of the source and of the target, with their special tokens


def encode_pairs(
    pairs: Sequence[Pair],
    tokenizers: Tokenizers,
    config: Config,
    epoch: int | None = None,
) -> list[Example]:
    """The examples of a corpus: pairs of texts as pairs of id lists.

    Pairs with a side of more than ``data.max_length`` tokens are left out, and a
    warning says how many. After ten seconds there is a progress bar, which
    ``TQDM_DISABLE=1`` hides.

    Args:
        epoch: the epoch of training. BPE dropout (``data.bpe_dropout``) is seeded with
            the seed and the epoch; None disables it.

    Raises:
        TrainingError: there are no pairs, or none is short enough.
    """
    from tqdm.auto import tqdm

    if not pairs:
        raise TrainingError("there are no pairs to encode")
    max_length, share = config.data.max_length, config.data.bpe_dropout
    draw = random.Random(f"{config.train.seed} {epoch}").random

    source, target = (tokenizer.encode for tokenizer in tokenizers)
    if share and epoch is not None:  # they are SentencePieceTokenizers: see DataConfig
        samplers: Any = tokenizers
        source, target = (
            partial(tokenizer.sample, share=share, draw=draw) for tokenizer in samplers
        )
    examples: list[Example] = []
    hidden = "TQDM_DISABLE" in os.environ
    for pair in tqdm(pairs, "encoding", unit=" pairs", delay=10, disable=hidden):
        src = array("i", source(pair.src))  # four bytes an id
        tgt = array("i", target(pair.tgt))
        if max(len(src), len(tgt)) <= max_length:
            examples.append((src, tgt))
    if not examples:
        raise TrainingError(
            f"every pair is longer than data.max_length={max_length} tokens: raise it"
        )
    if len(examples) < len(pairs) and epoch is None:
        n_dropped = len(pairs) - len(examples)
        warn(
            f"left out {n_dropped} of {len(pairs)} pairs, longer than "
            f"data.max_length={max_length} tokens"
        )
    return examples


class Batch(NamedTuple):
    """A batch: the model reads ``src`` and ``tgt_in``, and predicts ``tgt_out``."""

    src: Tensor  # (B, S) ends with <eos>, then <pad>
    tgt_in: Tensor  # (B, T) starts with <sos>
    tgt_out: Tensor  # (B, T) the same, one position later; ends with <eos>

    @property
    def n_tokens(self) -> int:
        """The number of target tokens to predict; padding does not count."""
        return int((self.tgt_out != PAD).sum())

    def to(self, device: torch.device | str) -> Batch:
        return Batch(*(tensor.to(device) for tensor in self))


def pad_batch(rows: Sequence[Ids], length: int | None = None) -> Tensor:
    """A padded batch: B lists of ids as ``(B, S)``, int64, ``<pad>`` on the right.

    ``length`` is S; default: that of the longest row.
    """
    width = length or max(map(len, rows))
    padded = [[*row, *[PAD] * (width - len(row))] for row in rows]
    return torch.tensor(padded, dtype=torch.long)  # (B, S)


def make_batch(
    examples: Sequence[Example], indices: Sequence[int] | None = None
) -> Batch:
    """The batch of all examples, or of those with these ``indices``.

    Targets must have ``<sos>`` and ``<eos>``.
    """
    if indices is not None:
        examples = [examples[i] for i in indices]
    src = pad_batch([source for source, _ in examples])  # (B, S)
    tgt_in = pad_batch([target[:-1] for _, target in examples])  # (B, T)
    tgt_out = pad_batch([target[1:] for _, target in examples])  # (B, T)
    return Batch(src, tgt_in, tgt_out)


def example_lengths(examples: Sequence[Example]) -> list[tuple[int, int]]:
    """The numbers of source and target ids of each example."""
    return [(len(src), len(tgt)) for src, tgt in examples]


def token_batches(
    lengths: Sequence[tuple[int, int]],
    batch_tokens: int,
    seed: int,
    alone: bool = False,
) -> list[list[int]]:
    """Batches of similar length, with sentences × longest side ≤ ``batch_tokens``.

    Args:
        lengths: ``(N, 2)``, see ``example_lengths``.
        batch_tokens: the budget, padding included.
        seed: for the order of equally long examples, and for that of the batches.
        alone: an example over the budget gets a batch of its own instead of an error.

    Returns:
        For each batch the indices of its examples.

    Raises:
        TrainingError: a single example is over the budget.
    """
    draw = random.Random(seed)
    longest = list(map(max, lengths))
    order = draw.sample(range(len(lengths)), len(lengths))
    order.sort(key=lambda i: (longest[i], *lengths[i]))  # equals stay as drawn
    if order and longest[order[-1]] > batch_tokens and not alone:
        raise TrainingError(
            f"sentence {order[-1]} has {longest[order[-1]]} tokens, more than "
            f"train.batch_tokens={batch_tokens}: raise train.batch_tokens or lower "
            "data.max_length"
        )
    batches = fill_batches(order, longest, batch_tokens)
    draw.shuffle(batches)
    return batches


def fill_batches(
    order: Iterable[int], lengths: Sequence[int], batch_tokens: int
) -> list[list[int]]:
    """Batches in a given order, short examples first, with rows × longest ≤ the budget.

    An example over the budget gets a batch of its own.
    """
    batches: list[list[int]] = []
    for index in order:  # the longest of a batch is always the one that comes last
        if not batches or lengths[index] * (len(batches[-1]) + 1) > batch_tokens:
            batches.append([])
        batches[-1].append(index)
    return batches


def sentence_batches(
    n_examples: int, batch_sentences: int, seed: int
) -> list[list[int]]:
    """Batches in random order, with the same number of examples in each.

    The last batch may be smaller.
    """
    order = random.Random(seed).sample(range(n_examples), n_examples)
    return [
        order[i : i + batch_sentences] for i in range(0, n_examples, batch_sentences)
    ]


def plan_epoch(
    examples: Sequence[Example], train: TrainConfig, epoch: int
) -> list[list[int]]:
    """The batches of an epoch, as indices; they depend only on seed and epoch."""
    seed = train.seed * SEED_STEP + epoch
    if train.batch_by == "sentences":
        return sentence_batches(len(examples), train.batch_sentences, seed)
    return token_batches(example_lengths(examples), train.batch_tokens, seed)
