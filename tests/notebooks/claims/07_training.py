"""What chapter 07 says about its trainings, with room for another processor."""

import math
from typing import Any

import nmt_lib as nmt


def test_only_post_ln_without_warm_up_stands_still(chapter: Any) -> None:
    warm, cold, pre = (
        sum(losses[-20:]) / 20 for losses in (chapter.warm, chapter.cold, chapter.pre)
    )
    assert warm < 3.5 and pre < 3
    assert cold > 4


def test_a_leak_has_a_splendid_loss_and_no_translations(chapter: Any) -> None:
    for losses in (chapter.honest_losses, chapter.leaky_losses):
        assert (
            abs(losses[0] - math.log(len(chapter.tgt_tok))) < 1.5 and losses[-1] < 0.05
        )
    pairs, right = chapter.corpus.train[:16], {}
    for name in ("honest", "leaky", "copier"):
        said = chapter.translate(getattr(chapter, name), pairs)
        right[name] = sum(
            text == pair.tgt for text, pair in zip(said, pairs, strict=True)
        )
    assert right["honest"] >= 15
    assert right["leaky"] <= 2 and right["copier"] <= 1
    assert (
        nmt.cross_entropy(
            chapter.copier(chapter.few.src, chapter.few.tgt_in), chapter.few.tgt_in
        )
        < 0.05
    )


def test_a_validation_loss_does_not_uncover_the_leak(chapter: Any) -> None:
    assert chapter.loss < 0.2 and chapter.share > 0.95 and chapter.right <= 1
