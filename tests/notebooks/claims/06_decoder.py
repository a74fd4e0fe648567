"""What chapter 06 says about models with random weights, and about what they write."""

import math
from typing import Any

import torch

import nmt_lib as nmt


def test_every_position_but_the_last_leaks_without_the_causal_mask(
    chapter: Any,
) -> None:
    assert max(chapter.prefix_gaps(nmt.target_mask)) < 1e-4
    *before, last = chapter.prefix_gaps(nmt.padding_mask)
    assert min(before) > 0.01 and last < 1e-4


def fresh(chapter: Any, seed: int, init: str, tying: str) -> Any:
    torch.manual_seed(seed)
    how = chapter.small.model_copy(update={"init": init, "tying": tying})
    sizes = len(chapter.src_tok), len(chapter.tgt_tok)
    return nmt.Transformer(how, *sizes).eval()


def test_a_fresh_model_begins_a_little_above_log_v(chapter: Any) -> None:
    few = chapter.few
    real = few.tgt_out != nmt.PAD  # (B, T)
    level = math.log(len(chapter.tgt_tok))
    for seed in range(3):
        for how in (("xavier", "none"), ("xavier", "target"), ("torch", "none")):
            logits = fresh(chapter, seed, *how)(few.src, few.tgt_in)  # (B, T, V)
            loss = nmt.cross_entropy(logits, few.tgt_out)
            assert level < loss < level + 1.2
            assert (loss - level - logits[real].var() / 2).abs() < 0.5


def test_wide_and_tied_embeddings_echo_everywhere(chapter: Any) -> None:
    few = chapter.few
    real = few.tgt_out != nmt.PAD  # (B, T)
    for seed in range(3):
        model = fresh(chapter, seed, "torch", "target")
        logits = model(few.src, few.tgt_in)  # (B, T, V)
        assert (logits.argmax(-1) == few.tgt_in)[real].all()
        assert nmt.cross_entropy(logits, few.tgt_out) > 45
    said = chapter.write(model, chapter.text, chapter.begun).split()
    assert set(said[1:]) == {said[1]}


def test_a_fresh_model_writes_few_words_again_and_again(chapter: Any) -> None:
    for seed in range(5):
        model = fresh(chapter, seed, "xavier", "target")
        said = chapter.write(model, chapter.text).split()
        assert len(set(said)) <= 4


def test_the_trained_model_translates(chapter: Any) -> None:
    said = chapter.write(chapter.translator.model, chapter.text)
    words = said.removesuffix("<eos>").split()
    assert chapter.tgt_tok.encode(chapter.corpus.test[0].tgt)[1:-1] == [
        chapter.tgt_tok.encode(word)[1] for word in words
    ]
