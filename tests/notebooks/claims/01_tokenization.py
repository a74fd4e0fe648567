"""Chapter 01 quotes counts from a real corpus, and learns merges by hand."""

import math
import re
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest import mock

import nbformat

import nmt_lib as nmt
from nmt_book.chapter12 import lab

PATH = Path(__file__).resolve().parents[3] / "notebooks/01_tokenization.ipynb"
TEXT = "\n".join(
    cell.source
    for cell in nbformat.read(PATH, as_version=4).cells
    if cell.cell_type == "markdown"
)


def test_300_merges_by_hand_are_those_of_sentencepiece(chapter: Any) -> None:
    lines, counts = chapter.train_de, Counter[tuple[str, ...]]()
    for word, n in Counter(" ".join(lines).split()).items():
        # SentencePiece never merges a letter and a punctuation mark.
        for part in re.findall(r"▁?\w+|\W", "▁" + word):
            counts[tuple(part)] += n
    # The space among the characters counts for ▁.
    size = 4 + len(set("".join(lines))) + 300
    library = chapter.train_subwords("bpe", lines, size, 1.0, False)
    by_hand = ["".join(pair) for pair in chapter.learn(counts, 300)]
    assert library.lookup_tokens(range(4, 304)) == by_hand


def test_unigram_takes_the_most_likely_of_all_cuts(chapter: Any) -> None:
    word, log_p = "▁Kaffeetasse", chapter.log_p
    best = [0.0]  # of the first letters
    for end in range(1, len(word) + 1):
        cuts = (best[i] + log_p.get(word[i:end], -math.inf) for i in range(end))
        best.append(max(cuts))
    assert chapter.best[0] == "▁Kaffee"
    found = sum(log_p[subword] for subword in chapter.best)
    assert math.isclose(found, best[-1], abs_tol=1e-4)


def test_the_code_for_torchtext_gives_the_same_ids(chapter: Any) -> None:
    """With nmt_lib's vocabulary in place of torchtext's, to which it is equal."""
    (code,) = re.findall(r"```python\n(from torchtext.*?)```", TEXT, re.DOTALL)
    utils = ModuleType("torchtext.data.utils")
    vars(utils)["get_tokenizer"] = lambda kind, language: chapter.tokenize
    modules = dict.fromkeys(("torchtext", "torchtext.data"), ModuleType("torchtext"))
    modules |= {utils.__name__: utils}
    modules |= {"torchtext.vocab": sys.modules[nmt.Vocab.__module__]}
    lines = [pair.src for pair in chapter.corpus.train]
    names: dict[str, Any] = {"lines": lines}
    with mock.patch.dict(sys.modules, modules):
        exec(code, names)
    words = nmt.build_vocab_from_iterator(map(chapter.tokenize, lines), 2, nmt.SPECIALS)
    assert names["vocab"].get_itos() == words.get_itos()
    assert names["numbers"] == [2, *words(chapter.tokenize("The dog is old.")), 3]


def test_real_captions_have_these_lengths_and_vocabularies(chapter: Any) -> None:
    corpus = nmt.load_corpus(nmt.load_config("writeup_c").data)
    cut, german = nmt.spacy_words("en"), nmt.spacy_words("de")
    train = [german(pair.tgt) for pair in corpus.train]
    test = [german(pair.tgt) for pair in corpus.test]
    english = [len(cut(pair.src)) for pair in corpus.train]
    assert Counter(english) == dict(enumerate(lab.ENGLISH_WORDS, 4))
    more = (len(words) - n for words, n in zip(train, english, strict=True))
    assert Counter(more) == dict(enumerate(lab.GERMAN_MINUS_ENGLISH, -12))

    sizes, losers = [], []
    for min_freq in (1, 2):
        vocabulary = nmt.build_vocab_from_iterator(train, min_freq, nmt.SPECIALS)
        words = [word for sentence in test for word in sentence]
        share = sum(word not in vocabulary for word in words) / len(words)
        assert f"{100 * share:.1f} %" in TEXT and f"({len(vocabulary):,} ids)" in TEXT
        sizes.append(len(vocabulary))
        losers.append(
            sum(any(word not in vocabulary for word in line) for line in test)
        )
    shares = (round(100 * n_losers / len(test)) for n_losers in losers)
    sentence = (
        "{} % of the captions lose at least one of them, with `min_freq` 2 even {} %"
    )
    assert sentence.format(*shares) in TEXT

    lines, n = [pair.tgt for pair in corpus.train], len(test)
    assert chapter.ends["words"] == (sizes[1], round(sum(map(len, test)) / n, 1))
    n_characters = sum(len(pair.tgt) for pair in corpus.test)
    size = 4 + len(set("".join(lines)))
    assert chapter.ends["characters"] == (size, round(n_characters / n, 1))
    for size, length in zip(chapter.sizes, chapter.lengths, strict=True):
        pieces = chapter.train_subwords("bpe", lines, size, 1.0, False)
        n_pieces = sum(len(pieces.tokenize(pair.tgt)) for pair in corpus.test)
        # Versions of SentencePiece differ a little.
        assert abs(n_pieces / n - length) < 0.15


def test_the_seam_of_kaffeetasse_is_lost_early(chapter: Any) -> None:
    assert chapter.bpe.tokenize("Kaffee Tasse") == ["▁Kaffee", "▁Tasse"]
    assert chapter.bpe.tokenize("Kaffeetasse") == ["▁Ka", "ff", "e", "et", "asse"]
    assert chapter.bpe.lookup_tokens([4 + 29]) == ["et"], "merge 30"
    assert "Kaffee" in " ".join(chapter.train_de)
    assert "9" not in "".join(chapter.train_de)
