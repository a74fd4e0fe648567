"""Byte-pair encoding, chapter 01."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, reduce
from typing import Any, ClassVar

from pydantic import Field, model_validator

from nmt_lib.config import load_config
from nmt_lib.data.corpora import load_corpus
from nmt_lib.data.tokenizers import SentencePieceTokenizer
from nmt_lib.data.tokens import SPECIALS

from ...chapter01.check import my_cut, my_merge
from ..play import Thing, table

N_MERGES = 300


class Merges(Thing):
    """A text, cut by the first merges of a list."""

    title: ClassVar = "Boxes of letters that grow together"
    tries: ClassVar = (
        "Type a text of your own, and move from 0 merges to all of them. Gold marks "
        "the latest merge."
    )
    shows: ClassVar = (
        "Frequent words become one box early, and rare ones stay in parts, but even a "
        "word that was never seen can be spelt if all its letters were."
    )
    text: str = Field("Die Kaffeetasse ist neu.", max_length=120)
    n_merges: int = Field(0, ge=0)
    subwords: list[str] = Field([], max_length=1000)
    """those that the merges make, in their order; none: 300 of the tiny German"""

    @model_validator(mode="after")
    def _check(self) -> Merges:
        if self.n_merges > len(self.merges()):
            n = len(self.merges())
            raise ValueError(f"n_merges must be at most {n}, the number of merges")
        return self

    def merges(self) -> list[tuple[str, ...]]:
        return pairs(self.subwords or learnt())

    def given(self) -> dict[str, Any]:
        return {"merges": self.merges()}

    def picture(self) -> str:
        merges, words, rows = self.merges(), self.text.split(), {}
        for n in (self.n_merges, len(merges)):
            cuts = [my_cut.right(word, merges[:n]) for word in words]
            rows[f"{n} merges"] = [" ".join(subwords) for subwords in cuts]
        caption = "A text in subwords; run the cell to type another and to move on"
        return table(caption, ["", *words], rows)


@cache
def learnt() -> list[str]:
    """What BPE learns from the tiny corpus's German, as in chapter 01."""
    data = load_config("tiny", **{"data.tgt_lang": "de"}).data
    lines = [pair.tgt for pair in load_corpus(data).train]
    first = len(SPECIALS)
    size = first + len({*"".join(lines)}) + N_MERGES
    tokenizer = SentencePieceTokenizer.train("bpe", lines, size, 1.0, False)
    return tokenizer.lookup_tokens(range(first, first + N_MERGES))


def pairs(subwords: Sequence[str]) -> list[tuple[str, ...]]:
    """The merge that made each: the merges before it leave two parts of it."""
    merges: list[tuple[str, ...]] = []
    for subword in subwords:
        parts = reduce(my_merge.right, merges, tuple(subword))
        if len(parts) != 2:
            raise ValueError(
                f"{subword!r} is not made of two of the subwords before it"
            )
        merges.append(parts)
    return merges


THING = Merges
