"""What chapter 00 says about its two models, with room for another processor."""

import math
from typing import Any

import nmt_lib as nmt


def share(translations: list[nmt.Translation], wanted: list[str]) -> float:
    said = [translation.text for translation in translations]
    return sum(map(str.__eq__, said, wanted)) / len(wanted)


def test_the_captions_are_right_except_for_the_sandcastle(chapter: Any) -> None:
    said = [translation.text for translation in chapter.real(chapter.captions)]
    assert said[:2] == [
        "Zwei Hunde spielen im Schnee.",
        "Eine Frau in einem roten Mantel wartet auf einen Bus.",
    ]
    assert "Sandburg" not in said[2]
    assert 2.55e6 < nmt.count_parameters(chapter.real.model) < 2.65e6


def test_the_model_gets_nearly_all_test_sentences_right(chapter: Any) -> None:
    references = [pair.tgt for pair in chapter.corpus.test]
    assert share(chapter.outputs, references) > 0.95


def test_gender_position_and_order(chapter: Any) -> None:
    assert chapter.dictionary["it"] == "il"
    assert chapter.dictionary["bought"] == "a acheté"
    for text, expected in {
        "The lamp is dirty and it is very expensive.": "elle",
        "The bicycle is dirty and it is very expensive.": "il",
        "The woman bought the red hat.": "chapeau rouge",
        "The woman bought the small hat.": "petit chapeau",
    }.items():
        assert f" {expected}" in chapter.translator(text).text


def test_words_backwards_do_most_damage(chapter: Any) -> None:
    before = [translation.text for translation in chapter.before]
    texts = [pair.src for pair in chapter.corpus.test[:100]]
    full_stop, backwards, small = (
        share(chapter.translator(list(map(damage, texts))), before)
        for damage in chapter.damages.values()
    )
    assert full_stop > 0.97 and 0.75 > small > backwards + 0.1


def test_a_colour_after_is_fails(chapter: Any) -> None:
    right = [f"La voiture est {c}." for c in ("rouge", "bleue", "blanche", "noire")]
    texts = [f"The car is {colour}." for colour in chapter.colours]
    assert share(chapter.translator(texts), right) <= 0.5


def test_the_loop_by_hand_gives_the_translation(chapter: Any) -> None:
    library = chapter.translator.translate(chapter.pair.src, beam_size=1).text
    assert chapter.translator.tgt_tokenizer.decode(chapter.written) == library
    steps = nmt.sentence_log_probs(
        chapter.translator, [nmt.Pair(chapter.pair.src, library)]
    )[0] / (len(chapter.written) + 1)
    assert 0.9 < math.exp(steps) < 0.98
