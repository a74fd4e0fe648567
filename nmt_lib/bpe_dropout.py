"""BPE dropout: the same word in other pieces each time it is read (Provilkov et al., 2020)."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from .special import EOS, SOS, UNK

if TYPE_CHECKING:
    from .tokenizers import SentencePieceTokenizer


def sample(
    tokenizer: SentencePieceTokenizer,
    share: float,
    draw: Callable[[], float],
    text: str,
) -> list[int]:
    """The ids of a text in pieces that ``drop_merges`` draws; those of ``encode`` where a character is unknown."""
    ids = tokenizer.encode(text)
    if UNK in ids:
        return ids
    words = re.findall(
        "▁[^▁]{,200}|[^▁]{1,200}",
        "".join(tokenizer.lookup_tokens(ids[tokenizer.sos : -1])),
    )
    pieces = (
        piece for word in words for piece in drop_merges(tokenizer, word, share, draw)
    )
    return [SOS] * tokenizer.sos + [tokenizer.ranks[piece] for piece in pieces] + [EOS]


def drop_merges(
    tokenizer: SentencePieceTokenizer,
    word: str,
    share: float,
    draw: Callable[[], float],
) -> tuple[str, ...]:
    """Merges letters to pieces, at each step without some of the possible merges (algorithm 1).

    SentencePiece has a sampler of its own, but no seed makes it draw the same in another process.

    Args:
        share: how likely a merge is left out of a step; with 0 the pieces are those of ``tokenize``.
        draw: gives a number from 0 to 1.
    """
    pieces = tuple(word)
    while True:
        i = next(
            (i for i in possible_merges(tokenizer, pieces) if draw() >= share), None
        )
        if i is None:
            return pieces
        pieces = (*pieces[:i], pieces[i] + pieces[i + 1], *pieces[i + 2 :])


@lru_cache(maxsize=200_000)
def possible_merges(
    tokenizer: SentencePieceTokenizer, pieces: tuple[str, ...]
) -> list[int]:
    """Which of the pieces may be merged with the one behind it; what was learnt first comes first."""
    ranks = [tokenizer.ranks.get(first + second) for first, second in pairwise(pieces)]
    return [
        i
        for _, i in sorted(
            (rank, i) for i, rank in enumerate(ranks) if rank is not None
        )
    ]
