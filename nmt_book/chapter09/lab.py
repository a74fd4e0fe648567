"""Chapter 09: how well each head aligns words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

import nmt_lib as nmt


def find(pairs: Any, *parts: str) -> nmt.Pair:
    """The first pair whose source has all the parts; if none has, the first pair."""
    matches = (pair for pair in pairs if all(part in pair.src for part in parts))
    return next(matches, pairs[0])


def embedded(translator: nmt.Translator, text: str) -> Tensor:
    """What the first layer of the encoder projects, ``(S, D)``."""
    x = translator.model.src_embedding(torch.tensor([translator.encode(text)]))
    if translator.config.model.norm == "pre":
        first: Any = translator.model.encoder.layers[0]
        x = first.around_attention.norm(x)
    return x[0]


def score_heads(
    translator: nmt.Translator,
    score: Callable[[Any, Any], Any],
    pairs: Any,
    shift: int = 0,
) -> Tensor:
    """Mean score of each head of cross-attention. (n_layers, H)

    The decoder is given the right translation; ``shift`` drops the first rows.
    """
    scores = []
    for pair in pairs:
        target = translator.tgt_tokenizer.encode(pair.tgt, sos=False, eos=False)
        maps = torch.cat(translator.attend(translator.encode(pair.src), target).cross)
        links = {*pair.alignment} or {(0, 0)}  # where no links are known
        heads = maps[:, :, shift:][:, :, : len(target)].flatten(0, 1)  # (…, T, S)
        scores.append([score(head, links) for head in heads])
    return torch.tensor(scores).view(len(pairs), len(maps), -1).mean(0)


LINKS = {  # captions, and words of theirs linked by hand
    "Two dogs are playing in the snow.": (
        "Two=Zwei dogs=Hunde playing=spielen snow=Schnee"
    ),
    "A man with a hat is riding a bicycle.": (
        "man=Mann with=mit hat=Hut bicycle=Fahrrad"
    ),
    "A woman in a red coat is waiting at the bus stop.": (
        "woman=Frau red=roten coat=Mantel waiting=wartet"
    ),
    "Three children are playing with a ball on the beach.": (
        "Three=Drei children=Kinder ball=Ball beach=Strand"
    ),
    "An old man is reading a newspaper on a bench.": (
        "old=alter man=Mann reading=liest newspaper=Zeitung bench=Bank"
    ),
    "A brown horse is running across a field.": "horse=Pferd across=über field=Feld",
    "The cook is cutting vegetables in a small kitchen.": (
        "vegetables=Gemüse small=kleinen kitchen=Küche"
    ),
    "Two girls in white dresses are dancing on a stage.": (
        "girls=Mädchen white=weißen dancing=tanzen stage=Bühne"
    ),
}


def found_links(translator: nmt.Translator) -> Tensor:
    """For each link by hand, layer and head, then the mean of the heads: whether the
    largest weight is there. (31, n_layers, H + 1)"""
    right = []
    captions = zip(translator.translate([*LINKS]), LINKS.values(), strict=True)
    for out, links in captions:
        maps = torch.cat(out.attention.cross)  # (n_layers, H, T, S)
        maps = torch.cat([maps, maps.mean(1, keepdim=True)], 1)
        for source, target in (link.split("=") for link in links.split()):
            across, down = out.src_labels, out.tokens
            if f"▁{source}" in across and f"▁{target}" in down:
                s, t = across.index(f"▁{source}"), down.index(f"▁{target}")
                right.append(maps[:, :, t].argmax(-1) == s)
    return torch.stack(right)


def backwards(
    translator: nmt.Translator, shown: nmt.Translation, layer: int, head: int
) -> tuple[nmt.Translation, list[bool]]:
    """The words in reverse order, translated; for each word that is written again,
    whether the head looks at the same source word."""
    words = translator.src_tokenizer.tokenize(shown.source)
    out, sources = translator(" ".join(words[-2::-1]) + " ."), []
    for translation in (shown, out):
        best = translation.attention.cross[layer][0, head].argmax(-1).tolist()  # [T]
        looks = zip(translation.tokens, best, strict=False)  # best: also of <eos>
        sources.append({word: translation.src_labels[s] for word, s in looks})
    return out, [
        sources[0][word] == sources[1][word]
        for word in sources[0]
        if word in sources[1]
    ]
