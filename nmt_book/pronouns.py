"""Chapter 09 and its deeper page: which path brings a noun's gender to its pronoun."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

import nmt_lib as nmt

NOUNS = {
    "il": ("sofa", "bed", "bench", "bicycle"),
    "elle": ("chair", "lamp", "car", "table"),
}


class Scene(NamedTuple):
    """A translated sentence, with the positions of noun, "it" and pronoun."""

    text: str
    src: Tensor  # (1, S)
    tgt: Tensor  # (1, T + 1)
    noun: int  # columns of the encoder's maps
    it: int
    t: int  # the row in which the pronoun is written
    maps: nmt.Attention


def scene(translator: nmt.Translator, noun: str) -> Scene:
    """The sentence of section 3, with position 0 for a word that does not occur."""

    def find(words: Sequence[str], *targets: str) -> int:
        return next((i for i, word in enumerate(words) if word in targets), 0)

    out = translator(f"The {noun} is new and it is very comfortable.")
    src, tgt = translator.encode(out.source), translator.tgt_tokenizer.encode(out.text)
    return Scene(
        out.text,
        torch.tensor([src]),
        torch.tensor([tgt]),
        find(out.src_labels, noun),
        find(out.src_labels, "it"),
        find(out.tokens, "il", "elle", "er", "sie", "es"),
        out.attention,
    )


def scenes(translator: nmt.Translator) -> dict[str, list[Scene]]:
    """Four scenes for each pronoun."""
    return {p: [scene(translator, noun) for noun in NOUNS[p]] for p in NOUNS}


def names(rows: Sequence[tuple[str, ...]]) -> list[str]:
    return [" and ".join(row) or "nothing" for row in rows]


def means(
    probability: Callable[..., float],
    scenes: dict[str, list[Scene]],
    rows: Sequence[tuple[str, ...]],
) -> Tensor:
    """Mean probability with the paths of each row masked, ``(rows, pronouns)``."""
    table = [
        [sum(probability(s, *row) for s in group) / len(group) for row in rows]
        for group in scenes.values()
    ]
    return torch.tensor(table).T


def pronoun(
    translator: nmt.Translator,
    scene: Scene,
    encoder: Tensor,
    decoder: Tensor,
    cross: Tensor,
) -> float:
    """The probability of the pronoun under these masks.

    Args:
        encoder, decoder: of self-attention, in all layers.
        cross: of cross-attention, ``(n_layers, H, T, S)``.
    """
    model = translator.model
    memory = model.encode(scene.src, encoder)  # (1, S, D)
    x = model.tgt_embedding(scene.tgt[:, :-1])  # (1, T, D)
    for layer, mask in zip(model.decoder.layers, cross, strict=True):
        x = layer(x, memory, mask[None], decoder)  # (1, T, D)
    logits = model.output(model.decoder.norm(x))[0, scene.t]  # (V,)
    return float(logits.softmax(-1)[scene.tgt[0, scene.t + 1]])


def up_to_pronoun(
    translator: nmt.Translator, nouns: Sequence[str]
) -> tuple[Tensor, Tensor]:
    """Sources ``(B, S)``, and targets up to the pronoun, without it, ``(B, T)``."""
    examples = [scene(translator, noun) for noun in nouns]
    src = torch.cat([scene.src for scene in examples])  # (B, S)
    return src, torch.cat([scene.tgt[:, : scene.t + 1] for scene in examples])


def one_word_id(translator: nmt.Translator, word: str) -> int:
    (token_id,) = translator.tgt_tokenizer.encode(word, sos=False, eos=False)
    return int(token_id)


def table(
    effect: Callable[..., float], sites: Sequence[str], change: Any, n: int
) -> Tensor:
    """The effect at each site and each of n positions or heads, ``(len(sites), n)``."""
    rows = [[effect(site, change(at)) for at in range(n)] for site in sites]
    return torch.tensor(rows)
