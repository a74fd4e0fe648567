"""Pictures of texts as tokens: by several tokenizers, and a pair with its links."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

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
