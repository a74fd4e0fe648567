"""The sentence pair: what every corpus consists of."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pair:
    """One sentence in two languages.

    ``alignment`` holds gold links (source word, target word) where they are known.
    """

    src: str
    tgt: str
    alignment: tuple[tuple[int, int], ...] = ()
