"""From a phrase of the grammar to a sentence as it is written, with its alignments.

Each word carries the names of the concepts that it expresses, written after a slash;
words that share one are aligned.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from .lexicon import VOWELS

LANGUAGES = ("en", "de", "fr")
# Language → words with their concepts, such as "the/s.det man/s.noun".
Phrase = dict[str, str]


@dataclass(frozen=True)
class Triple:
    """One meaning in three languages."""

    tokens: dict[str, tuple[str, ...]]
    concepts: dict[str, tuple[tuple[str, ...], ...]]

    def text(self, lang: str) -> str:
        """The sentence as it is written, with spaces where they belong."""
        text = " ".join(self.tokens[lang])
        return text.replace(" .", ".").replace(" ,", ",").replace("' ", "'")

    def alignment(self, src_lang: str, tgt_lang: str) -> tuple[tuple[int, int], ...]:
        """Pairs (source index, target index) of the words that share a concept."""
        source, target = map(set, self.concepts[src_lang]), self.concepts[tgt_lang]
        return tuple(
            (i, j)
            for i, a in enumerate(source)
            for j, b in enumerate(target)
            if not a.isdisjoint(b)
        )


# Rules that depend on the next word, in this order: an apple; im Garten; l'homme,
# d'eau, qu'il; au marché, du lait. What was two words has the concepts of both.
RULES = {
    "en": [(r"\ba(?=/\S+ [aeio])", "an")],
    "de": [(r"\b(i|a)n/(\S+) dem/", r"\1m/\2+")],
    "fr": [
        (rf"\b(l|d|qu|n|s)[ea](?=(/\S+)? [{''.join(VOWELS)}])", r"\1'"),
        (r"\bà/(\S+) le/", r"au/\1+"),
        (r"\bde le\b", "du"),
    ],
}


@cache
def parse(marked: str) -> tuple[str, tuple[str, ...]]:
    """The word and the concepts of "rentrée/v+home"."""
    word, *concepts = re.split(r"[/+]", marked)
    return word, tuple(concepts)


def sentence(phrase: Phrase) -> Triple:
    """A phrase as a sentence: with its spelling, a capital letter and a full stop."""
    tokens, concepts = {}, {}
    for lang in LANGUAGES:
        text = " ".join([*phrase[lang].split(), "./end"])
        for pattern, spelling in RULES[lang]:
            text = re.sub(pattern, spelling, text)
        (start, *rest), concepts[lang] = zip(*map(parse, text.split()), strict=True)
        tokens[lang] = (start[0].upper() + start[1:], *rest)
    return Triple(tokens, concepts)
