"""What chapter 08 says about the trained model, with room for another processor."""

from pathlib import Path
from typing import Any

import torch

import nmt_book as book
import nmt_lib as nmt
from nmt_book.yours.translator import eleven
from nmt_lib.translate.search import Candidate

FOLDER = Path(nmt.__file__).parent / "pretrained"


def test_nearly_all_sentences_come_out_exactly(chapter: Any) -> None:
    assert chapter.result.exact >= 0.95


def test_a_cache_that_does_not_follow_spares_the_best_translation(chapter: Any) -> None:
    differ = torch.zeros(3)
    for good, bad in zip(chapter.good, chapter.bad, strict=True):
        for i in range(3):
            differ[i] += good.n_best[i : i + 1] != bad.n_best[i : i + 1]
    assert differ[0] <= 10 and differ[1:].min() >= 50


def test_a_large_alpha_prolongs_the_search(chapter: Any) -> None:
    steps, src = [], torch.tensor([chapter.translator.encode(chapter.pair.src)])
    for alpha in (0.0, 2.0):
        trace: list[Candidate] = []
        nmt.beam_search(chapter.translator.model, src, 3, alpha, trace=trace)
        steps.append(trace[-1].step)
    assert steps[1] > 2 * steps[0]


def test_unknown_words_get_a_translation(chapter: Any) -> None:
    assert all(t.text for t in chapter.translator(["Zyx qwv brt.", "😀 😀"]))


def test_half_of_the_sentences_survive_a_draw(chapter: Any) -> None:
    assert 35 <= chapter.right <= 75


def test_in_our_run_what_is_wrong_are_model_errors(chapter: Any) -> None:
    for pair, found in chapter.wrong:
        asked = [nmt.Pair(pair.src, found.text), pair]
        own, reference = nmt.sentence_log_probs(chapter.translator, asked)
        assert own > reference


def test_over_the_captions_a_beam_finds_what_greedy_search_misses(chapter: Any) -> None:
    texts = (FOLDER / "captions.txt").read_text(encoding="utf-8").split("\n")[:50]
    found = [
        chapter.german.translate(texts, beam_size=K, length_penalty=0.0) for K in (1, 5)
    ]
    better = [b.score > a.score + 0.01 for a, b in zip(found[0], found[1], strict=True)]
    assert len(texts) == 50 and 5 <= sum(better) <= 9
    assert 8 < sum(len(one.tokens) for one in found[1]) / 50 < 10


def test_a_translator_of_the_printed_answers_is_the_librarys(chapter: Any) -> None:
    own = {one.name: one.right for one in eleven()}
    mine = book.MyTransformer(chapter.translator, own)
    pairs = zip(chapter.tests, chapter.result.translations, strict=True)
    alike = sum(mine(pair.src) == found.text for pair, found in pairs)
    assert alike == len(chapter.tests) == 500
