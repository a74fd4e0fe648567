"""Questions about a translator in which something may be broken (``fault.py``).

Each question is answered in one line.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from nmt_lib.data.batches import encode_pairs, make_batch
from nmt_lib.data.pairs import Pair
from nmt_lib.training.loss import validation_loss
from nmt_lib.translate.translator import Translation, Translator

from .trials import captions
from .try_it import limit_search, load_cached


def text(translator: Translator) -> str:
    translations = translator.translate(texts())
    example = f"{texts()[0]} → {translations[0]!s:.50}"
    return f"{count_right(translations)} translations right; {example}"


def cache(translator: Translator) -> str:
    def describe(use_cache: bool) -> str:
        translations = translator.translate(texts(), use_cache=use_cache)
        score = sum(t.score for t in translations) / len(translations)
        return f"{count_right(translations)} right, mean score {score:.3f}"

    return f"with the cache {describe(True)}; without it {describe(False)}"


def batch_or_single(translator: Translator) -> str:
    one_by_one = [translator.translate(source) for source in texts()]
    together = count_right(translator.translate(texts()))
    return f"in one batch {together} right; one by one {count_right(one_by_one)}"


def loss(translator: Translator) -> str:
    tokenizers = translator.src_tokenizer, translator.tgt_tokenizer
    pairs = [Pair(*pair) for pair in zip(texts(), right_texts(), strict=True)]
    examples = encode_pairs(pairs, tokenizers, translator.config)
    batches = [make_batch([example]) for example in examples]
    together = validation_loss(translator.model, [make_batch(examples)])
    one_by_one = validation_loss(translator.model, batches)
    return f"loss in one batch {together:.2f}; one by one {one_by_one:.2f}"


def beam(translator: Translator) -> str:
    translations = translator.translate(texts(), beam_size=4)
    best = [t.score == max(score for _, score in t.n_best) for t in translations]
    return f"in {sum(best)} of {len(best)} beams the first hypothesis scores best"


def attention_map(translator: Translator) -> str:
    translation = translator.translate(texts()[0])
    sums = translation.attention.cross[-1].sum(-1)  # (1, H, T)
    future = translation.attention.decoder[-1].triu(1).sum(-1).mean()  # of (1, H, T)
    rows = f"rows {' '.join(translation.tgt_labels[:3])} … sum to {sums.min():.2f}"
    return f"{rows} to {sums.max():.2f}; weight on the future {future:.2f}"


def shuffle(translator: Translator) -> str:
    def count_changes(sources: list[str]) -> int:
        pairs = zip(
            translator.translate(texts()), translator.translate(sources), strict=True
        )
        return sum(before.text != after.text for before, after in pairs)

    backwards = count_changes([" ".join(source.split()[::-1]) for source in texts()])
    replacements = count_changes(
        [f"A horse {source.split(' ', 2)[2]}" for source in texts()]
    )
    return (
        f"{backwards} of {len(texts())} translations change with the words in another "
        f"order, {replacements} with two other words"
    )


QUESTIONS: dict[str, Callable[[Translator], str]] = {
    "text": text,
    "loss": loss,
    "cache": cache,
    "alone": batch_or_single,
    "beam": beam,
    "map": attention_map,
    "shuffle": shuffle,
}


def texts() -> list[str]:
    return captions()[:12]


def count_right(translations: list[Translation]) -> str:
    pairs = zip(translations, right_texts(), strict=True)
    return f"{sum(t.text == expected for t, expected in pairs)} of {len(translations)}"


@lru_cache
def right_texts() -> list[str]:
    """The translations of the intact library: ``plant`` computes them first."""
    return [translation.text for translation in puzzle_translator().translate(texts())]


@lru_cache
def puzzle_translator() -> Translator:
    return limit_search(load_cached("multi30k-en-de"), beam_size=1)


def refuse(*_: Any, **__: Any) -> None:
    """The code of what writes models while a case is open; no name of here is known."""
    from nmt_lib.errors import CheckpointError

    raise CheckpointError(
        "one function of nmt_lib is broken in this kernel, so nothing is trained, "
        "saved or exported: repair it with case.heal(), or restart the kernel"
    )
