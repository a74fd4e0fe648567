"""What a corpus consists of: pairs of sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    pass


@dataclass(frozen=True, slots=True)
class Pair:
    """One sentence in two languages.

    ``alignment`` holds gold links (source word, target word), where they are known.
    """

    src: str
    tgt: str
    alignment: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class Contrast:
    """A source with its right translation, and with one that breaks a single rule."""

    src: str
    right: str
    wrong: str


@dataclass(frozen=True)
class Corpus:
    """Three lists of pairs, and where they came from."""

    train: Sequence[Pair]
    valid: Sequence[Pair]
    test: Sequence[Pair]
    provenance: str
