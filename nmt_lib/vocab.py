"""Vocabulary: the two-way table between tokens and ids, with the calls of the retired
``torchtext.vocab``.

The order is torchtext's: special tokens, then the others by falling frequency; equally
frequent tokens are ordered by their code points. So the same corpus gets the same ids
here as in tutorials that were written with torchtext.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Iterable, Mapping


class Vocab:
    """Maps tokens to ids and back; ``tokens`` are in the order of their ids, from 0.

    Raises:
        RuntimeError: a token that occurs twice; looked up: a token or id that is not
            there.
        TypeError: a token that is not a string (an id, say): it is never taken for an
            unknown word.
    """

    def __init__(self, tokens: Iterable[str]) -> None:
        self._itos = [_checked(token) for token in tokens]
        self._stoi = {token: index for index, token in enumerate(self._itos)}
        self._default: int | None = None
        if len(self._stoi) != len(self._itos):
            twice = Counter(self._itos).most_common(1)[0][0]
            raise RuntimeError(f"Duplicate token found in tokens list: {twice}")

    def __len__(self) -> int:
        return len(self._itos)

    def __contains__(self, token: str) -> bool:
        return _checked(token) in self._stoi

    def __getitem__(self, token: str) -> int:
        """The id of a token; of an unknown one the default index, if that is set."""
        index = self._stoi.get(_checked(token), self._default)
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

    def get_stoi(self) -> dict[str, int]:
        """All tokens with their ids (string to index)."""
        return dict(self._stoi)


def _checked(token: str) -> str:
    if not isinstance(token, str):
        raise TypeError(f"A token is a string, not {token!r}")
    return token


def vocab(
    ordered_dict: Mapping[str, int],
    min_freq: int = 1,
    specials: Iterable[str] | None = None,
) -> Vocab:
    """A vocabulary from tokens with their counts, in the order of the mapping.

    Args:
        ordered_dict: token → count.
        min_freq: rarer tokens are left out.
        specials: tokens that come first, whatever their count.
    """
    first = list(specials or ())
    others = [
        token
        for token, count in ordered_dict.items()
        if count >= min_freq and token not in first
    ]
    return Vocab(first + others)


def build_vocab_from_iterator(
    iterator: Iterable[Iterable[str]],
    min_freq: int = 1,
    specials: Iterable[str] | None = None,
) -> Vocab:
    """A vocabulary from lists of tokens, one list a sentence; see ``vocab``."""
    counts = Counter(token for tokens in iterator for token in tokens)
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return vocab(dict(ordered), min_freq, specials)
