"""Batches: every example once, within the budget, with the target shifted by one."""

from itertools import count
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import nmt_lib as nmt
from nmt_lib.data.batches import make_batch, pad_batch, sentence_batches, token_batches

Lengths = list[tuple[int, int]]
LENGTHS = st.lists(st.tuples(st.integers(1, 30), st.integers(2, 30)), max_size=60)


@given(LENGTHS, st.integers(30, 200), st.integers(0, 5))
def test_every_example_is_in_one_batch_and_no_batch_is_over_the_budget(
    lengths: Lengths, budget: int, seed: int
) -> None:
    batches = token_batches(lengths, budget, seed)
    assert sorted(i for batch in batches for i in batch) == list(range(len(lengths)))
    for batch in batches:
        assert len(batch) * max(max(lengths[i]) for i in batch) <= budget


def test_the_seed_alone_draws_the_batches() -> None:
    lengths = [(1 + i % 7, 2 + i % 5) for i in range(200)]
    state = torch.get_rng_state()
    one, same, other = (token_batches(lengths, 60, seed) for seed in (0, 0, 1))
    assert one == same != other
    assert {frozenset(batch) for batch in one} != {frozenset(batch) for batch in other}
    longest = [max(max(lengths[i]) for i in batch) for batch in one]
    assert longest != sorted(longest)  # the batches come in a random order
    assert torch.equal(torch.get_rng_state(), state)


def test_an_example_over_the_budget_is_named_or_alone() -> None:
    lengths = [(3, 4), (5, 30)]
    message = r"sentence 1 has 30 tokens.*batch_tokens=20.*data.max_length"
    with pytest.raises(nmt.TrainingError, match=message):
        token_batches(lengths, 20, 0)
    assert sorted(token_batches(lengths, 20, 0, alone=True)) == [[0], [1]]


@given(st.integers(0, 50), st.integers(1, 9), st.integers(0, 3))
def test_batches_by_sentences_are_equally_large_but_the_last(
    n_examples: int, size: int, seed: int
) -> None:
    batches = sentence_batches(n_examples, size, seed)
    assert sorted(i for batch in batches for i in batch) == list(range(n_examples))
    assert all(len(batch) == size for batch in batches[:-1])
    assert batches == sentence_batches(n_examples, size, seed)


def test_the_target_is_shifted_by_one() -> None:
    rows = [([9], [9, 9]), ([5, 6, 3], [2, 7, 8, 9, 3]), ([5, 3], [2, 7, 3])]
    batch = make_batch(rows, [2, 1])
    assert batch.src.tolist() == [[5, 3, 0], [5, 6, 3]]
    assert batch.tgt_in.tolist() == [[2, 7, 0, 0], [2, 7, 8, 9]]
    assert batch.tgt_out.tolist() == [[7, 3, 0, 0], [7, 8, 9, 3]]
    assert batch.n_tokens == 6 and batch.src.dtype == torch.long
    assert pad_batch([[1], [1, 2]], 3).tolist() == [[1, 0, 0], [1, 2, 0]]


def test_pairs_that_are_too_long_are_left_out() -> None:
    encode = lambda text: [5] * len(text.split())  # noqa: E731
    tokenizers: Any = (SimpleNamespace(encode=encode),) * 2
    config = nmt.load_config("toy", **{"data.max_length": 10})
    fits, over = nmt.Pair("x", "x " * 10), "x " * 11
    pairs = [fits, nmt.Pair("x", over), nmt.Pair(over, "x")]
    with pytest.warns(UserWarning, match="left out 2 of 3 pairs"):
        examples = nmt.encode_pairs(pairs, tokenizers, config)
    assert [(list(src), list(tgt)) for src, tgt in examples] == [([5], [5] * 10)]
    with pytest.raises(nmt.TrainingError, match=r"longer than data.max_length=10"):
        nmt.encode_pairs(pairs[1:], tokenizers, config)


@pytest.mark.parametrize("hidden", [False, True])
def test_a_slow_machine_shows_a_bar_that_can_be_hidden(
    hidden: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It would be an output more on slow machines, where chapters are compared."""
    monkeypatch.setattr("tqdm.std.time", count(0, 20).__next__)  # seconds
    monkeypatch.delenv("TQDM_DISABLE", raising=False)
    if hidden:
        monkeypatch.setenv("TQDM_DISABLE", "1")
    config = nmt.load_config("toy")
    pairs = nmt.load_corpus(config.data).train
    nmt.encode_pairs(pairs, nmt.build_tokenizers(config.data, pairs), config)
    assert ("encoding" in capsys.readouterr().err) is not hidden
