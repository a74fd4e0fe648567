"""Chapter 01 holds tables of counts made from real corpora: they must be what the corpora give."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import nbformat
import pytest

import nmt_lib as nmt
from nmt_lib.special import SPECIALS
from nmt_lib.tokenizers import SentencePieceTokenizer, spacy_words

CHAPTER = Path(__file__).resolve().parent.parent / "notebooks" / "01_tokenization.ipynb"
TABLES = ("multi30k_unknown = ", "multi30k_unknown_leaky = ", "multi30k_points = ", "english_lengths = ")


@pytest.fixture(scope="module")
def tables() -> dict[str, Any]:
    """What the cells with the tables define, and the pairs of lengths that the chapter makes from them."""
    sources = [cell.source for cell in nbformat.read(CHAPTER, as_version=4).cells if cell.cell_type == "code"]
    names: dict[str, Any] = {}
    exec("import random", names)
    for start in (*TABLES, "def spread(table):"):
        (source,) = [source for source in sources if source.startswith(start)]
        exec(source, names)
    return names


@pytest.fixture(scope="module")
def corpus(real_data: Path) -> nmt.Corpus:
    return nmt.load_corpus(nmt.load_config("writeup_c").data)


@pytest.fixture(scope="module")
def words(corpus: nmt.Corpus) -> dict[str, list[list[str]]]:
    """The German side of each split, cut into words."""
    split = spacy_words("de")
    return {name: [split(pair.tgt) for pair in getattr(corpus, name)] for name in ("train", "valid", "test")}


@pytest.fixture(scope="module")
def lengths(corpus: nmt.Corpus, words: dict[str, list[list[str]]]) -> list[tuple[int, int]]:
    """Words of each training pair, English and German."""
    english = spacy_words("en")
    return [(len(english(pair.src)), len(german)) for pair, german in zip(corpus.train, words["train"], strict=True)]


def unknown(vocabulary: nmt.Vocab, sentences: list[list[str]]) -> int:
    """How many words the vocabulary does not have."""
    return sum(word not in vocabulary for sentence in sentences for word in sentence)


def test_lengths_of_captions(tables: dict[str, Any], lengths: list[tuple[int, int]]) -> None:
    assert tables["english_lengths"] == Counter(english for english, _ in lengths)
    assert tables["german_minus_english"] == Counter(german - english for english, german in lengths)


def test_the_pairs_made_from_the_tables_waste_as_the_true_ones(
    tables: dict[str, Any], lengths: list[tuple[int, int]]
) -> None:
    true = [([nmt.SOS, *[5] * english, nmt.EOS], [nmt.SOS, *[5] * german, nmt.EOS]) for english, german in lengths]

    def waste(pairs: list[tuple[list[int], list[int]]]) -> list[float]:
        plans = nmt.sentence_batches(len(pairs), 64, 0), nmt.token_batches(pairs, 1024, 0)
        shares = [nmt.padding_share(nmt.make_batch(pairs, rows) for rows in plan) for plan in plans]
        return [*shares, 1 - sum(len(src) + len(tgt) - 1 for src, tgt in pairs) / (len(pairs) * 400)]

    assert waste(tables["pairs"]) == pytest.approx(waste(true), abs=0.01)


def test_unknown_words_by_min_freq(tables: dict[str, Any], words: dict[str, list[list[str]]]) -> None:
    assert sum(map(len, words["test"])) == tables["multi30k_tokens"]
    for min_freq, expected in tables["multi30k_unknown"].items():
        vocabulary = nmt.build_vocab_from_iterator(words["train"], min_freq, list(SPECIALS))
        assert (len(vocabulary), unknown(vocabulary, words["test"])) == expected


def test_unknown_words_with_the_leak(tables: dict[str, Any], words: dict[str, list[list[str]]]) -> None:
    everything = words["train"] + words["valid"] + words["test"]
    for min_freq, expected in tables["multi30k_unknown_leaky"].items():
        assert unknown(nmt.build_vocab_from_iterator(everything, min_freq, list(SPECIALS)), words["test"]) == expected


def test_vocabulary_size_against_length(
    tables: dict[str, Any], corpus: nmt.Corpus, words: dict[str, list[list[str]]]
) -> None:
    train, test = [pair.tgt for pair in corpus.train], [pair.tgt for pair in corpus.test]
    points = dict(tables["multi30k_points"])
    assert points.pop("characters") == (4 + len(set("".join(train))), round(sum(map(len, test)) / len(test), 1))
    size = len(nmt.build_vocab_from_iterator(words["train"], 2, list(SPECIALS)))
    assert points.pop("words") == (size, round(sum(map(len, words["test"])) / len(test), 1))
    for name, (size, length) in points.items():
        pieces = SentencePieceTokenizer.train("bpe", train, int(name.removeprefix("BPE ")), 1.0, False)
        ids = [index for text in test for index in pieces.encode(text, sos=False, eos=False)]
        assert (len(pieces), ids.count(nmt.UNK)) == (size, 0)
        assert len(ids) / len(test) == pytest.approx(length, abs=0.15)  # versions of SentencePiece differ a little


@pytest.mark.filterwarnings("ignore:europarl")  # it has some pairs with an empty side
def test_a_fixed_length_wastes_less_on_parliament_than_on_captions(real_data: Path, tables: dict[str, Any]) -> None:
    config = nmt.load_config("writeup_c", **{"data.corpus": "europarl", "data.tgt_lang": "fr", "data.limit": 500})
    english, french = spacy_words("en"), spacy_words("fr")
    sides = [(len(english(p.src)) + 2, len(french(p.tgt)) + 1) for p in nmt.load_corpus(config.data).train]
    sides = [pair for pair in sides if max(pair) <= 200]
    captions = 1 - sum(len(src) + len(tgt) - 1 for src, tgt in tables["pairs"]) / (len(tables["pairs"]) * 400)
    assert 0.8 < 1 - sum(map(sum, sides)) / (len(sides) * 400) < captions - 0.05
