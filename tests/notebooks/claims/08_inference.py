"""What chapter 08 says about the trained model, with room for another processor."""

from pathlib import Path
from typing import Any

import torch

import nmt_book as book
import nmt_lib as nmt
from nmt_book.yours.translator import eleven
from nmt_lib.translate.search import Candidate

FOLDER = Path(nmt.__file__).parent / "pretrained"
TYPED = Path(__file__).parents[1] / "typed.txt"


def test_nearly_all_sentences_come_out_exactly(chapter: Any) -> None:
    assert nmt.evaluate(chapter.translator, chapter.corpus.test).exact >= 0.95


def test_a_large_alpha_prolongs_the_search(chapter: Any) -> None:
    steps, src = [], torch.tensor([chapter.translator.encode(chapter.pair.src)])
    for alpha in (0.0, 2.0):
        trace: list[Candidate] = []
        nmt.beam_search(chapter.translator.model, src, 3, alpha, trace=trace)
        steps.append(trace[-1].step)
    assert steps[1] > 2 * steps[0]


def test_nearly_all_that_a_reader_types_is_answered(chapter: Any) -> None:
    """Fourteen models: three answers of 2,800 are empty, one lacks its full stop."""
    texts = TYPED.read_text(encoding="utf-8").split("\n")[:-1]
    found = chapter.translator([*texts, "Zyx qwv brt.", "😀 😀"])
    stops = [one.text.endswith(".") for one in found]
    assert all("<unk>" not in one.text for one in found) and stops.count(False) <= 5
    unknown = [nmt.UNK in chapter.translator.encode(text) for text in texts]
    assert (len(texts), sum(unknown)) == (200, 141)
    if chapter.config.train.seed == 2:
        assert found[-1].text == found[-2].text == "Hier, la s'."


def test_half_of_the_sentences_survive_sampling_and_more_of_the_short_ones(
    chapter: Any,
) -> None:
    assert 30 <= sum(chapter.right) <= 80
    pairs = chapter.corpus.test
    survive = nmt.sentence_log_probs(chapter.translator, pairs)  # [500]
    short = torch.tensor([len(pair.tgt.split()) < 9 for pair in pairs])
    p = torch.tensor(survive).exp()  # (500,)
    assert p[short].mean() > p[~short].mean() + 0.05 and 0.5 < p.mean() < 0.7
    right = 0
    for pair in pairs[:100]:
        drawn = chapter.sample(chapter.start(chapter.translator, pair.src), 0.5, 50)
        right += chapter.words.decode(drawn) == pair.tgt
    assert right >= 90  # 6 models: 0.98 or 0.99 of all


def test_two_of_the_bad_translations_are_search_errors(chapter: Any) -> None:
    """And the other two, and the ducks', are model errors."""
    german = chapter.german
    pairs = [nmt.Pair(*both) for both in chapter.references.items()]
    reference = nmt.sentence_log_probs(german, pairs)
    greedy, three, wide = (
        german.translate([*chapter.references], beam_size=K, length_penalty=0.0)
        for K in (1, 3, 60)
    )
    for i, search_error in enumerate((True, True, False, False)):
        assert (reference[i] > greedy[i].score + 0.05) == search_error
        assert (three[i].text == pairs[i].tgt) == search_error
        assert wide[i].text == three[i].text


def test_over_the_captions_a_beam_finds_what_greedy_search_misses(chapter: Any) -> None:
    texts = (FOLDER / "captions.txt").read_text(encoding="utf-8").split("\n")[:50]
    found = [
        chapter.german.translate(texts, beam_size=K, length_penalty=0.0)
        for K in (1, 5, 60)
    ]
    assert all(c.score < b.score + 0.01 for b, c in zip(*found[1:], strict=True))
    better = [b.score > a.score + 0.01 for a, b in zip(found[0], found[1], strict=True)]
    assert len(texts) == 50 and 5 <= sum(better) <= 9
    assert 8 < sum(len(one.tokens) for one in found[1]) / 50 < 10


def test_a_translator_of_the_printed_answers_is_the_librarys(chapter: Any) -> None:
    own = {one.name: one.right for one in eleven()}
    mine = book.MyTransformer(chapter.translator, own)
    texts = [pair.src for pair in chapter.corpus.test]
    found = chapter.translator.translate(texts)
    alike = [mine(text) == one.text for text, one in zip(texts, found, strict=True)]
    assert sum(alike) == 500
