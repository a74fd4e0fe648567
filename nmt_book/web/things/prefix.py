"""The prefix test, word by word, chapter 06."""

from __future__ import annotations

from typing import Any, ClassVar

import torch
from pydantic import Field

from nmt_lib.data.tokens import EOS
from nmt_lib.errors import ConfigError
from nmt_lib.model.attention import padding_mask, target_mask

from ..play import Thing, table
from .beam import loaded

SUBSTITUTES = 3  # words to try at each position
LONGEST = 40  # positions that are shown


class Prefix(Thing):
    """A trained model reads its own translation, with one word changed."""

    title: ClassVar = "Who sees a changed word?"
    tries: ClassVar = (
        "Press a cell: the word of its column becomes another one, and the column says "
        "how far the logits move at each position. Then take away the causal mask."
    )
    shows: ClassVar = (
        "With the causal mask the columns make a staircase: a word moves the logits at "
        "its own position and later, never before. Without it every position moves, "
        "even the one that must say this very word."
    )
    text: str = Field("Two dogs are playing in the snow.", max_length=100)
    model: str = "multi30k-en-de"
    causal: bool = True

    def given(self) -> dict[str, Any]:
        return moved(self.model, self.text)

    def picture(self) -> str:
        moves = moved(self.model, self.text)
        columns = [c["changes"][0][not self.causal] for c in moves["columns"]]
        rows = {
            f"{t}: {word}": [f"{column[t]:.1f}" for column in columns]
            for t, word in enumerate(moves["words"])
        }
        titles = [f"{c['word']} → {c['others'][0]}" for c in moves["columns"]]
        caption = (
            "How far the logits of a position (row) move when a word (column) is "
            "changed; run the cell to change it"
        )
        return table(caption, ("position", *titles), rows)


@torch.no_grad()
def moved(model: str, text: str) -> dict[str, Any]:
    """What the decoder reads, and for each of its words but ``<sos>`` others that the
    model might have said, with ``changes``: the largest change of a logit at each
    position, with the causal mask and without it."""
    translator = loaded(model)
    src = torch.tensor([translator.encode(text)])  # (1, S)
    if not src.numel():
        raise ConfigError("cannot play 'prefix': the text is empty")
    transformer, name = translator.model, translator.tgt_tokenizer.lookup_tokens
    (translation,) = translator.translate([text], beam_size=1)
    tgt_in = torch.tensor([translator.tgt_tokenizer.encode(translation.text)])[:, :-1]
    if tgt_in.size(1) > LONGEST:
        raise ConfigError(
            f"cannot play 'prefix': the translation has {tgt_in.size(1)} subwords, and "
            f"{LONGEST} can be shown: give a shorter text"
        )
    masks = target_mask, padding_mask
    logits = [transformer(src, tgt_in, tgt_mask=mask(tgt_in))[0] for mask in masks]
    columns = []
    for j in range(1, tgt_in.size(1)):
        right, likely = int(tgt_in[0, j]), logits[0][j - 1].topk(200).indices.tolist()
        words = [i for i in likely if i > EOS and i != right]
        substitutes = [i for i in words if alike(name([right, i]))][:SUBSTITUTES]
        changes = []
        for substitute in substitutes:
            variant = tgt_in.clone()  # (1, T)
            variant[0, j] = substitute
            results = [transformer(src, variant, tgt_mask=m(variant))[0] for m in masks]
            gaps = [
                (a - b).abs().amax(-1)  # (T,)
                for a, b in zip(results, logits, strict=True)
            ]
            changes.append([[round(x, 2) for x in gap.tolist()] for gap in gaps])
        names = [token.replace("▁", "") for token in name([right, *substitutes])]
        columns.append({"word": names[0], "others": names[1:], "changes": changes})
    return {
        "words": ["<sos>", *(column["word"] for column in columns)],
        "columns": columns,
    }


def alike(tokens: list[str]) -> bool:
    """Whether both begin a word, of two letters at least, or neither does."""
    right, substitute = (len(token) > 2 and token.startswith("▁") for token in tokens)
    return right == substitute and substitute == tokens[1].startswith("▁")


THING = Prefix
