"""The config writeup_c gives the figures that write-up C printed, from real files."""

from itertools import product
from pathlib import Path

import pytest
import torch

import nmt_lib as nmt
from nmt_lib.data.tokenizers import Tokenizer

Setup = tuple[nmt.Config, nmt.Corpus, tuple[Tokenizer, Tokenizer]]


@pytest.fixture(scope="module")
def setup(real_data: Path) -> Setup:
    config = nmt.load_config("writeup_c")
    corpus = nmt.load_corpus(config.data)
    return config, corpus, nmt.build_tokenizers(config.data, corpus.train)


def test_the_vocabularies_have_the_printed_sizes(setup: Setup) -> None:
    assert tuple(map(len, setup[2])) == (6191, 8014)


def test_the_first_training_pair_has_the_printed_ids(setup: Setup) -> None:
    _, corpus, (src, tgt) = setup
    first = corpus.train[0]
    english = "2 19 25 15 1169 808 17 57 84 336 1339 5 3"
    german = "2 21 85 257 31 87 22 94 7 16 112 7910 3209 4 3"
    assert src.encode(first.src) == list(map(int, english.split()))
    assert tgt.encode(first.tgt) == list(map(int, german.split()))


def test_the_longest_sentence_has_46_tokens(setup: Setup) -> None:
    """Among the hundred with most characters of each part and language."""
    _, corpus, tokenizers = setup
    parts, lengths = (corpus.train, corpus.valid, corpus.test), []
    assert [len(part) for part in parts] == [29000, 1014, 1000]
    for part, (side, tokenizer) in product(
        parts, zip(("src", "tgt"), tokenizers, strict=True)
    ):
        texts = sorted((getattr(pair, side) for pair in part), key=len)[-100:]
        lengths += [len(tokenizer.encode(text)) for text in texts]
    assert max(lengths) == 46


def test_an_epoch_has_the_printed_number_of_steps(setup: Setup) -> None:
    config, corpus, _ = setup
    size = config.train.batch_sentences
    assert len(nmt.sentence_batches(len(corpus.train), size, seed=0)) == 454


def test_the_model_has_the_printed_number_of_parameters() -> None:
    with torch.device("meta"):  # shapes only
        model = nmt.Transformer(nmt.load_config("writeup_c").model, 6191, 8014)
    assert nmt.count_parameters(model) == 55_522_638
