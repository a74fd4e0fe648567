"""What chapter 00 says about its two models, with room for another processor."""

import math
import re
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
    references = [pair.tgt for pair in chapter.test]
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


def swapped(chapter: Any) -> list[tuple[str, str, str]]:
    """Sentences with subject and object exchanged, and their two nouns in French."""
    verbs = "ate|bought|drank|held|opened|read|washed"
    simple = re.compile(rf"(The|A|An) (\w+) ({verbs}) (the|a|an) (\w+)\.")
    found: dict[str, tuple[str, str, str]] = {}
    for pair in chapter.corpus.train:
        if match := simple.fullmatch(pair.src):
            french = chapter.translator.tgt_tokenizer.tokenize(pair.tgt)
            nouns = [[french[t] for s, t in pair.alignment if s == i] for i in (1, 4)]
            text = f"The {match[5]} {match[3]} the {match[2]}."
            if all(nouns):
                found.setdefault(text, (text, nouns[1][-1], nouns[0][-1]))
    return list(found.values())


def test_an_absurd_order_is_mostly_kept_but_not_always(chapter: Any) -> None:
    """Five seeds kept 74 to 89 of 94."""
    sentences = swapped(chapter)
    assert len(sentences) == 94
    kept = 0
    texts = [text for text, _, _ in sentences]
    outputs = chapter.translator.translate(texts, beam_size=1)
    for (_, first, second), output in zip(sentences, outputs, strict=True):
        words = list(output.tokens)
        kept += words.count(first) == 1 and second in words[words.index(first) :]
    assert 0.65 < kept / len(sentences) < 0.99


def test_four_ways_to_break_it(chapter: Any) -> None:
    right = {
        "The soup ate the woman.": "La soupe a mangé la femme.",
        "The cat is red.": "Le chat est rouge.",
        "Where is the cat?": "Où est le chat ?",
    }
    assert share(chapter.translator(list(right)), list(right.values())) == 0
    training = [pair.src for pair in chapter.corpus.train]
    assert not any("soup ate" in text or "?" in text for text in training)
    assert not any(re.search("is (red|blue|white|black)", text) for text in training)
    assert all(text.endswith(".") for text in training)
    assert not any(nmt.UNK in chapter.translator.encode(text) for text in training)
    assert not set(chapter.mine) & set(training)


def test_a_lower_case_letter_costs_some_translations(chapter: Any) -> None:
    """Five seeds kept 4 to 68 of 100."""
    assert chapter.same < 90
    no_stop = [text.removesuffix(".") for text in chapter.texts]
    before = [translation.text for translation in chapter.before]
    assert share(chapter.translator(no_stop), before) > 0.97


def test_a_faultless_sentence_gets_little_probability(chapter: Any) -> None:
    """Label smoothing: five seeds gave a sentence 0.58 to 0.61."""
    pairs = list(chapter.corpus.test[:100])
    log_probs = nmt.sentence_log_probs(chapter.translator, pairs)
    assert 0.5 < sum(map(math.exp, log_probs)) / len(pairs) < 0.7


def test_the_loop_by_hand_gives_the_translation(chapter: Any) -> None:
    library = chapter.translator.translate(chapter.pair.src, beam_size=1).text
    assert chapter.translator.tgt_tokenizer.decode(chapter.written) == library
    steps = nmt.sentence_log_probs(
        chapter.translator, [nmt.Pair(chapter.pair.src, library)]
    )[0] / (len(chapter.written) + 1)
    assert 0.9 < math.exp(steps) < 0.98
