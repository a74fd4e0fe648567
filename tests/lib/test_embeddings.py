"""Embeddings and positions: the paper's table, a table that grows, the scale."""

import math

import pytest
import torch

from nmt_lib.errors import ShapeError
from nmt_lib.model.embeddings import Embedding, PositionalEncoding, sinusoids


@pytest.mark.parametrize("d_model", [2, 6, 16])
def test_sinusoids_follow_the_formula_of_the_paper(d_model: int) -> None:
    expected = [
        [
            (math.cos if i % 2 else math.sin)(p / 10000 ** ((i - i % 2) / d_model))
            for i in range(d_model)
        ]
        for p in range(120)
    ]
    table = sinusoids(120, d_model)
    torch.testing.assert_close(table, torch.tensor(expected))
    assert torch.equal(sinusoids(4, d_model, start=9), table[9:13])


def test_an_odd_width_is_refused() -> None:
    for make in (lambda: sinusoids(4, 3), lambda: PositionalEncoding(3)):
        with pytest.raises(ShapeError, match=r"must be even .*, not 3"):
            make()


def test_a_table_that_grows_equals_a_large_one() -> None:
    x = torch.randn(2, 37, 8, dtype=torch.float64)
    small, large = PositionalEncoding(8, 4).double(), PositionalEncoding(8, 64).double()
    for start, end in ((0, 3), (0, 37), (2, 9), (30, 37)):
        assert torch.equal(small(x[:, start:end], start), large(x)[:, start:end])
    assert small.table.dtype == torch.float64


def test_the_table_is_not_saved() -> None:
    positions = PositionalEncoding(8)
    assert not list(positions.parameters()) and not positions.state_dict()


def test_a_table_that_grew_while_translating_can_still_be_trained_with() -> None:
    embedding = Embedding(5, 8, PositionalEncoding(8, 2))
    ids = torch.tensor([[1, 2, 3, 4]])
    with torch.inference_mode():
        embedding(ids)
    embedding(ids).square().sum().backward()
    assert embedding.lookup.weight.grad is not None


@pytest.mark.parametrize(("scale", "factor"), [(True, 4.0), (False, 1.0)])
def test_an_embedding_is_scaled_before_its_position_is_added(
    scale: bool, factor: float
) -> None:
    embedding = Embedding(11, 16, PositionalEncoding(16), scale, dropout=0.5).eval()
    ids = torch.tensor([[3, 1, 4], [1, 5, 9]])
    expected = embedding.lookup.weight[ids] * factor + sinusoids(3, 16)
    torch.testing.assert_close(embedding(ids), expected)
    torch.testing.assert_close(embedding(ids[:, 1:], start=1), expected[:, 1:])
    assert (embedding.train()(ids) == 0).any()  # dropout
