"""Pictures of texts as tokens and ids: one sentence, a batch, a pair with its links."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from ..batching import Batch
from ..corpora import Pair
from ..tokenizers import Tokenizer
from .diagrams import draw_boxes, plot_words
from .plotting import new_figure


def plot_round_trip(tokenizer: Tokenizer, text: str) -> Figure:
    """A text, its tokens and its ids as boxes, with the steps between them."""
    figure, (axis,) = new_figure(size=(8.2, 1.5))
    tokens, ids = tokenizer.tokenize(text), tokenizer.encode(text)
    boxes = {
        "text": (f"text\n{text}", 0.0, 1.0, "plain"),
        "tokens": ("tokens\n" + "  ".join(tokens), 1.35, 1.0, "data"),
        "ids": ("ids\n" + "  ".join(map(str, ids)), 2.75, 1.0, "number"),
    }
    arrows = [("text", "tokens"), ("tokens", "ids"), ("ids", "text", -0.14)]
    draw_boxes(axis, boxes, arrows)
    axis.set(xlim=(-0.5, 3.3), ylim=(0.55, 1.3))
    for x, y, label in (
        (0.58, 1.2, "cut"),
        (2.08, 1.2, "look up"),
        (1.37, 0.6, "decode"),
        (2.75, 0.67, "<sos> first, <eos> last"),
    ):
        axis.text(x, y, label, ha="center", color="0.35")
    return figure


def plot_encoded(tokenizers: Mapping[str, Tokenizer], text: str) -> Figure:
    """What the model gets of a text, by several tokenizers; ``<unk>`` is red."""
    rows = {n: tok.lookup_tokens(tok.encode(text)) for n, tok in tokenizers.items()}
    return plot_words(rows, text, positions=False)


def plot_batch(batch: Batch, src_tok: Tokenizer, tgt_tok: Tokenizer) -> Figure:
    """The words of a batch; lines join ``tgt_in`` and the same word in ``tgt_out``."""
    source, target, links = {}, {}, []
    both = zip(batch.tgt_in.tolist(), batch.tgt_out.tolist(), strict=True)
    for i, ids in enumerate(batch.src.tolist()):
        source[f"src[{i}]"] = src_tok.lookup_tokens(ids)
    for i, (tgt_in, tgt_out) in enumerate(both):
        target[f"tgt_in[{i}]"] = tgt_tok.lookup_tokens(tgt_in)
        target[f"tgt_out[{i}]"] = tgt_tok.lookup_tokens(tgt_out)
        row = len(source) + 2 * i + 1  # of tgt_out[i]
        for t, (read, said) in enumerate(zip(tgt_in[1:], tgt_out, strict=False)):
            if read == said:
                links.append(((row, t), (row - 1, t + 1)))
    return plot_words({"source": source, "target": target}, links=links)


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
