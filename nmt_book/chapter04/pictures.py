"""Pictures of chapter 04: attention in numbers, and whom a pronoun looks at."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from torch import Tensor

from nmt_lib.data.pairs import Pair
from nmt_lib.translate.heatmap import FONT, LETTER, new_figure
from nmt_lib.translate.translator import Translator

from ..pictures.grids import draw_arrow, plot_grids
from ..pictures.palette import GREY, LIGHT, MIDDLE, pale

WIDE, HIGH = 0.44, 0.27  # of a cell, in inches


def plot_steps(
    Q: Tensor,
    K: Tensor,
    V: Tensor,
    words: Sequence[str],
    features: Sequence[str],
    contents: Sequence[str],
    framed: int,
) -> Figure:
    """Q Kᵀ, scores, weights and output as tables, a row for each query.

    Each factor is above or to the left of the product, as in a calculation by hand.

    Args:
        Q, K, V: ``(T, d_k)``, ``(T, d_k)``, ``(T, d_v)``.
        words: of the rows.
        features: what each number of a query and a key stands for.
        contents: what each number of a value stands for.
        framed: the query whose row is framed in each table.
    """
    scores = Q @ K.T / math.sqrt(K.size(1))  # (T, T)
    weights = scores.softmax(-1)  # (T, T)
    word = LETTER * max(map(len, words)) + 0.15
    label = LETTER * max(map(len, features)) + 0.15
    # Above: Q, Kᵀ and scores; below, so that a phone can show it: weights, V, output.
    x_scores = word + WIDE * len(features) + label
    x_out = word + WIDE * len(words) + word + 0.3
    width = max(x_scores + WIDE * len(words), x_out + WIDE * len(contents)) + 0.2
    table = HIGH * len(words)
    low = table + 0.35  # the upper edges of the four lines of tables, from below
    values, products = low + table + 0.4, low + table + 1.05
    top = products + table + HIGH * len(features) + 0.4
    figure, (axis,) = new_figure(size=(width, top + 0.25))
    axis.set(xlim=(0, width), ylim=(0, top + 0.25))
    axis.axis("off")
    products += table
    _draw(axis, x_scores, top, K.T, features, words, "Kᵀ: is found by", "key")
    _draw(axis, word, products, Q, words, features, "Q: looks for", "query", framed)
    _draw(
        axis, x_scores, products, scores, [], [], "scores: Q Kᵀ / √d_k", "right", framed
    )
    _draw(axis, x_out, values, V, words, contents, "V: passes on", "value")
    _draw(axis, word, low, weights, words, words, "weights: sum to 1", "right", framed)
    _draw(axis, x_out, low, weights @ V, [], [], "output", "value", framed)
    y = low - HIGH * (framed + 0.5)
    end, middle = word + WIDE * len(words), word + WIDE * len(words) / 2
    draw_arrow(axis, (end, y), (x_out, y), color=LIGHT["query"], lw=1.5)
    start = x_scores + WIDE * len(words) / 2, products - table - 0.28
    draw_arrow(axis, start, (middle, low + 0.25), color=LIGHT["query"], lw=1.5)
    y = (start[1] + low + 0.25) / 2
    axis.text((start[0] + middle) / 2 - 0.1, y + 0.1, "softmax", ha="right")
    return figure


def _draw(
    axis: Axes,
    x: float,
    top: float,
    table: Tensor,
    rows: Sequence[str],
    columns: Sequence[str],
    title: str,
    role: str,
    framed: int | None = None,
) -> None:
    """A table of numbers with its upper left corner at (x, top) and its name below."""
    largest = 2.2 * float(table.max())  # so that black can be read on the darkest
    digits = ".0f" if (table == table.round()).all() else ".2f"
    for r, values in enumerate(table.tolist()):
        for c, value in enumerate(values):
            corner = x + WIDE * c, top - HIGH * (r + 1)
            fill = pale(role, max(0, value) / largest)
            axis.add_patch(Rectangle(corner, WIDE, HIGH, fc=fill, ec="0.8", lw=0.6))
            middle = corner[0] + WIDE / 2, corner[1] + HIGH / 2
            axis.text(*middle, format(value, digits), **MIDDLE)
    n_rows, n_columns = table.shape
    for r, name in enumerate(rows):
        y = top - HIGH * (r + 0.5)
        axis.text(x - 0.06, y, name, **MIDDLE | {"ha": "right"})
    for c, name in enumerate(columns):
        spot = x + WIDE * (c + 0.5), top + 0.12
        axis.text(*spot, name, **MIDDLE | {"fontsize": FONT - 2}, color=GREY)
    spot = x + WIDE * n_columns / 2, top - HIGH * n_rows - 0.14
    axis.text(*spot, title, **MIDDLE, weight="bold")
    if framed is not None:
        corner = x, top - HIGH * (framed + 1)
        frame = Rectangle(
            corner, WIDE * n_columns, HIGH, fill=False, ec=LIGHT["query"], lw=2
        )
        axis.add_patch(frame)


PRONOUNS = "it", "il", "elle", "er", "sie", "es"
KIND = re.compile(r"The \w+ (is|was) \w+,? (and|but) it ")  # The table was wet and it …


class Look(NamedTuple):
    """Where the heads of a layer look from one word."""

    weights: Tensor  # (H, n)
    words: list[str]  # n
    noun: slice  # columns of the noun, with its article in French


def pronoun_looks(translator: Translator, pair: Pair) -> dict[str, Look]:
    """Where the heads of the last layers look while the pronoun is read or written.

    The model reads the pair's own target. The noun is the second word of both sides, as
    in "The table was wet and it was old."; a sentence without a pronoun gives the looks
    of its first word.
    """
    source = translator.src_tokenizer.encode(pair.src)  # S ids
    target = translator.tgt_tokenizer.encode(pair.tgt)  # T + 1 ids
    english = translator.src_tokenizer.lookup_tokens(source)
    french = translator.tgt_tokenizer.lookup_tokens(target)
    asks = pronoun_at(english), pronoun_at(french) - 1  # rows
    maps = translator.attend(source, target[1:-1])
    return {
        "encoder: from it": Look(maps.encoder[-1][0, :, asks[0]], english, slice(2, 3)),
        "cross-attention: from the pronoun": Look(
            maps.cross[-1][0, :, asks[1]], english, slice(2, 3)
        ),
        "decoder: from the pronoun": Look(
            maps.decoder[-1][0, :, asks[1]], french[:-1], slice(1, 3)
        ),
    }


def pronoun_at(words: list[str]) -> int:
    """The position of the last pronoun, or 1."""
    positions = [i for i, word in enumerate(words) if word in PRONOUNS]
    return max(positions, default=1)


def count_pronoun_looks(
    translator: Translator, pairs: Iterable[Pair]
) -> dict[str, list[str]]:
    """For each route and head: in how many sentences its largest weight is at the noun.

    The sentences are those of the form "The table was wet and it was old."
    """
    table: dict[str, list[Tensor]] = {}  # route → (H,) booleans, one for each sentence
    for pair in pairs:
        if KIND.match(pair.src):
            for route, look in pronoun_looks(translator, pair).items():
                best = look.weights.argmax(-1)  # (H,)
                hits = (look.noun.start <= best) & (best < look.noun.stop)
                table.setdefault(route, []).append(hits)
    return {
        route: [f"{n} of {len(hits)}" for n in torch.stack(hits).sum(0).tolist()]
        for route, hits in table.items()
    }


def plot_pronoun(translator: Translator, pair: Pair) -> Figure:
    """A grid for each route: a row for each head, the noun's columns framed."""
    looks = pronoun_looks(translator, pair)
    n_heads = len(next(iter(looks.values())).weights)
    figure = plot_grids(
        [{name: look.weights} for name, look in looks.items()],
        [f"head {h}" for h in range(n_heads)],
        [look.words for look in looks.values()],
        xlabel="is looked at",
    )
    for axis, look in zip(figure.axes, looks.values(), strict=True):
        width = look.noun.stop - look.noun.start
        corner = look.noun.start - 0.5, -0.5
        frame = Rectangle(corner, width, n_heads, fill=False, ec=LIGHT["gold"], lw=2)
        axis.add_patch(frame)
    return figure
