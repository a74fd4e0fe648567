"""What the page on language models says of models that it trains for one pass."""

from typing import Any

import nmt_lib as nmt
from nmt_book.yours.trials import captions
from nmt_book.yours.try_it import load_cached, replace_parts


def test_the_gate_learns_fastest_and_added_sines_are_no_help_yet(chapter: Any) -> None:
    losses = dict(chapter.losses)
    first = losses.pop("pre-LN")
    assert losses["gated"] < first - 0.1
    assert losses["gated"] == min(losses.values())
    assert max(losses["rotary"], losses["no positions"]) < first + 0.05
    assert losses["RMSNorm"] > first
    assert all(abs(loss - first) < 0.6 for loss in losses.values())


def test_in_our_run_one_group_is_behind(chapter: Any) -> None:
    assert chapter.losses["one group"] > chapter.losses["pre-LN"]


def test_a_trained_translator_needs_the_mean_of_its_norms(chapter: Any) -> None:
    theirs = load_cached("multi30k-en-de")
    yours = replace_parts(theirs, rms_norm=chapter.check.rms_norm.right)
    found, expected = (model.translate(captions()) for model in (yours, theirs))
    both = zip(found, expected, strict=True)
    assert not any(one.text == other.text for one, other in both)


def test_a_single_stack_needs_nearly_twice_the_operations(chapter: Any) -> None:
    batch = nmt.make_batch(chapter.examples[:64])
    both, single = (
        chapter.lab.operations(chapter.models[name], batch, chapter.n_src)
        for name in ("pre-LN", "decoder only")
    )
    assert 1.7 < single / both < 2
    both, single = (
        nmt.count_parameters(chapter.models[name])
        for name in ("pre-LN", "decoder only")
    )
    assert round(100 * (1 - single / both)) == 13


def test_the_single_stack_writes_what_it_has_learnt(chapter: Any) -> None:
    assert chapter.loss < 0.5
    written = chapter.write(chapter.writer, chapter.corpus.valid[0].src)
    assert len(set(written.split()) & {"Le", "garçon", "ne", "pleure", "pas."}) >= 3
