"""What chapter 10 says about its students and about the trained model."""

from pathlib import Path
from typing import Any

from sacrebleu.metrics import CHRF

import nmt_lib as nmt


def test_reading_along_flatters(chapter: Any) -> None:
    words, bleu, sentences = chapter.curves.values()
    for word, score, sentence in list(zip(words, bleu, sentences, strict=True))[1:5]:
        assert word > score + 5 and word > sentence + 20
    assert bleu[0] < 2 and bleu[1] < 20 < 30 < words[1]
    assert min(words[-1], bleu[-1], sentences[-1]) > 95
    assert 75 < words[4] < 95 and 10 < sentences[4] < 60, (
        "87 % of the words, a third of the sentences"
    )


def test_order_is_learnt_before_gender(chapter: Any) -> None:
    kinds = list(chapter.contrasts)
    assert all(len(some) == 120 for some in chapter.contrasts.values())
    won = {
        name: dict(
            zip(
                kinds,
                chapter.lab.contrasts_won(judge, chapter.contrasts),
                strict=True,
            )
        )
        for name, judge in chapter.judges.items()
    }
    assert min(won.pop("trained").values()) >= 90
    for student in won.values():
        order = min(student["roles"], student["adjective place"])
        assert order > 85 and max(student["agreement"], student["pronoun"]) < order


def test_a_greedy_translation_is_right_if_each_word_read_along_is(chapter: Any) -> None:
    readings = chapter.readings[250]
    along = sum(one.along == one.right for one in readings) / len(readings)
    assert abs(along - chapter.scored.exact) < 0.01


def test_on_its_own_a_sentence_with_a_mistake_gets_worse(chapter: Any) -> None:
    wrong = [one for one in chapter.readings[250] if one.own.text != one.pair.tgt]
    pairs = [one.pair for one in wrong]
    along = chapter.lab.bleu([one.text for one in wrong], pairs)
    alone = chapter.lab.bleu([one.own.text for one in wrong], pairs)
    assert alone < along + 1


def forms(chapter: Any, judge: Any) -> dict[str, float]:
    """The share of contrasts that is won, by the form that is right."""
    return {
        form: nmt.contrastive_accuracy(judge, some)
        for kind in ("agreement", "pronoun")
        for form, some in chapter.lab.by_form(kind, chapter.contrasts[kind]).items()
    }


def test_masculine_agreement_wins_more_often_than_feminine(chapter: Any) -> None:
    for judge in (chapter.students[250], chapter.other):
        won = forms(chapter, judge)
        assert won["masculine"] > won["feminine"]


def test_in_our_run_the_student_has_a_fixed_preference(chapter: Any) -> None:
    won = forms(chapter, chapter.students[250])
    assert won["qu'elles"] > 0.9 and won["qu'ils"] <= 0.3


def test_in_our_run_another_seed_is_farther_than_other_sentences(chapter: Any) -> None:
    samples = sorted(chapter.samples["500 sentences"])
    assert 8 < samples[1950] - samples[50] < 16
    assert not samples[50] < chapter.again.bleu < samples[1950]
    assert chapter.share > 0.99


def test_contrasts_are_equally_long(chapter: Any) -> None:
    encode = chapter.trained.tgt_tokenizer.encode
    for some in chapter.contrasts.values():
        for contrast in some:
            right, wrong = encode(contrast.right), encode(contrast.wrong)
            assert len(right) == len(wrong) and nmt.UNK not in wrong


def test_scores_are_those_of_sacrebleu_and_of_the_table(chapter: Any) -> None:
    texts = [one.text for one in chapter.scored.translations]
    pairs = chapter.corpus.valid
    assert abs(chapter.scored.bleu - chapter.lab.bleu(texts, pairs)) < 1e-6
    chrf = CHRF().corpus_score(texts, [[pair.tgt for pair in pairs]]).score
    assert abs(chapter.scored.chrf - chrf) < 1e-6
    counted = chapter.bleu_of(chapter.counts.sum(0))
    assert abs(chapter.scored.bleu - counted) < 1e-3
    signature = chapter.scored.bleu_signature.split("|version")[0]
    assert signature == "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp"
    table = Path(__file__).resolve().parents[3] / "benchmarks/results/models_test.md"
    lines = table.read_text(encoding="utf-8").splitlines()
    cells = [line.split(" | ") for line in lines if " | test2016 | " in line]
    scores = {row[0].strip("| "): row[3:6] for row in cells}
    assert scores["en→fr"][0] == "61.30" and scores["en→fr"][2] == "62.40"
    assert scores["en→de"][0] == "40.73"
