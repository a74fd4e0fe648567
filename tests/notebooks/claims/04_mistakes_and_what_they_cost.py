"""What the page on mistakes says of the trained tiny model, in numbers."""

from typing import Any

import nmt_lib as nmt
from nmt_book.yours.try_it import replace_parts


def kept(chapter: Any, use_cache: bool = False, **parts: Any) -> tuple[int, float]:
    """How many of the 100 translations stay, and the perplexity of the references."""
    yours, sources = (
        replace_parts(chapter.tiny, **parts),
        [p.src for p in chapter.pairs],
    )
    found = yours.translate(sources, use_cache=use_cache)
    both = zip(found, chapter.tiny.translate(sources), strict=True)
    same = sum(a.text == b.text for a, b in both)
    return same, nmt.perplexity(yours, chapter.pairs)


def test_tiny_forgives_a_missing_root_norm_and_gain(chapter: Any) -> None:
    assert kept(chapter, attention=chapter.no_root)[0] >= 95
    assert kept(chapter, encoder_layer=chapter.one_norm)[0] >= 95
    assert kept(chapter, layer_norm=chapter.no_gain)[0] >= 95


def test_without_the_causal_mask_translations_stay_and_the_loss_does_not(
    chapter: Any,
) -> None:
    same, surprise = kept(chapter, causal_mask=chapter.all_visible)
    assert same >= 85 and surprise > 3


def test_sine_and_cosine_exchanged_is_a_disaster_when_put_in(chapter: Any) -> None:
    same, surprise = kept(chapter, table=chapter.cosine_first)
    assert same < 60 and surprise > 1.4


def test_the_cache_hides_a_softmax_over_the_whole_table(chapter: Any) -> None:
    without, surprise = kept(chapter, attention=chapter.whole_table)
    with_cache, _ = kept(chapter, use_cache=True, attention=chapter.whole_table)
    assert without < 40 and with_cache > without + 30 and surprise > 2
