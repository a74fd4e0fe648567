import math

import pytest
import torch
import torch.nn.functional as F
from tests.lib.small import keep_weights, random_rows

import nmt_lib as nmt
from nmt_lib.attention import MultiHeadAttention, scaled_dot_product_attention
from nmt_lib.masks import padding_mask

B, H, T, S, D_K, D_V = 2, 3, 4, 5, 6, 7


def tensors(
    dtype: torch.dtype = torch.float64,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    torch.manual_seed(0)
    query, key, value = (
        torch.randn(B, H, n, d, dtype=dtype) for n, d in ((T, D_K), (S, D_K), (S, D_V))
    )
    mask = torch.rand(B, 1, T, S) > 0.4
    mask[1, :, 2] = False  # one query that may attend to nothing
    return query, key, value, mask


def test_equation_1_entry_by_entry() -> None:
    query, key, value, _ = tensors()
    out, weights = scaled_dot_product_attention(query, key, value)
    for t in range(T):
        scores = [
            sum(query[1, 2, t, i] * key[1, 2, s, i] for i in range(D_K))
            / math.sqrt(D_K)
            for s in range(S)
        ]
        total = sum(math.exp(score) for score in scores)
        row = [math.exp(score) / total for score in scores]
        assert weights[1, 2, t].tolist() == pytest.approx(row)
        mean = [
            sum(row[s] * value[1, 2, s, i].item() for s in range(S)) for i in range(D_V)
        ]
        assert out[1, 2, t].tolist() == pytest.approx(mean)


@pytest.mark.parametrize("masked", [False, True])
def test_fused_equals_explicit_in_values_and_gradients(masked: bool) -> None:
    query, key, value, mask = tensors()
    results = []
    for attend in (
        lambda *a: scaled_dot_product_attention(*a)[0],
        F.scaled_dot_product_attention,
    ):
        inputs = [x.clone().requires_grad_() for x in (query, key, value)]
        out = attend(*inputs, mask if masked else None)
        (out * torch.arange(out.numel()).view_as(out)).sum().backward()
        results.append([out.detach(), *(x.grad for x in inputs)])
    for a, b in zip(*results, strict=True):
        assert a.isfinite().all()
        torch.testing.assert_close(a, b)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_hidden_keys_get_exactly_no_weight_and_rows_sum_to_one(
    dtype: torch.dtype,
) -> None:
    query, key, value, mask = tensors(dtype)
    out, weights = scaled_dot_product_attention(query, key, value, mask)
    assert weights.shape == (B, H, T, S)  # a row for each query
    assert (weights.masked_select(~mask) == 0).all()
    sums = weights.float().sum(-1)
    torch.testing.assert_close(
        sums, mask.any(-1).expand_as(sums).float(), atol=1e-2, rtol=0
    )
    assert (out[1, :, 2] == 0).all() and (weights[1, :, 2] == 0).all()


def test_old_versions_without_zeros_take_the_explicit_path(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    x, mask = torch.randn(B, T, 12), torch.rand(B, 1, T, T) > 0.4
    mask[1, :, 2] = False  # one query that may attend to nothing
    attention = MultiHeadAttention(12, H)
    expected = attention(x, x, mask)
    monkeypatch.setattr(nmt.attention, "FUSED_GIVES_ZEROS", False)
    monkeypatch.setattr(F, "scaled_dot_product_attention", None)
    torch.testing.assert_close(attention(x, x, mask), expected)


@pytest.mark.parametrize("d_value", [None, 3, 9])
@pytest.mark.parametrize("bias", [True, False])
def test_the_module_equals_a_loop_over_heads(d_value: int | None, bias: bool) -> None:
    torch.manual_seed(0)
    attention = MultiHeadAttention(12, 3, d_value, bias).double()
    d_k, d_v = 4, d_value or 4
    assert attention.W_v.out_features == attention.W_o.in_features == 3 * d_v
    x, memory = (
        torch.randn(B, T, 12, dtype=torch.float64),
        torch.randn(B, S, 12, dtype=torch.float64),
    )
    mask = padding_mask(torch.tensor([[1, 1, 1, 1, 1], [1, 1, 0, 0, 0]]))
    q, k, v = attention.W_q(x), attention.W_k(memory), attention.W_v(memory)
    heads = []
    for h in range(3):
        query, key = q[..., h * d_k : (h + 1) * d_k], k[..., h * d_k : (h + 1) * d_k]
        scores = query @ key.transpose(1, 2) / math.sqrt(d_k)
        scores[1, :, 2:] = -math.inf
        heads.append(scores.softmax(-1) @ v[..., h * d_v : (h + 1) * d_v])
    expected = attention.W_o(torch.cat(heads, dim=-1))
    torch.testing.assert_close(attention(x, memory, mask), expected)
    assert attention.weights is None
    attention.keep_weights = True
    torch.testing.assert_close(attention(x, memory, mask), expected)
    assert attention.weights is not None and attention.weights.shape == (B, 3, T, S)


def test_split_and_join_heads_undo_each_other() -> None:
    attention = MultiHeadAttention(12, 3)
    x = torch.randn(B, T, 12)
    assert attention.split_heads(x).shape == (B, 3, T, 4)
    assert torch.equal(attention.split_heads(x)[0, 1, 2], x[0, 2, 4:8])
    assert torch.equal(attention.join_heads(attention.split_heads(x)), x)


@pytest.mark.parametrize("kept", [False, True])
def test_dropout_on_the_weights_only_while_training(kept: bool) -> None:
    torch.manual_seed(0)
    attention, plain = MultiHeadAttention(12, 3, dropout=0.5), MultiHeadAttention(12, 3)
    plain.load_state_dict(attention.state_dict())
    attention.keep_weights = kept
    x = torch.randn(B, T, 12)
    assert not torch.equal(attention(x, x), attention(x, x))
    assert (attention.weights is not None) == kept
    torch.testing.assert_close(attention.eval()(x, x), plain(x, x))


def test_the_weights_kept_are_those_of_the_last_call_before_dropout() -> None:
    attention = keep_weights(MultiHeadAttention(12, 3, dropout=0.5))
    for length in (S, T):
        attention(torch.randn(B, T, 12), torch.randn(B, length, 12))
        torch.testing.assert_close(attention.weights.sum(-1), torch.ones(B, 3, T))
        assert attention.weights.size(-1) == length


def test_a_query_that_fits_one_key_looks_there() -> None:
    key = torch.eye(S)[None, None] * 30
    _, weights = scaled_dot_product_attention(
        torch.eye(S)[None, None, [3, 1]] * 30, key, key
    )
    assert weights.argmax(-1).flatten().tolist() == [3, 1] and weights.amax() > 0.99


def test_padding_mask_hides_padding_from_every_head() -> None:
    ids = nmt.pad_batch(random_rows([6, 3], 9))
    x = torch.randn(2, 6, 12)
    attention = keep_weights(MultiHeadAttention(12, 3))
    attention(x, x, padding_mask(ids))
    weights = attention.weights
    assert (
        (weights[1, ..., 3:] == 0).all()
        and (weights[1, ..., :3] > 0).all()
        and (weights[0] > 0).all()
    )
