"""Chapter 09 and its deeper page: does the English or the French decide the pronoun?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor

import nmt_lib as nmt
from nmt_lib.errors import warn

NOUNS = {
    "il": ("sofa", "bed", "bench", "bicycle"),
    "elle": ("chair", "lamp", "car", "table"),
}
FRAME = "The {} is new and it is very comfortable."
Exchange = Callable[[Callable[..., float], Any, Any], Sequence[float]]


class Scene(NamedTuple):
    """A translated sentence, with the positions of noun and pronoun."""

    text: str
    src: Tensor  # (1, S)
    tgt: Tensor  # (1, T + 1)
    noun: int  # a column of the encoder's maps
    t: int  # the row in which the pronoun is written
    maps: nmt.Attention


def scene(translator: nmt.Translator, noun: str, frame: str = FRAME) -> Scene:
    """The sentence about a noun; a warning names a word that does not occur."""

    def find(words: Sequence[str], *targets: str) -> int:
        for i, word in enumerate(words):
            if word in targets:
                return i
        warn(f"none of {', '.join(targets)} in: {' '.join(words)}")
        return 0

    out = translator(frame.format(noun))
    src, tgt = translator.encode(out.source), translator.tgt_tokenizer.encode(out.text)
    return Scene(
        out.text,
        torch.tensor([src]),
        torch.tensor([tgt]),
        find(out.src_labels, noun),
        find(out.tokens, "il", "elle", "er", "sie", "es"),
        out.attention,
    )


def scenes(
    translator: nmt.Translator,
    nouns: Mapping[str, Sequence[str]] = NOUNS,
    frame: str = FRAME,
) -> dict[str, list[Scene]]:
    """Pronoun → a scene for each noun whose translation has a pronoun."""
    return {
        pronoun: [s for s in (scene(translator, n, frame) for n in several) if s.t]
        for pronoun, several in nouns.items()
    }


def p_il(
    translator: nmt.Translator,
    english: Scene,
    french: Scene,
    closed: Any = None,
    hidden: Sequence[int] = (),
    detour: bool = True,
) -> float:
    """P(il) after the French words of one scene, with the English of another.

    Args:
        closed: heads of cross-attention, as (layer, head), or ``...`` for all: they
            may not look at the noun while the pronoun is written.
        hidden: positions of French words that the decoder may not read in that step.
        detour: whether other English words may read the noun in the encoder.
    """
    model, src = translator.model, english.src  # (1, S)
    tgt_in = french.tgt[:, : french.t + 1]  # (1, T)
    S, T, H = src.size(1), tgt_in.size(1), translator.config.model.n_heads
    encoder, decoder = torch.ones(1, 1, S, S).bool(), nmt.causal_mask(T)
    encoder[..., torch.arange(S) != english.noun, english.noun] = detour
    decoder[..., french.t, list(hidden)] = False
    cross = torch.ones(len(model.decoder.layers), H, T, S).bool()
    if closed is not None:
        cross[..., french.t, english.noun][closed] = False
    memory = model.encode(src, encoder)  # (1, S, D)
    x = model.tgt_embedding(tgt_in)  # (1, T, D)
    for layer, mask in zip(model.decoder.layers, cross, strict=True):
        x = layer(x, memory, mask[None], decoder)
    logits = model.output(model.decoder.norm(x))[0, french.t]  # (V,)
    return float(logits.softmax(-1)[word_id(translator, "il")])


def believed(
    exchange: Exchange,
    translator: nmt.Translator,
    scenes: Mapping[str, Sequence[Scene]],
    **changes: Any,
) -> Tensor:
    """How much P(il) follows the English, and how much the French. (2,)

    The mean over all couples of a masculine and a feminine scene.

    Args:
        exchange: chapter 09's.
        changes: of ``p_il``.
    """
    p = partial(p_il, translator, **changes)
    couples = [exchange(p, il, elle) for il in scenes["il"] for elle in scenes["elle"]]
    return torch.tensor(couples).mean(0)


def up_to_pronoun(
    translator: nmt.Translator, nouns: Sequence[str]
) -> tuple[Tensor, Tensor]:
    """Sources ``(B, S)``, and targets up to the pronoun, without it, ``(B, T)``.

    Raises:
        ValueError: a translation without a pronoun.
    """
    examples = [scene(translator, noun) for noun in nouns]
    if without := [scene.text for scene in examples if not scene.t]:
        raise ValueError(f"no pronoun in {without[0]!r}: take another train.seed")
    src = torch.cat([scene.src for scene in examples])  # (B, S)
    return src, torch.cat([scene.tgt[:, : scene.t + 1] for scene in examples])


def word_id(translator: nmt.Translator, word: str) -> int:
    """The id of a word, or of its last piece."""
    return int(translator.tgt_tokenizer.encode(word, sos=False, eos=False)[-1])


def table(
    effect: Callable[..., float], sites: Sequence[str], change: Any, n: int
) -> Tensor:
    """The effect at each site and each of n positions or heads, ``(len(sites), n)``."""
    rows = [[effect(site, change(at)) for at in range(n)] for site in sites]
    return torch.tensor(rows)
