"""Rows of words: texts as tokens, a pair with its links, the shift of chapter 07, and a
sentence that is read along."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure
from torch import Tensor

from ..corpora import Pair
from ..tokenizers import Tokenizer
from .diagrams import plot_words


def plot_encoded(tokenizers: Mapping[str, Tokenizer], text: str) -> Figure:
    """What the model gets of a text, by several tokenizers; ``<unk>`` is red."""
    rows = {n: tok.lookup_tokens(tok.encode(text)) for n, tok in tokenizers.items()}
    return plot_words(rows, text, positions=False)


def plot_links(
    pair: Pair, src_tok: Tokenizer, tgt_tok: Tokenizer, names: Sequence[str]
) -> Figure:
    """Which word stands for which; words that change places are orange.

    Args:
        pair: with its ``alignment``.
        src_tok, tgt_tok: they cut the two sentences.
        names: of the two languages.
    """
    links = [((0, s), (1, t)) for s, t in pair.alignment]
    crossed = [
        end
        for a, b in links
        if any((a[1] - c[1]) * (b[1] - d[1]) < 0 for c, d in links)
        for end in (a, b)
    ]
    sentences = src_tok.tokenize(pair.src), tgt_tok.tokenize(pair.tgt)
    rows = dict(zip(names, sentences, strict=True))
    return plot_words(rows, links=links, marked=crossed, positions=False)


def plot_shift(tgt: Tensor, tokenizer: Tokenizer) -> Figure:
    """What the decoder reads, above what it should predict, for two targets.

    Args:
        tgt: ``(2, T + 1)``; the second target is the shorter one, and the <eos> that
            it keeps in ``tgt_in`` is marked.
    """
    words = [tokenizer.lookup_tokens(ids) for ids in tgt.tolist()]
    names = "a long target", "a shorter one"
    rows = {
        name: {"tgt_in": some[:-1], "tgt_out": some[1:]}
        for name, some in zip(names, words, strict=True)
    }
    return plot_words(rows, marked=[(2, words[1].index("<eos>"))])


def plot_read_along(readings: Sequence[Any]) -> Figure:
    """The short sentence that loses most words when the model writes on its own.

    Words that differ from the reference at their position are orange; – is no word.

    Args:
        readings: with the tokens ``right`` and ``along``, which end with ``<eos>``, the
            translation ``own``, and the ``pair``.
    """
    rows = {
        one.pair.src: (one.right[:-1], one.along[:-1], [*one.own.tokens])
        for one in readings
        if max(len(one.right) - 1, len(one.own.tokens)) <= 10
    }
    source = max(rows, key=lambda src: _lead(*rows[src]))
    right, along, own = rows[source]
    own += ["–"] * (len(right) - len(own))
    marked = [
        (row, x)
        for row, words in enumerate((right, along, own))
        for x, word in enumerate(words)
        if right[x : x + 1] != [word]
    ]
    names = {"reference": right, "reading along": along, "on its own": own}
    return plot_words(names, source, marked=marked, positions=False)


def _lead(right: list[str], along: list[str], own: list[str]) -> int:
    """How many words more are right when it reads along than in its translation."""
    read = sum(a == b for a, b in zip(along, right, strict=True))
    return read - (Counter(own) & Counter(right)).total()
