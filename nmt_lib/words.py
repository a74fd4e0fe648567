"""Words: spaCy's rules cut a sentence into them, and a few of our own join them again."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache

LONG = re.compile(
    r"\S{200}(?=\S)"
)  # cut there: for brackets without spaces, spaCy's time grows with their square


@lru_cache(maxsize=8)
def spacy_words(lang: str) -> Callable[[str], list[str]]:
    """spaCy's rule-based splitter of a language, as a function from text to words.

    Single spaces are no words; what goes beyond a single one is a word of its own, as in the write-ups.
    """
    import spacy

    split = spacy.blank(lang).tokenizer
    return lambda text: [word.text for word in split(LONG.sub(r"\g<0> ", text))]


# What stands directly behind the word before it, and directly before the word behind it, in each language.
_NO_SPACE_BEFORE = {
    "en": r"[.,!?;:)\]%…”]|(?:n['’]t|['’](?:s|m|re|ve|ll|d)?)(?= |$)",
    "de": r"[.,!?;:)\]…“”]",
    "fr": r"[.,)\]…”]|-\w",  # French sets a space before ! ? ; : and %
}
_NO_SPACE_AFTER = {"en": r"[(\[“]", "de": r"[(\[„]", "fr": r"[(\[“]|\w['’](?= \w)"}


def join_words(words: Iterable[str], lang: str = "en") -> str:
    """spaCy's words to a written sentence: punctuation, quotes, apostrophes and hyphens find their places again.

    >>> join_words(["L'", "homme", "lit", "."], "fr")
    "L'homme lit."
    """
    text = " ".join(" ".join(words).split())
    text = re.sub(rf" ({_NO_SPACE_BEFORE[lang]})", r"\1", text, flags=re.IGNORECASE)
    text = re.sub(rf"({_NO_SPACE_AFTER[lang]}) ", r"\1", text)
    text = re.sub(r'" ([^"]*?) ?"', r'"\1"', text)
    return (
        text if lang == "de" else re.sub(r"(\w) - (?=\w)", r"\1-", text)
    )  # spaCy's German keeps T-Shirt whole
