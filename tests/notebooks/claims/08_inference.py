"""What chapter 08 says about the trained model, with room for another processor."""

from typing import Any

import torch

import nmt_lib as nmt
from nmt_lib.own_translator import eleven

HEUREUSE = "Une fille est très heureuse."


def test_heureux_is_the_strongest_runner_up_and_stays_in_the_beam(chapter: Any) -> None:
    assert chapter.pair.tgt == HEUREUSE == chapter.words.decode(chapter.greedy)
    runners_up = [best.indices[1].item() for best in chapter.two]
    happy = chapter.words.tokenize(HEUREUSE).index("heureuse")
    assert chapter.words.lookup_tokens([runners_up[happy]]) == ["heureux"]
    others = [p for i, p in enumerate(chapter.runner_up.log()) if i != happy]
    assert chapter.runner_up[happy].log() > max(others) + 0.2
    found = {chapter.words.decode(h.ids) for h in chapter.hypotheses}
    assert {HEUREUSE, "Une fille est très heureux."} <= found


def test_nearly_all_sentences_come_out_exactly(chapter: Any) -> None:
    assert chapter.result.exact >= 0.95


def test_a_cache_that_does_not_follow_spares_the_best_translation(chapter: Any) -> None:
    differ = torch.zeros(3)
    for good, bad in zip(chapter.good, chapter.bad, strict=True):
        for i in range(3):
            differ[i] += good.n_best[i : i + 1] != bad.n_best[i : i + 1]
    assert differ[0] <= 10 and differ[1:].min() >= 50


def test_a_large_alpha_prolongs_the_search(chapter: Any) -> None:
    steps = []
    for alpha in (0.0, 2.0):
        trace: list[nmt.Candidate] = []
        nmt.beam_search(chapter.model, chapter.src, 3, alpha, trace=trace)
        steps.append(trace[-1].step)
    assert steps[1] > 2 * steps[0]


def test_unknown_words_get_a_translation(chapter: Any) -> None:
    assert all(t.text for t in chapter.translator(["Zyx qwv brt.", "😀 😀"]))


def test_the_right_sentence_is_far_more_likely_than_short_ones(chapter: Any) -> None:
    right, *short = chapter.asked
    assert right > max(short) + 3


def test_a_translator_of_the_printed_answers_is_the_librarys(chapter: Any) -> None:
    own = {one.name: one.right for one in eleven()}
    mine = nmt.MyTransformer(chapter.translator, own)
    pairs = zip(chapter.tests, chapter.result.translations, strict=True)
    alike = sum(mine(pair.src) == found.text for pair, found in pairs)
    assert alike == len(chapter.tests) == 500
