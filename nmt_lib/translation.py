"""A translation: the text that came out, how sure the model was, and what it looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from unicodedata import category

from .errors import CorpusError
from .transformer import Attention


@dataclass(frozen=True)
class Translation:
    """What came out for one text.

    ``tokens`` are the target tokens without special ones, ``score`` is the log-probability over the length
    penalty (nearer to 0 is better). ``n_best`` holds the texts of all hypotheses with their scores, best first.
    ``src_labels`` and ``tgt_labels`` name the columns and rows of the attention.
    """

    source: str
    text: str
    tokens: tuple[str, ...]
    score: float
    n_best: tuple[tuple[str, float], ...] = ()
    src_labels: tuple[str, ...] = ()  # S names, special tokens included
    tgt_labels: tuple[
        str, ...
    ] = ()  # T names: the token that each row *produces*, <eos> last
    _attend: Callable[[], Attention] = field(
        default=Attention, repr=False, compare=False
    )

    @cached_property
    def attention(self) -> Attention:
        """The weights behind this translation, computed when first asked for.

        ``.encoder``, ``.decoder``, ``.cross``: ``[n_layers]`` of ``(1, H, S, S)``, ``(1, H, T, T)``, ``(1, H, T, S)``.
        The row of a token is the step that produced it.
        """
        return self._attend()

    def __str__(self) -> str:
        return self.text

    def __getstate__(self) -> dict[str, Any]:
        """A copy or a pickle holds the attention itself, not the model that computes it."""
        return {**vars(self), "attention": self.attention, "_attend": Attention}


def checked_texts(texts: object) -> list[str]:
    """The texts as a list. What is no text is a TypeError, no valid Unicode (half a surrogate pair) a CorpusError."""
    if not isinstance(texts, Iterable):
        raise TypeError(
            f"texts must be a str or a list of them, not {type(texts).__name__}: {texts!r}"
        )
    checked = list(texts)
    for i, text in enumerate(checked):
        if not isinstance(text, str):
            raise TypeError(
                f"text number {i} must be a str, not {type(text).__name__}: {text!r}"
            )
        try:
            text.encode()
        except UnicodeEncodeError as error:
            message = f"text number {i} has no valid character at place {error.start}: {text[:40]!r}"
            raise CorpusError(f"{message}; read its file as UTF-8") from None
    return checked


BLANK = "\u115f\u1160\u2800\u3164\uffa0"  # letters and a sign that are drawn as nothing


def is_visible(text: str) -> bool:
    """Whether there is something to see in a text: more than spaces, control and format characters, and bare marks."""
    return any(
        c not in BLANK
        and category(c)[0] not in "ZM"
        and category(c) not in ("Cc", "Cf")
        for c in text
    )
