"""Chapter 01 holds counts made from a real corpus, and byte-pair encoding by hand: both must be right."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import nbformat
import pytest
import torch

import nmt_lib as nmt
from nmt_lib.special import SPECIALS
from nmt_lib.tokenizers import SentencePieceTokenizer
from nmt_lib.words import spacy_words

CELLS = nbformat.read(
    Path(__file__).resolve().parents[2] / "notebooks" / "01_tokenization.ipynb",
    as_version=4,
).cells


@pytest.fixture(scope="module")
def chapter() -> dict[str, Any]:
    """What its cells with the tables, and with the merges, define."""
    names: dict[str, Any] = {"nmt": nmt}
    exec(
        "import torch\nfrom collections import Counter\nfrom itertools import pairwise",
        names,
    )
    parts = (
        "english_words = {",
        "def count_pairs(",
        "def merge(",
        "def learn(",
        "multi30k_points = {",
    )
    for part in parts:
        (source,) = [
            cell.source
            for cell in CELLS
            if cell.cell_type == "code" and part in cell.source
        ]
        exec(source, names)
    return names


@pytest.fixture(scope="module")
def corpus(real_data: Path) -> nmt.Corpus:
    return nmt.load_corpus(nmt.load_config("writeup_c").data)


@pytest.fixture(scope="module")
def words(corpus: nmt.Corpus) -> dict[str, list[list[str]]]:
    """The German side of each split, cut into words."""
    split = spacy_words("de")
    return {
        name: [split(pair.tgt) for pair in getattr(corpus, name)]
        for name in ("train", "test")
    }


@pytest.fixture(scope="module")
def lengths(
    corpus: nmt.Corpus, words: dict[str, list[list[str]]]
) -> list[tuple[int, int]]:
    """Words of each training pair, English and German."""
    english = spacy_words("en")
    return [
        (len(english(pair.src)), len(german))
        for pair, german in zip(corpus.train, words["train"], strict=True)
    ]


def plans(lengths: torch.Tensor) -> tuple[list[list[int]], list[list[int]]]:
    return nmt.sentence_batches(len(lengths), 64, 0), nmt.token_batches(
        lengths.numpy(), 1024, 0
    )


def test_padding_by_the_formula_is_padding_in_the_tensors(
    chapter: dict[str, Any],
) -> None:
    pairs = [
        ([5] * source, [5] * (target + 1))
        for source, target in chapter["lengths"].tolist()
    ]
    for plan in plans(chapter["lengths"]):
        library = nmt.padding_share(nmt.make_batch(pairs, rows) for rows in plan)
        assert chapter["padding"](plan) == pytest.approx(library)


def test_300_merges_by_hand_are_those_of_sentencepiece(chapter: dict[str, Any]) -> None:
    for lang in ("fr", "de"):
        train = nmt.load_corpus(
            nmt.load_config("tiny", **{"data.tgt_lang": lang}).data
        ).train
        lines, counts = [pair.tgt for pair in train], Counter[tuple[str, ...]]()
        for word, n in Counter(" ".join(lines).split()).items():
            for part in re.findall(
                r"▁?\w+|\W", "▁" + word
            ):  # SentencePiece never merges letter and punctuation
                counts[tuple(part)] += n
        size = (
            4 + len(set("".join(lines))) + 300
        )  # the space among the characters stands for ▁
        pieces = SentencePieceTokenizer.train("bpe", lines, size, 1.0, False)
        assert pieces.lookup_tokens(range(4, 304)) == [
            "".join(pair) for pair in chapter["learn"](counts, 300)
        ]


def test_test_sentences_come_back_letter_for_letter() -> None:
    data = nmt.load_config("tiny").data
    corpus = nmt.load_corpus(data)
    tokenizer = nmt.build_tokenizers(data, corpus.train)[1]
    assert all(
        tokenizer.decode(tokenizer.encode(pair.tgt)) == pair.tgt for pair in corpus.test
    )


def test_lengths_of_captions(
    chapter: dict[str, Any], lengths: list[tuple[int, int]]
) -> None:
    assert chapter["english_words"] == Counter(english for english, _ in lengths)
    assert chapter["german_minus_english"] == Counter(
        german - english for english, german in lengths
    )


def test_the_pairs_made_from_the_tables_waste_as_the_true_ones(
    chapter: dict[str, Any], lengths: list[tuple[int, int]]
) -> None:
    def waste(sides: torch.Tensor) -> list[float]:
        pairs = [
            ([5] * source, [5] * (target + 1)) for source, target in sides.tolist()
        ]
        shares = [
            nmt.padding_share(nmt.make_batch(pairs, rows) for rows in plan)
            for plan in plans(sides)
        ]
        return [*shares, 1 - sides.sum().item() / (len(sides) * 400)]

    true = torch.tensor(lengths) + torch.tensor([2, 1])
    assert waste(chapter["lengths"]) == pytest.approx(waste(true), abs=0.01)


def test_unknown_words_in_real_text(words: dict[str, list[list[str]]]) -> None:
    text = "\n".join(cell.source for cell in CELLS if cell.cell_type == "markdown")
    test = [word for sentence in words["test"] for word in sentence]
    for min_freq in (1, 2):
        vocabulary = nmt.build_vocab_from_iterator(words["train"], min_freq, SPECIALS)
        share = sum(word not in vocabulary for word in test) / len(test)
        assert f"{share:.1%}" in text and f"({len(vocabulary):,} ids)" in text


def test_vocabulary_size_against_length(
    chapter: dict[str, Any], corpus: nmt.Corpus, words: dict[str, list[list[str]]]
) -> None:
    train, test = (
        [pair.tgt for pair in corpus.train],
        [pair.tgt for pair in corpus.test],
    )
    points = dict(chapter["multi30k_points"])
    assert points.pop("characters") == (
        4 + len(set("".join(train))),
        round(sum(map(len, test)) / len(test), 1),
    )
    size = len(nmt.build_vocab_from_iterator(words["train"], 2, SPECIALS))
    assert points.pop("words") == (
        size,
        round(sum(map(len, words["test"])) / len(test), 1),
    )
    for name, (size, length) in points.items():
        pieces = SentencePieceTokenizer.train(
            "bpe", train, int(name.removeprefix("BPE ")), 1.0, False
        )
        ids = [
            index
            for text in test
            for index in pieces.encode(text, sos=False, eos=False)
        ]
        assert (len(pieces), ids.count(nmt.UNK)) == (size, 0)
        assert len(ids) / len(test) == pytest.approx(
            length, abs=0.15
        )  # versions of SentencePiece differ a little
