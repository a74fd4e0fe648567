"""What chapter 00 says about its two models; the weights differ between processors, so every claim has a margin."""

from __future__ import annotations

from collections import Counter, defaultdict

import pytest
import torch

import nmt_lib as nmt

CAPTIONS = {  # of the chapter, with what the text says of the translation
    "Two dogs are playing in the snow.": "Zwei Hunde spielen im Schnee.",
    "A woman in a red coat is waiting for a bus.": "Eine Frau in einem roten Mantel wartet auf einen Bus.",
}


@pytest.fixture(scope="module")
def translator() -> nmt.Translator:
    return nmt.load_or_train("tiny")


@pytest.fixture(scope="module")
def corpus() -> nmt.Corpus:
    return nmt.load_corpus(nmt.load_config("tiny").data)


def share(texts: list[str], wanted: list[str]) -> float:
    return sum(text == one for text, one in zip(texts, wanted, strict=True)) / len(
        texts
    )


def test_the_captions_come_out_right_but_for_the_sandcastle() -> None:
    real = nmt.Translator.load("multi30k-en-de", device="cpu")
    assert [translation.text for translation in real(list(CAPTIONS))] == list(
        CAPTIONS.values()
    )
    assert (
        "Sandburg"
        not in real("Three children are building a sandcastle on the beach.").text
    )
    assert 2.55e6 < nmt.count_parameters(real.model) < 2.65e6


def test_the_model_gets_nearly_all_test_sentences_right_and_a_dictionary_hardly_any(
    translator: nmt.Translator, corpus: nmt.Corpus
) -> None:
    split_src, split_tgt = (
        translator.src_tokenizer.tokenize,
        translator.tgt_tokenizer.tokenize,
    )
    partners: dict[str, Counter[str]] = defaultdict(Counter)
    for pair in corpus.train:
        words, others = split_src(pair.src), split_tgt(pair.tgt)
        for s, t in pair.alignment:
            partners[words[s]][others[t]] += 1
    looked_up = [
        [partners[word].most_common(1)[0][0] for word in split_src(pair.src)]
        for pair in corpus.test
    ]
    assert share(looked_up, [split_tgt(pair.tgt) for pair in corpus.test]) < 0.1
    translated = [
        translation.text
        for translation in translator([pair.src for pair in corpus.test])
    ]
    assert share(translated, [pair.tgt for pair in corpus.test]) > 0.95
    assert partners["it"].most_common(1)[0][0] == "il"


def test_gender_place_and_order(translator: nmt.Translator) -> None:
    expected = {
        "The lamp is dirty and it is very expensive.": "elle",
        "The bicycle is dirty and it is very expensive.": "il",
        "The woman bought the red hat.": "chapeau rouge",
        "The woman bought the small hat.": "petit chapeau",
    }
    for translation in translator(list(expected)):
        assert f" {expected[translation.source]}" in translation.text, translation.text


def test_unknown_words_are_one_word(translator: nmt.Translator) -> None:
    dragon, wizard = translator(
        ["A dragon drank the milk.", "A wizard drank the milk."]
    )
    assert nmt.UNK in translator.encode(dragon.source) and dragon.text == wizard.text


def test_what_harms_most(translator: nmt.Translator, corpus: nmt.Corpus) -> None:
    texts = [pair.src for pair in corpus.test[:100]]
    before = [translation.text for translation in translator(texts)]

    def same(damaged: list[str]) -> float:
        return share([translation.text for translation in translator(damaged)], before)

    backwards = [" ".join(text.removesuffix(".").split()[::-1]) + "." for text in texts]
    small = same([text[0].lower() + text[1:] for text in texts])
    assert (
        same([text.removesuffix(".") for text in texts])
        > 0.9
        > 0.75
        > small
        > same(backwards) + 0.1
    )


def test_a_colour_after_is_fails(
    translator: nmt.Translator, corpus: nmt.Corpus
) -> None:
    colours = {"red": "rouge", "blue": "bleue", "white": "blanche", "black": "noire"}
    assert not [
        pair.src
        for pair in corpus.train
        for colour in colours
        if f"is {colour}" in pair.src
    ]
    right = [f"La voiture est {word}." for word in colours.values()]
    assert (
        share(
            [
                found.text
                for found in translator([f"The car is {colour}." for colour in colours])
            ],
            right,
        )
        <= 0.5
    )


def test_the_loop_by_hand_is_the_translator(translator: nmt.Translator) -> None:
    text, model = "A woman bought a black bicycle.", translator.model
    written: list[int] = []
    with torch.no_grad():
        memory = model.encode(torch.tensor([translator.encode(text)]), None)
        while len(written) < 20:
            logits = model.output(
                model.decode(torch.tensor([[nmt.SOS, *written]]), memory, None)
            )
            if (best := int(logits[0, -1].argmax())) == nmt.EOS:
                break
            written.append(best)
    assert (
        translator.tgt_tokenizer.decode(written)
        == translator.translate(text, beam_size=1).text
    )
