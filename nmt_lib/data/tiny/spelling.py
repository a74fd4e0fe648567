"""From a phrase of the grammar to a sentence as it is written, with its alignments.

Each word carries the names of the concepts that it expresses, written after a slash;
words that share one are aligned.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from .lexicon import FRENCH_CONTRACTION, FRENCH_ELISION, GERMAN_CONTRACTION, VOWELS

LANGUAGES = ("en", "de", "fr")
# Language → words with their concepts, such as "the/s.det man/s.noun".
Phrase = dict[str, str]


class Token(NamedTuple):
    word: str
    concepts: tuple[str, ...]


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


@cache
def read_token(text: str) -> Token:
    """ "rentrée/v+home" is a token with two concepts."""
    word, _, concepts = text.partition("/")
    return Token(word, tuple(concepts.split("+")) if concepts else ())


def contract(tokens: list[Token], table: dict[tuple[str, str], str]) -> list[Token]:
    """Joins two words to one that has the concepts of both: "in dem" becomes "im"."""
    result: list[Token] = []
    for token in tokens:
        if result and (result[-1].word, token.word) in table:
            previous = result.pop()
            token = Token(
                table[previous.word, token.word], previous.concepts + token.concepts
            )
        result.append(token)
    return result


def spell(tokens: list[Token], lang: str) -> list[Token]:
    """The rules that depend on the next word: an apple, im Garten, l'homme."""
    if lang == "de":
        return contract(tokens, GERMAN_CONTRACTION)
    result = []
    for token, following in zip(tokens, [*tokens[1:], Token(".", ())], strict=True):
        before_vowel = following.word.startswith(
            VOWELS if lang == "fr" else tuple("aeio")
        )
        if lang == "en" and token.word == "a" and before_vowel:
            token = Token("an", token.concepts)
        if lang == "fr" and token.word in FRENCH_ELISION and before_vowel:
            token = Token(token.word[:-1] + "'", token.concepts)
        result.append(token)
    return contract(result, FRENCH_CONTRACTION) if lang == "fr" else result


def sentence(phrase: Phrase) -> Triple:
    """A phrase as a sentence: with its spelling, a capital letter and a full stop."""
    tokens, concepts = {}, {}
    for lang in LANGUAGES:
        parts = [*map(read_token, phrase[lang].split()), Token(".", ("end",))]
        (start, *rest), concepts[lang] = zip(*spell(parts, lang), strict=True)
        tokens[lang] = (start[0].upper() + start[1:], *rest)
    return Triple(tokens, concepts)
