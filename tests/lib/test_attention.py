"""Attention against a loop over its heads, with and without the fused call."""

import math
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext

import pytest
import torch

from nmt_lib.attention import (
    MultiHeadAttention,
    collect_weights,
    scaled_dot_product_attention,
)

B, H, T, S, D = 2, 3, 4, 5, 12


def random_mask() -> torch.Tensor:
    """``(B, 1, T, S)``; one query may attend to nothing."""
    mask = torch.rand(B, 1, T, S) > 0.4
    mask[1, :, 2] = False
    return mask


@pytest.mark.parametrize(("d_value", "bias"), [(None, True), (3, False), (9, True)])
def test_both_paths_equal_a_loop_over_heads(d_value: int | None, bias: bool) -> None:
    torch.manual_seed(0)
    attention, mask = MultiHeadAttention(D, H, d_value, bias).double(), random_mask()
    x, memory = (
        torch.randn(B, length, D, dtype=torch.float64, requires_grad=True)
        for length in (T, S)
    )
    q, k, v = attention.W_q(x), attention.W_k(memory), attention.W_v(memory)
    heads, maps = [], []
    for query, key, value in zip(*(y.chunk(H, -1) for y in (q, k, v)), strict=True):
        scores = query @ key.mT / math.sqrt(D / H)
        maps.append(scores.masked_fill(~mask[:, 0], -math.inf).softmax(-1).nan_to_num())
        heads.append(maps[-1] @ value)
    expected = attention.W_o(torch.cat(heads, -1))
    results = []
    for collected in (None, collect_weights()):
        with collected or nullcontext() as weights:
            out = attention(x, memory, mask)
        torch.testing.assert_close(out, expected)
        results.append(torch.autograd.grad(out.square().sum(), (x, memory)))
    torch.testing.assert_close(weights, [torch.stack(maps, dim=1)])  # (B, H, T, S)
    torch.testing.assert_close(*results)
    assert all(gradient.isfinite().all() for gradient in results[0])


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
    with collect_weights() as weights:
        assert not torch.equal(attention(x, x), attention(x, x))
    torch.testing.assert_close(weights[0].sum(-1), torch.ones(B, H, T))
    torch.testing.assert_close(attention.eval()(x, x), plain(x, x))


def test_weights_are_collected_in_order_in_the_block_and_its_thread() -> None:
    attention, x = MultiHeadAttention(D, H), torch.randn(B, T, D)
    with pytest.raises(KeyError), collect_weights() as weights:
        attention(x, x[:, :1])
        attention(x, x[:, :2])
        raise KeyError
    attention(x, x)
    with ThreadPoolExecutor() as pool, collect_weights() as others:
        pool.submit(attention, x, x).result()
    assert [w.size(-1) for w in weights] == [1, 2] and not others
