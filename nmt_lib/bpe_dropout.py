"""BPE dropout: a word is split in another way each time (Provilkov et al., 2020,
algorithm 1).

SentencePiece has a sampler, too, but no seed makes it draw the same subwords in another
process.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .tokenizers import SentencePieceTokenizer


def drop_merges(
    tokenizer: SentencePieceTokenizer,
    word: str,
    share: float,
    draw: Callable[[], float],
) -> tuple[str, ...]:
    """Merges letters, at each step without some of the possible merges.

    Args:
        share: the probability that a step skips a merge; with 0 it equals ``tokenize``.
        draw: returns a random number from 0 to 1.
    """
    parts = tuple(word)
    while True:
        kept = (i for i in possible_merges(tokenizer, parts) if draw() >= share)
        i = next(kept, None)
        if i is None:
            return parts
        parts = (*parts[:i], parts[i] + parts[i + 1], *parts[i + 2 :])


@lru_cache(maxsize=200_000)
def possible_merges(
    tokenizer: SentencePieceTokenizer, parts: tuple[str, ...]
) -> list[int]:
    """Which parts can be merged with the next, in the order of the learnt merges."""
    ranks = [tokenizer.ranks.get(first + second) for first, second in pairwise(parts)]
    return [i for _, i in sorted((r, i) for i, r in enumerate(ranks) if r is not None)]
