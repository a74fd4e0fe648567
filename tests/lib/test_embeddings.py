import math

import pytest
import torch

from nmt_lib.embeddings import Embedding, PositionalEncoding, sinusoids


@pytest.mark.parametrize("d_model", [2, 6, 16])
def test_sinusoids_follow_the_formula_of_the_paper(d_model: int) -> None:
    table = sinusoids(120, d_model)
    assert table.shape == (120, d_model) and table.dtype == torch.float32
    for place in (0, 1, 7, 119):
        for i in range(d_model // 2):
            angle = place / 10000 ** (2 * i / d_model)
            assert table[place, 2 * i].item() == pytest.approx(
                math.sin(angle), abs=1e-6
            )
            assert table[place, 2 * i + 1].item() == pytest.approx(
                math.cos(angle), abs=1e-6
            )


def test_a_fixed_offset_is_a_rotation_of_each_pair() -> None:
    table, offset = sinusoids(50, 8).double(), 5
    for i in range(4):
        turn = offset / 10000 ** (2 * i / 8)
        sin, cos = table[:-offset, 2 * i], table[:-offset, 2 * i + 1]
        torch.testing.assert_close(
            table[offset:, 2 * i],
            sin * math.cos(turn) + cos * math.sin(turn),
            atol=1e-6,
            rtol=0,
        )
        torch.testing.assert_close(
            table[offset:, 2 * i + 1],
            cos * math.cos(turn) - sin * math.sin(turn),
            atol=1e-6,
            rtol=0,
        )


def test_sinusoids_from_a_start_are_a_slice() -> None:
    assert torch.equal(sinusoids(4, 8, start=9), sinusoids(20, 8)[9:13])


def test_a_growing_table_equals_a_large_one() -> None:
    x = torch.randn(2, 37, 8)
    small, large = PositionalEncoding(8, 4), PositionalEncoding(8, 64)
    assert torch.equal(small(x[:, :3]), large(x[:, :3])) and len(small.table) == 4
    assert torch.equal(small(x), large(x)) and len(small.table) >= 37
    assert torch.equal(small(x[:, :3]), large(x[:, :3]))


def test_a_grown_table_keeps_its_dtype() -> None:
    positions = PositionalEncoding(8, 4).double()
    assert positions(torch.zeros(1, 9, 8, dtype=torch.float64)).dtype == torch.float64


def test_a_start_offset_equals_a_slice_of_the_whole() -> None:
    x, positions = torch.randn(2, 9, 8), PositionalEncoding(8, 4)
    assert torch.equal(positions(x[:, 5:], start=5), positions(x)[:, 5:])


def test_the_table_is_no_weight_and_is_not_saved() -> None:
    positions = PositionalEncoding(8)
    assert not list(positions.parameters()) and not positions.state_dict()


def test_a_table_that_grew_while_translating_can_still_be_trained_with() -> None:
    embedding = Embedding(5, 8, PositionalEncoding(8, 2), dropout=0.0)
    ids = torch.tensor([[1, 2, 3, 4]])
    with torch.inference_mode():
        embedding(ids)
    embedding(ids).square().sum().backward()
    assert embedding.lookup.weight.grad is not None


@pytest.mark.parametrize("scale", [True, False])
def test_embedding_scales_then_adds_places(scale: bool) -> None:
    embedding = Embedding(11, 16, PositionalEncoding(16), scale, dropout=0.0)
    ids = torch.tensor([[3, 1, 4], [1, 5, 9]])
    expected = embedding.lookup.weight[ids] * (4.0 if scale else 1.0) + sinusoids(3, 16)
    torch.testing.assert_close(embedding(ids), expected)
    torch.testing.assert_close(embedding(ids[:, 1:], start=1), expected[:, 1:])


def test_embedding_dropout_only_while_training() -> None:
    embedding = Embedding(11, 16, PositionalEncoding(16), dropout=0.5)
    ids = torch.tensor([[3, 1, 4]])
    assert (embedding(ids) == 0).any()
    assert (
        torch.equal(embedding.eval()(ids), embedding(ids))
        and not (embedding(ids) == 0).any()
    )
