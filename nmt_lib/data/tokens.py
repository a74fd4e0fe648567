"""Tokens: the four special ids, words as spaCy cuts them, and vocabularies."""

from __future__ import annotations

import operator
import re
from collections import Counter
from collections.abc import Callable, Iterable
from functools import lru_cache


class Vocab:
    """A vocabulary: tokens to ids and back; ``tokens`` are in the order of their ids.

    Raises:
        RuntimeError: a token occurs twice, or a token or id to look up is not there.
        TypeError: a token is not a string but an id, say; it is never taken for an
            unknown word.
    """

    def __init__(self, tokens: Iterable[str]) -> None:
        self._itos = [_require_string(token) for token in tokens]
        self._stoi = {token: index for index, token in enumerate(self._itos)}
        self._default: int | None = None
        if len(self._stoi) != len(self._itos):
            twice = Counter(self._itos).most_common(1)[0][0]
            raise RuntimeError(f"Duplicate token found in tokens list: {twice}")

    def __len__(self) -> int:
        return len(self._itos)

    def __contains__(self, token: str) -> bool:
        return _require_string(token) in self._stoi

    def __getitem__(self, token: str) -> int:
        """The id of a token; for an unknown token the default index, if that is set."""
        index = self._stoi.get(_require_string(token), self._default)
        if index is None:
            raise RuntimeError(
                f"Token {token} not found and default index is not set; call "
                "set_default_index(1)"
            )
        return index

    def __call__(self, tokens: Iterable[str]) -> list[int]:
        """The ids of tokens; one string is a TypeError: its letters are not tokens."""
        if isinstance(tokens, str):
            raise TypeError(
                "A list of tokens is needed, not one string: split it first: "
                f"{tokens[:40]!r}"
            )
        return list(map(self.__getitem__, tokens))

    lookup_indices = __call__

    def set_default_index(self, index: int | None) -> None:
        """The id that unknown tokens get; ``None`` makes them an error again."""
        self._default = None if index is None else operator.index(index)

    def lookup_token(self, index: int) -> str:
        """The token of an id."""
        if not 0 <= index < len(self._itos):
            raise RuntimeError(
                f"Specified index {index} is out of bounds for vocab of size "
                f"{len(self)}"
            )
        return self._itos[index]

    def lookup_tokens(self, indices: Iterable[int]) -> list[str]:
        return list(map(self.lookup_token, indices))

    def get_itos(self) -> list[str]:
        """All tokens in the order of their ids (index to string)."""
        return list(self._itos)


def _require_string(token: str) -> str:
    if not isinstance(token, str):
        raise TypeError(f"A token is a string, not {token!r}")
    return token


def build_vocab_from_iterator(
    iterator: Iterable[Iterable[str]],
    min_freq: int = 1,
    specials: Iterable[str] | None = None,
) -> Vocab:
    """A vocabulary from lists of tokens: frequent tokens first, equals by code point.

    Args:
        iterator: one list per sentence.
        min_freq: rarer tokens are left out.
        specials: tokens that come first, whatever their count.
    """
    counts = Counter(token for tokens in iterator for token in tokens)
    first = list(specials or ())
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return Vocab(
        first + [t for t, count in ordered if count >= min_freq and t not in first]
    )


PAD, UNK, SOS, EOS = 0, 1, 2, 3
SPECIALS = ("<pad>", "<unk>", "<sos>", "<eos>")

# Where to cut a word: spaCy's time is quadratic in a run of brackets without spaces.
LONG = re.compile(r"\S{200}(?=\S)")


@lru_cache(maxsize=8)
def spacy_words(lang: str) -> Callable[[str], list[str]]:
    """spaCy's rule-based tokenizer of a language, as a function from text to words.

    A single space is not a token; any additional spaces form one, as in the write-ups.
    """
    import spacy

    split = spacy.blank(lang).tokenizer
    return lambda text: [word.text for word in split(LONG.sub(r"\g<0> ", text))]


# What has no space before it, or after it, in each language.
_NO_SPACE_BEFORE = {
    "en": r"[.,!?;:)\]%…”]|(?:n['’]t|['’](?:s|m|re|ve|ll|d)?)(?= |$)",
    "de": r"[.,!?;:)\]…“”]",
    "fr": r"[.,)\]…”]|-\w",  # French puts a space before ! ? ; : and %
}
_NO_SPACE_AFTER = {"en": r"[(\[“]", "de": r"[(\[„]", "fr": r"[(\[“]|\w['’](?= \w)"}


def join_words(words: Iterable[str], lang: str = "en") -> str:
    """A written sentence from spaCy's words, without spaces around punctuation.

    >>> join_words(["L'", "homme", "lit", "."], "fr")
    "L'homme lit."
    """
    text = " ".join(" ".join(words).split())
    closing, opening = _NO_SPACE_BEFORE[lang], _NO_SPACE_AFTER[lang]
    text = re.sub(rf" ({closing})", r"\1", text, flags=re.IGNORECASE)
    text = re.sub(rf"({opening}) ", r"\1", text)
    text = re.sub(r'" ([^"]*?) ?"', r'"\1"', text)
    if lang == "de":  # spaCy's German does not split T-Shirt
        return text
    return re.sub(r"(\w) - (?=\w)", r"\1-", text)
