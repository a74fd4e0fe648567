"""What can be asked about a translator in which something may be broken
(``fault.py``): each question answers with one line.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from nmt_lib.data.batches import encode_pairs, make_batch
from nmt_lib.data.pairs import Pair
from nmt_lib.training.loss import validation_loss
from nmt_lib.translate.translator import Translation, Translator

from .trials import captions
from .try_it import loaded, quick


def text(translator: Translator) -> str:
    found = translator.translate(texts())
    return f"{right(found)} translations right; {texts()[0]} → {found[0]!s:.50}"


def cache(translator: Translator) -> str:
    def said(use_cache: bool) -> str:
        found = translator.translate(texts(), use_cache=use_cache)
        score = sum(one.score for one in found) / len(found)
        return f"{right(found)} right, mean score {score:.3f}"

    return f"with the cache {said(True)}; without it {said(False)}"


def alone(translator: Translator) -> str:
    one_by_one = [translator.translate(source) for source in texts()]
    together = right(translator.translate(texts()))
    return f"in one batch {together} right; one by one {right(one_by_one)}"


def loss(translator: Translator) -> str:
    tokenizers = translator.src_tokenizer, translator.tgt_tokenizer
    pairs = [Pair(*pair) for pair in zip(texts(), right_texts(), strict=True)]
    examples = encode_pairs(pairs, tokenizers, translator.config)
    batches = [make_batch([example]) for example in examples]
    together = validation_loss(translator.model, [make_batch(examples)])
    one_by_one = validation_loss(translator.model, batches)
    return f"loss in one batch {together:.2f}; one by one {one_by_one:.2f}"


def beam(translator: Translator) -> str:
    found = translator.translate(texts(), beam_size=4)
    best = [one.score == max(score for _, score in one.n_best) for one in found]
    return f"in {sum(best)} of {len(best)} beams the first hypothesis scores best"


def attention_map(translator: Translator) -> str:
    one = translator.translate(texts()[0])
    sums = one.attention.cross[-1].sum(-1)  # (1, H, T)
    future = one.attention.decoder[-1].triu(1).sum(-1).mean()  # of (1, H, T)
    rows = f"rows {' '.join(one.tgt_labels[:3])} … sum to {sums.min():.2f}"
    return f"{rows} to {sums.max():.2f}; weight on the future {future:.2f}"


def shuffle(translator: Translator) -> str:
    def changed(sources: list[str]) -> int:
        found = zip(
            translator.translate(texts()), translator.translate(sources), strict=True
        )
        return sum(before.text != after.text for before, after in found)

    backwards = changed([" ".join(source.split()[::-1]) for source in texts()])
    others = changed([f"A horse {source.split(' ', 2)[2]}" for source in texts()])
    return (
        f"{backwards} of {len(texts())} translations change with the words in another "
        f"order, {others} with two other words"
    )


QUESTIONS: dict[str, Callable[[Translator], str]] = {
    "text": text,
    "loss": loss,
    "cache": cache,
    "alone": alone,
    "beam": beam,
    "map": attention_map,
    "shuffle": shuffle,
}


def texts() -> list[str]:
    return captions()[:12]


def right(found: list[Translation]) -> str:
    pairs = zip(found, right_texts(), strict=True)
    return f"{sum(one.text == expected for one, expected in pairs)} of {len(found)}"


@lru_cache
def right_texts() -> list[str]:
    """The translations while nothing is broken: ``plant`` asks for them first."""
    return [one.text for one in patient().translate(texts())]


@lru_cache
def patient() -> Translator:
    return quick(loaded("multi30k-en-de"), beam_size=1)
