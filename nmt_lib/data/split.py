"""A split of sentence pairs in which no test sentence leaks into training.

The same sentence often occurs several times in a corpus, with different translations.
If the pairs are split at random, many sentences of the test set are in the training set
as well, and the scores measure memorisation. ``grouped_split`` keeps all pairs that
share a sentence in the same part.
"""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from .pairs import Pair, as_pairs

LARGEST_GROUP = 8  # most pairs in a group that is held out; larger ones are trained on


def fold(text: str) -> str:
    """A text without case, accents and punctuation: *Été !* and *ete* become equal.

    A text with neither letters nor digits stays as it is.
    """
    plain = text.casefold()
    if not plain.isascii():
        plain = unicodedata.normalize("NFKD", plain)
    return re.sub(r"[\W_]+", "", plain) or text


class Split(NamedTuple):
    """The parts of a corpus, and the size of the largest group in it."""

    train: list[Pair]
    valid: list[Pair]
    test: list[Pair]
    largest: int


def grouped_split(pairs: Sequence[Pair], n: int, seed: int) -> Split:
    """Holds out ``n`` pairs for validation and ``n`` for testing, group by group.

    Two pairs are in one group if their sources are equal when folded, or their targets
    are, or if other pairs link them. A group is never cut, so no sentence of one part,
    on either side, is in another part. A group of more than ``LARGEST_GROUP`` pairs is
    trained on.
    """
    groups = group(as_pairs(pairs))
    random.Random(seed).shuffle(groups)
    split = Split([], [], [], max(map(len, groups), default=0))
    for members in groups:
        for part in (split.test, split.valid):
            if len(members) <= min(LARGEST_GROUP, n - len(part)):
                part.extend(members)
                break
        else:
            split.train.extend(members)
    return split


def group(pairs: Sequence[Pair]) -> list[list[Pair]]:
    """The pairs in groups that share no sentence, in the order of their first pairs."""
    parent: dict[int, int] = {}  # of folded texts, by their hashes: they need less room

    def root(node: int) -> int:
        parent.setdefault(node, node)
        while parent[node] != node:
            parent[node] = node = parent[parent[node]]  # a shorter path for next time
        return node

    sources = []
    for pair in pairs:
        src, tgt = hash(("src", fold(pair.src))), hash(("tgt", fold(pair.tgt)))
        parent[root(tgt)] = root(src)
        sources.append(src)
    groups: dict[int, list[Pair]] = {}
    for src, pair in zip(sources, pairs, strict=True):
        groups.setdefault(root(src), []).append(pair)
    return list(groups.values())


def seen_share(test: Iterable[Pair], train: Iterable[Pair]) -> float:
    """The fraction of test sources that also occur in training, folded."""
    sources = {fold(pair.src) for pair in as_pairs(train)}
    hits = [fold(pair.src) in sources for pair in as_pairs(test)]
    return sum(hits) / max(1, len(hits))
