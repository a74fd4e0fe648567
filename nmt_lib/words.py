"""Words of English, German and French: spaCy's rules split a text, and ours join it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache

# A word is cut there: for brackets without spaces, spaCy's time grows quadratically.
LONG = re.compile(r"\S{200}(?=\S)")


@lru_cache(maxsize=8)
def spacy_words(lang: str) -> Callable[[str], list[str]]:
    """spaCy's rule-based splitter of a language, as a function from text to words.

    A single space is not a token; any additional spaces form one, as in the write-ups.
    """
    import spacy

    split = spacy.blank(lang).tokenizer
    return lambda text: [word.text for word in split(LONG.sub(r"\g<0> ", text))]


# Text without a space before it, or after it, in each language.
_NO_SPACE_BEFORE = {
    "en": r"[.,!?;:)\]%…”]|(?:n['’]t|['’](?:s|m|re|ve|ll|d)?)(?= |$)",
    "de": r"[.,!?;:)\]…“”]",
    "fr": r"[.,)\]…”]|-\w",  # French puts a space before ! ? ; : and %
}
_NO_SPACE_AFTER = {"en": r"[(\[“]", "de": r"[(\[„]", "fr": r"[(\[“]|\w['’](?= \w)"}


def join_words(words: Iterable[str], lang: str = "en") -> str:
    """spaCy's words to a written sentence: no spaces around punctuation, as usual.

    >>> join_words(["L'", "homme", "lit", "."], "fr")
    "L'homme lit."
    """
    text = " ".join(" ".join(words).split())
    before, after = _NO_SPACE_BEFORE[lang], _NO_SPACE_AFTER[lang]
    text = re.sub(rf" ({before})", r"\1", text, flags=re.IGNORECASE)
    text = re.sub(rf"({after}) ", r"\1", text)
    text = re.sub(r'" ([^"]*?) ?"', r'"\1"', text)
    if lang == "de":  # spaCy's German does not split T-Shirt
        return text
    return re.sub(r"(\w) - (?=\w)", r"\1-", text)
