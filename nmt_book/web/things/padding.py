"""How much of a batch is padding, chapters 01 and 03."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import torch

from nmt_lib.data.batches import sentence_batches

from ...chapter03.lab import caption_lengths, padding_share
from ..play import Thing, table

SIZES = (1, 2, 4, 8, 16, 32, 64, 128)
N_SENTENCES = 256


class Padding(Thing):
    """Real sentences in batches of one size."""

    title: ClassVar = "How much of a batch is padding"
    tries: ClassVar = (
        "Make the batches larger, and then put sentences of similar length together. A "
        "line is a sentence; blue is text, and gold is padding."
    )
    shows: ClassVar = (
        "The longest sentence decides for its whole batch, so larger batches of "
        "sentences as they come hold more padding, while sentences of similar length "
        "hardly need any."
    )
    size: Literal[1, 2, 4, 8, 16, 32, 64, 128] = 16
    order: Literal["drawn", "alike"] = "drawn"

    def given(self) -> dict[str, Any]:
        return {"lengths": lengths()[:, 0].tolist()}

    def picture(self) -> str:
        rows = {}
        for size in SIZES:
            shares = []
            for sentences in (lengths(), lengths().sort(0).values):  # (n, 1)
                plan = torch.arange(N_SENTENCES).split(size)
                share = padding_share(sentences, [one.tolist() for one in plan])
                shares.append(f"{share:.0%}")
            rows[f"{size} sentences"] = shares
        caption = "How much of the batches is padding; run the cell to see them"
        return table(caption, ["a batch", "as they come", "of similar length"], rows)


def lengths() -> torch.Tensor:
    """``(n, 1)`` of captions, drawn by lot."""
    every = caption_lengths()  # (29000, 2)
    return every[sentence_batches(len(every), N_SENTENCES, seed=0)[0], :1]


THING = Padding
