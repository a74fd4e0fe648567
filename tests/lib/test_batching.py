"""Batches: every sentence once, within the budget, with little padding."""

from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import nmt_lib as nmt
from nmt_lib.batching import (
    make_batch,
    pad_batch,
    padding_share,
    sentence_batches,
    token_batches,
)

LENGTHS = st.lists(st.tuples(st.integers(1, 30), st.integers(2, 30)), max_size=60)


@given(LENGTHS, st.integers(30, 200), st.integers(0, 5))
def test_every_sentence_is_in_one_batch_and_no_batch_is_over_the_budget(
    lengths: list[tuple[int, int]], budget: int, seed: int
) -> None:
    batches = token_batches(lengths, budget, seed)
    assert sorted(i for batch in batches for i in batch) == list(range(len(lengths)))
    assert all(
        len(batch) * max(max(lengths[i]) for i in batch) <= budget for batch in batches
    )


@given(LENGTHS, st.integers(0, 5))
def test_the_order_depends_on_the_seed_only(
    lengths: list[tuple[int, int]], seed: int
) -> None:
    assert token_batches(lengths, 60, seed) == token_batches(
        np.array(lengths), 60, seed
    )


def test_another_seed_gives_another_order_and_other_neighbours() -> None:
    lengths = [(1 + i % 7, 2 + i % 5) for i in range(200)]
    one, other = token_batches(lengths, 60, 0), token_batches(lengths, 60, 1)
    assert one != other
    assert {frozenset(batch) for batch in one} != {frozenset(batch) for batch in other}


def test_the_global_random_numbers_are_left_alone() -> None:
    torch.manual_seed(0)
    before = torch.get_rng_state()
    token_batches([(3, 4)] * 20, 20, 0)
    sentence_batches(20, 4, 0)
    assert torch.equal(torch.get_rng_state(), before)


def test_a_sentence_over_the_budget_is_named_with_the_way_out() -> None:
    with pytest.raises(
        nmt.TrainingError,
        match=r"sentence 1 has 30 tokens.*batch_tokens=20.*data.max_length",
    ):
        token_batches([(3, 4), (5, 30)], 20, 0)
    assert sorted(token_batches([(3, 4), (5, 30)], 20, 0, alone=True)) == [[0], [1]]


@given(st.integers(0, 50), st.integers(1, 9), st.integers(0, 3))
def test_batches_by_sentences_are_equally_large_but_the_last(
    n_examples: int, size: int, seed: int
) -> None:
    batches = sentence_batches(n_examples, size, seed)
    assert sorted(i for batch in batches for i in batch) == list(range(n_examples))
    assert all(len(batch) == size for batch in batches[:-1])
    assert batches == sentence_batches(n_examples, size, seed)


def test_the_target_is_shifted_by_one() -> None:
    batch = make_batch([([5, 6, 3], [2, 7, 8, 9, 3]), ([5, 3], [2, 7, 3])])
    assert batch.src.tolist() == [[5, 6, 3], [5, 3, 0]]
    assert batch.tgt_in.tolist() == [[2, 7, 8, 9], [2, 7, 0, 0]]
    assert batch.tgt_out.tolist() == [[7, 8, 9, 3], [7, 3, 0, 0]]
    assert batch.n_tokens == 6
    assert batch.src.dtype == torch.long


def test_a_batch_of_chosen_examples_keeps_their_order() -> None:
    batch = make_batch([([5] * n, [nmt.SOS, *[6] * n]) for n in (1, 2, 3)], [2, 0])
    assert (batch.src != nmt.PAD).sum(1).tolist() == [3, 1]


def test_rows_can_be_padded_further_than_the_longest() -> None:
    assert pad_batch([[1], [1, 2]], 3).tolist() == [[1, 0, 0], [1, 2, 0]]


def test_padding_share_counts_both_sides() -> None:
    batch = make_batch([([5, 6, 3], [2, 7, 8, 9, 3]), ([5, 3], [2, 7, 3])])
    assert padding_share([batch]) == 3 / 14
    assert padding_share([]) == 0.0


def test_real_training_batches_hold_little_padding(real_data: Path) -> None:
    config = nmt.load_config("multi30k")
    corpus = nmt.load_corpus(config.data)
    examples = nmt.encode_pairs(
        corpus.train, nmt.build_tokenizers(config.data, corpus.train), config
    )

    def share(plan: list[list[int]]) -> float:
        return padding_share(make_batch(examples.take(rows)) for rows in plan)

    assert share(token_batches(examples.lengths, 4096, 0)) < 0.05  # 3.6 % measured
    assert (
        share(token_batches(examples.lengths, config.train.batch_tokens, 0)) < 0.10
    )  # 5.5 % measured
    assert (
        share(sentence_batches(len(examples), 64, 0)) > 0.40
    )  # 50 % measured: what the budget saves
