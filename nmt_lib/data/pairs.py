"""The sentence pair: what every corpus consists of."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pair:
    """One sentence in two languages.

    ``alignment`` holds gold links (source word, target word) where they are known.
    """

    src: str
    tgt: str
    alignment: tuple[tuple[int, int], ...] = ()


def references_by_source(pairs: Iterable[Pair]) -> dict[str, list[str]]:
    """Each source once, with all its translations, in the order of the pairs."""
    references: dict[str, list[str]] = {}
    for pair in pairs:
        references.setdefault(pair.src, []).append(pair.tgt)
    return references
