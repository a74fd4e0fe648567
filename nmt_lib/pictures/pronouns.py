"""The picture of chapter 04: where a pronoun looks, on each route to its noun."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

import torch
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from torch import Tensor

from ..corpora import Pair
from ..translator import Translator
from .plotting import ORANGE, plot_grids

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
    found = [i for i, word in enumerate(words) if word in PRONOUNS]
    return max(found, default=1)


def count_pronoun_looks(
    translator: Translator, pairs: Iterable[Pair]
) -> dict[str, list[str]]:
    """For each route and head: in how many sentences its largest weight is at the noun.

    The sentences are those of the form "The table was wet and it was old."
    """
    found: dict[str, list[Tensor]] = {}  # route → (H,) booleans, one for each sentence
    for pair in pairs:
        if KIND.match(pair.src):
            for route, look in pronoun_looks(translator, pair).items():
                at = look.weights.argmax(-1)  # (H,)
                hits = (look.noun.start <= at) & (at < look.noun.stop)
                found.setdefault(route, []).append(hits)
    return {
        route: [f"{n} of {len(hits)}" for n in torch.stack(hits).sum(0).tolist()]
        for route, hits in found.items()
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
        frame = Rectangle(corner, width, n_heads, fill=False, ec=ORANGE, lw=2)
        axis.add_patch(frame)
    return figure
