"""What chapter 10 says about its students and about the trained model."""

from typing import Any

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
    first, last, trained = (
        dict(zip(kinds, shares, strict=True)) for shares in chapter.won.values()
    )
    assert all(len(some) == 120 for some in chapter.contrasts.values())
    assert sum(first.values()) / 4 < 75 and min(trained.values()) >= 90
    assert min(last["roles"], last["adjective place"]) > 90
    assert max(last["agreement"], last["pronoun"]) < min(
        last["roles"], last["adjective place"]
    )


def test_a_greedy_translation_is_right_if_each_word_read_along_is(chapter: Any) -> None:
    readings = chapter.readings[250]
    along = sum(one.along == one.right for one in readings) / len(readings)
    assert abs(along - chapter.scored[250].exact) < 0.01


def test_on_its_own_a_sentence_with_a_mistake_gets_worse(chapter: Any) -> None:
    wrong = [one for one in chapter.readings[250] if one.own.text != one.pair.tgt]
    pairs = [one.pair for one in wrong]
    along = chapter.check.bleu([one.text for one in wrong], pairs)
    alone = chapter.check.bleu([one.own.text for one in wrong], pairs)
    assert alone < along + 1


def test_the_student_has_a_fixed_preference(chapter: Any) -> None:
    student, forms = chapter.students[250], {}
    for kind in ("agreement", "pronoun"):
        for form, some in chapter.check.by_form(kind, chapter.contrasts[kind]).items():
            forms[form] = nmt.contrastive_accuracy(student, some)
    assert forms["qu'elles"] > 0.9 and forms["qu'ils"] <= 0.3
    assert forms["masculine"] > forms["feminine"] + 0.1 and forms["feminine"] > 0.5


def test_contrasts_are_equally_long(chapter: Any) -> None:
    encode = chapter.trained.tgt_tokenizer.encode
    for some in chapter.contrasts.values():
        for contrast in some:
            right, wrong = encode(contrast.right), encode(contrast.wrong)
            assert len(right) == len(wrong) and nmt.UNK not in wrong


def test_each_sentence_from_an_article_wins_for_its_source(chapter: Any) -> None:
    for src, texts in chapter.asked.items():
        right, wrong = nmt.sentence_log_probs(
            chapter.trained, [nmt.Pair(src, text) for text in texts]
        )
        assert right > wrong + 1, src
