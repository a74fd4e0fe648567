"""Attention against a loop over its heads, with and without the fused call."""

import math

import pytest
import torch
from torch import nn

from nmt_lib.errors import ShapeError
from nmt_lib.model.attention import (
    KVCache,
    MultiHeadAttention,
    collect_weights,
    scaled_dot_product_attention,
)
from tests.lib.small import small_model

B, H, T, S, D = 2, 3, 4, 5, 12


def random_mask() -> torch.Tensor:
    """``(B, 1, T, S)``; one query may attend to nothing."""
    mask = torch.rand(B, 1, T, S) > 0.4
    mask[1, :, 2] = False
    return mask


@pytest.mark.parametrize(("d_value", "bias"), [(None, True), (3, False), (9, True)])
def test_both_paths_equal_a_loop_over_heads(d_value: int | None, bias: bool) -> None:
    """Gradients are compared with those of torch, in test_torch_equality.py."""
    torch.manual_seed(0)
    attention, mask = MultiHeadAttention(D, H, d_value, bias).double(), random_mask()
    x, memory = (torch.randn(B, n, D, dtype=torch.float64) for n in (T, S))
    q, k, v = attention.W_q(x), attention.W_k(memory), attention.W_v(memory)
    heads, maps = [], []
    for query, key, value in zip(*(y.chunk(H, -1) for y in (q, k, v)), strict=True):
        scores = query @ key.mT / math.sqrt(D / H)
        maps.append(scores.masked_fill(~mask[:, 0], -math.inf).softmax(-1).nan_to_num())
        heads.append(maps[-1] @ value)
    expected = attention.W_o(torch.cat(heads, -1))
    watched, weights = collect_weights(attention)
    for module in (attention, watched):
        torch.testing.assert_close(module(x, memory, mask), expected)
    torch.testing.assert_close(weights[attention], torch.stack(maps, dim=1))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_hidden_keys_get_no_weight_at_all(dtype: torch.dtype) -> None:
    query, key = torch.randn(B, H, T, 6).to(dtype), torch.randn(B, H, S, 6).to(dtype)
    mask = random_mask()
    out, weights = scaled_dot_product_attention(query, key, key, mask)
    assert (weights.masked_select(~mask) == 0).all() and (out[1, :, 2] == 0).all()
    sums, wanted = weights.float().sum(-1), mask.any(-1).float().expand(B, H, T)
    torch.testing.assert_close(sums, wanted, atol=1e-2, rtol=0)


def test_dropout_only_while_training_and_not_in_the_collected_weights() -> None:
    attention, plain = MultiHeadAttention(D, H, dropout=0.5), MultiHeadAttention(D, H)
    plain.load_state_dict(attention.state_dict())
    x = torch.randn(B, T, D)
    watched, weights = collect_weights(attention)
    for module in (attention, watched):
        assert not torch.equal(module(x, x), module(x, x))
    torch.testing.assert_close(weights[attention].sum(-1), torch.ones(B, H, T))
    torch.testing.assert_close(attention.eval()(x, x), plain(x, x))


def test_weights_are_of_the_copy_alone_and_its_parameters_are_the_models() -> None:
    model = nn.ModuleList([MultiHeadAttention(D, H), MultiHeadAttention(D, H)])
    watched, weights = collect_weights(model)
    x = torch.randn(B, T, D)
    model[0](x, x)  # also in another thread: it has nothing to do with the copy
    assert not weights
    watched[1](x, x[:, :2])
    assert list(weights) == [model[1]] and weights[model[1]].shape == (B, H, T, 2)
    for ours, theirs in zip(model.parameters(), watched.parameters(), strict=True):
        assert ours is theirs


def test_a_model_compiles_in_one_piece() -> None:
    model = small_model()
    compiled = torch.compile(model, backend="eager", fullgraph=True)
    src, tgt = torch.randint(4, 9, (2, 2, 5))
    torch.testing.assert_close(compiled(src, tgt), model(src, tgt))


def test_heads_that_do_not_divide_the_width_are_named() -> None:
    with pytest.raises(ShapeError, match=r"d_model=10 .* n_heads=3"):
        MultiHeadAttention(10, 3)


def test_a_cache_that_grows_equals_all_at_once_and_rarely_moves() -> None:
    keys, values = torch.randn(B, H, 40, 6), torch.randn(B, H, 40, 4)
    cache = KVCache(keys[:, :, :0], values[:, :, :0], grows=True)
    rooms = set()
    for t in range(40):
        step = slice(t, t + 1)
        found = cache.extend(keys[:, :, step], values[:, :, step])
        assert torch.equal(found[0], keys[:, :, : t + 1])
        assert torch.equal(found[1], values[:, :, : t + 1])
        if t == 20:  # a beam's rows change places
            cache.select(torch.tensor([1, 0]))
            keys, values = keys.flip(0), values.flip(0)
        rooms.add(cache.keys.size(2))
    assert len(rooms) <= 6  # 1, 3, 7, 15, 31, 63
