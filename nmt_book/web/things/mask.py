"""A mask to press, chapter 03."""

from __future__ import annotations

import math
from typing import ClassVar

import torch
from pydantic import Field
from torch import Tensor

from nmt_lib.model.attention import causal_mask, scaled_dot_product_attention

from ..play import Thing, Word, table

NEXT, SOS, OTHER, VOTE = 3.0, 0.0, -2.0, 6.0  # see mask.js


class Mask(Thing):
    """A decoder's self-attention that has learnt to look at the next word."""

    title: ClassVar = "Let in the future"
    tries: ClassVar = (
        "Press a cell to show or hide a key; press one with a gold frame to let in the "
        "answer. This attention was made to look for the next word and to copy it."
    )
    shows: ClassVar = (
        "Hidden keys pass their weight on to the others in their row. Where the answer "
        "is seen, its probability jumps, though nothing was learnt about French; where "
        "it is hidden, all that is left is a guess."
    )
    words: list[Word] = Field(
        ["le", "chat", "boit", "du", "lait"], min_length=1, max_length=9
    )
    causal: bool = True

    def picture(self) -> str:
        inputs = ["<sos>", *self.words]
        mask = causal_mask(len(inputs))[0, 0] | (not self.causal)  # (T, T)
        weights, probabilities = attend(inputs, mask)
        outputs = [*self.words, "<eos>"]
        rows = {
            f"{t}: {word}": [
                *(
                    f"{w:.2f}" if value else ""
                    for w, value in zip(row, keep, strict=True)
                ),
                outputs[t],
                f"{probabilities[t]:.2f}",
            ]
            for t, (word, row, keep) in enumerate(
                zip(inputs, weights.tolist(), mask.tolist(), strict=True)
            )
        }
        caption = "Weights under this mask; run the cell to press its cells"
        return table(caption, ["reads", *inputs, "must say", "probability"], rows)


def attend(words: list[str], mask: Tensor) -> tuple[Tensor, Tensor]:
    """The weights ``(T, T)``, and the probability of what each must say ``(T,)``."""
    T = len(words)
    outputs = [*words[1:], "<eos>"]
    names = list(dict.fromkeys(outputs))  # (V,)
    scores = torch.full((T, T), OTHER)
    scores[:, 0] = SOS
    scores.diagonal(1).fill_(NEXT)
    values = torch.zeros(T, len(names))  # (T, V) <sos> says nothing
    for s, word in enumerate(words[1:], 1):
        values[s, names.index(word)] = VOTE
    query, key = math.sqrt(T) * scores, torch.eye(T)  # their product is √d_k · scores
    logits, weights = scaled_dot_product_attention(
        query[None, None], key[None, None], values[None, None], mask[None, None]
    )
    probabilities = logits[0, 0].softmax(-1)  # (T, V)
    answers = torch.tensor([names.index(word) for word in outputs])  # (T,)
    return weights[0, 0], probabilities.gather(1, answers[:, None])[:, 0]


THING = Mask
