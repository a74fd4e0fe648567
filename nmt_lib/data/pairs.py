"""The sentence pair: what every corpus consists of."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ..errors import check_kind


@dataclass(frozen=True, slots=True)
class Pair:
    """One sentence in two languages.

    ``alignment`` holds gold links (source word, target word) where they are known.
    """

    src: str
    tgt: str
    alignment: tuple[tuple[int, int], ...] = ()


def as_pairs(pairs: Iterable[Any]) -> list[Pair]:
    """Pairs, also from (source, target) as ``read_pairs`` yields them.

    Raises:
        TypeError: something else is among them.
    """
    result = [Pair(*p) if isinstance(p, tuple | list) else p for p in pairs]
    for pair in result:
        check_kind(pair, Pair)
    return result


def references_by_source(pairs: Iterable[Pair]) -> dict[str, list[str]]:
    """Each source once, with all its translations, in the order of the pairs."""
    references: dict[str, list[str]] = {}
    for pair in pairs:
        references.setdefault(pair.src, []).append(pair.tgt)
    return references
