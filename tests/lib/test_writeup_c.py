"""The config writeup_c gives the figures that write-up C printed, from real files."""

from itertools import product
from pathlib import Path

import torch

import nmt_lib as nmt


def test_files_vocabularies_and_steps_have_the_printed_sizes(real_data: Path) -> None:
    config = nmt.load_config("writeup_c")
    corpus = nmt.load_corpus(config.data)
    src, tgt = nmt.build_tokenizers(config.data, corpus.train)
    assert (len(src), len(tgt)) == (6191, 8014)
    parts = corpus.train, corpus.valid, corpus.test
    assert [len(part) for part in parts] == [29000, 1014, 1000]
    steps = nmt.sentence_batches(29000, config.train.batch_sentences, seed=0)
    assert len(steps) == 454
    first = corpus.train[0]
    english = "2 19 25 15 1169 808 17 57 84 336 1339 5 3"
    german = "2 21 85 257 31 87 22 94 7 16 112 7910 3209 4 3"
    assert src.encode(first.src) == list(map(int, english.split()))
    assert tgt.encode(first.tgt) == list(map(int, german.split()))
    lengths = []  # among the hundred with most characters of each part and language
    for part, (side, tokenizer) in product(parts, (("src", src), ("tgt", tgt))):
        texts = sorted((getattr(pair, side) for pair in part), key=len)[-100:]
        lengths += [len(tokenizer.encode(text)) for text in texts]
    assert max(lengths) == 46


def test_the_model_has_the_printed_number_of_parameters() -> None:
    with torch.device("meta"):  # shapes only
        model = nmt.Transformer(nmt.load_config("writeup_c").model, 6191, 8014)
    assert nmt.count_parameters(model) == 55_522_638
