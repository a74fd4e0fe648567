"""Vocabulary: the two-way table between tokens and ids, with the calls of the retired ``torchtext.vocab``.

The order is torchtext's: special tokens, then the others by falling frequency; equals are ordered by their
code points. So the same corpus gets the same ids here as in tutorials that were written with torchtext.
Its errors are torchtext's too, but for ``max_tokens`` without room: a ValueError here, an AssertionError there.
"""

from __future__ import annotations

import operator
from collections import Counter, OrderedDict
from collections.abc import Iterable, Iterator


def _check_string(token: str) -> None:
    if not isinstance(token, str):
        raise TypeError(f"A token is a string, not {token!r}")


class Vocab:
    """Maps tokens to ids and back.

    Args:
        tokens: all tokens in the order of their ids: the first gets id 0.

    Raises:
        RuntimeError: a token that occurs twice.
        TypeError: a token that is no string.
    """

    def __init__(self, tokens: Iterable[str]) -> None:
        self._itos = list(tokens)
        self._stoi = {token: index for index, token in enumerate(self._itos)}
        self._default: int | None = None
        for token in self._itos:
            _check_string(token)
        if len(self._stoi) != len(self._itos):
            twice = next(token for token, count in Counter(self._itos).items() if count > 1)
            raise RuntimeError(f"Duplicate token found in tokens list: {twice}")

    def __len__(self) -> int:
        return len(self._itos)

    def __contains__(self, token: str) -> bool:
        _check_string(token)
        return token in self._stoi

    def __getitem__(self, token: str) -> int:
        """The id of a token; the default index where the token is unknown.

        Raises:
            RuntimeError: the token is unknown and no default index is set.
            TypeError: the token is no string (an id, say), which is never taken for an unknown word.
        """
        _check_string(token)
        index = self._stoi.get(token, self._default)
        if index is None:
            raise RuntimeError(f"Token {token} not found and default index is not set; call set_default_index(1)")
        return index

    def __call__(self, tokens: Iterable[str]) -> list[int]:
        """The ids of tokens.

        Raises:
            RuntimeError: as for one token.
            TypeError: one string, whose letters would be taken for tokens.
        """
        if isinstance(tokens, str):
            raise TypeError(f"A list of tokens is needed, not one string: split it first: {tokens[:40]!r}")
        return [self[token] for token in tokens]

    forward = lookup_indices = __call__

    def set_default_index(self, index: int | None) -> None:
        """The id that unknown tokens get; ``None`` makes them an error again.

        Raises:
            TypeError: no whole number; the name of a token, say.
        """
        self._default = None if index is None else operator.index(index)

    def get_default_index(self) -> int | None:
        return self._default

    def lookup_token(self, index: int) -> str:
        """The token of an id.

        Raises:
            RuntimeError: no such id.
        """
        if not 0 <= index < len(self):
            raise RuntimeError(f"Specified index {index} is out of bounds for vocab of size {len(self)}")
        return self._itos[index]

    def lookup_tokens(self, indices: Iterable[int]) -> list[str]:
        return [self.lookup_token(index) for index in indices]

    def insert_token(self, token: str, index: int) -> None:
        """Puts a token at an id and moves the later ones up by one.

        Raises:
            RuntimeError: the token is there already, or the id leaves a gap.
        """
        if not 0 <= index <= len(self):
            raise RuntimeError(f"Specified index {index} is out of bounds for vocab of size {len(self)}")
        if token in self:
            raise RuntimeError(f"Token {token} already exists in the Vocab with index: {self._stoi[token]}")
        self._itos.insert(index, token)
        self._stoi = {token: position for position, token in enumerate(self._itos)}

    def append_token(self, token: str) -> None:
        self.insert_token(token, len(self))

    def get_itos(self) -> list[str]:
        """All tokens in the order of their ids (index to string)."""
        return list(self._itos)

    def get_stoi(self) -> dict[str, int]:
        """All tokens with their ids (string to index)."""
        return dict(self._stoi)


def vocab(
    ordered_dict: OrderedDict[str, int] | dict[str, int],
    min_freq: int = 1,
    specials: Iterable[str] | None = None,
    special_first: bool = True,
) -> Vocab:
    """A vocabulary from tokens with their counts, in the order in which they stand there.

    Args:
        ordered_dict: token → count.
        min_freq: rarer tokens are left out.
        specials: tokens that are added whatever their count, in front or (``special_first=False``) behind.
    """
    marked = list(specials or ())
    kept = [token for token, count in ordered_dict.items() if count >= min_freq and token not in set(marked)]
    return Vocab(marked + kept if special_first else kept + marked)


def build_vocab_from_iterator(
    iterator: Iterable[Iterable[str]] | Iterator[Iterable[str]],
    min_freq: int = 1,
    specials: list[str] | None = None,
    special_first: bool = True,
    max_tokens: int | None = None,
) -> Vocab:
    """A vocabulary from tokenised sentences.

    Args:
        iterator: gives one list of tokens for each sentence.
        min_freq: rarer tokens are left out.
        specials: tokens that are added whatever their count, in front or (``special_first=False``) behind.
        max_tokens: the largest size, specials included (a special token that occurs in the text uses up two places,
            as in torchtext).

    Raises:
        ValueError: ``max_tokens`` leaves no room beside the specials.
    """
    counts: Counter[str] = Counter()
    for tokens in iterator:
        counts.update(tokens)
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    if max_tokens is not None:
        room = max_tokens - len(specials or [])
        if room <= 0:
            raise ValueError(f"max_tokens={max_tokens} leaves no room beside {len(specials or [])} special tokens")
        ordered = ordered[:room]
    return vocab(OrderedDict(ordered), min_freq=min_freq, specials=specials, special_first=special_first)
