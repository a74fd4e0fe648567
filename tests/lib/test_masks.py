from collections.abc import Callable
from typing import Any

import pytest
import torch
from tests.lib.small import keep_weights, small_model

import nmt_lib as nmt
from nmt_lib.masks import causal_mask, padding_mask, target_mask

SRC = torch.tensor([[2, 5, 6, 3, 0], [2, 7, 3, 0, 0]])
TGT = torch.tensor([[2, 5, 6, 7], [2, 8, 0, 0]])


def test_padding_mask_is_true_on_tokens() -> None:
    mask = padding_mask(SRC)
    assert mask.shape == (2, 1, 1, 5) and mask.dtype == torch.bool
    assert mask[:, 0, 0].tolist() == [[True] * 4 + [False], [True] * 3 + [False] * 2]


def test_padding_mask_takes_another_pad_id() -> None:
    assert padding_mask(torch.tensor([[0, 9]]), pad=9).flatten().tolist() == [
        True,
        False,
    ]


def test_causal_mask_lets_each_place_see_itself_and_its_past() -> None:
    mask = causal_mask(4)
    assert mask.shape == (1, 1, 4, 4) and mask.dtype == torch.bool
    assert all(bool(mask[0, 0, t, s]) == (s <= t) for t in range(4) for s in range(4))


def test_target_mask_is_both() -> None:
    mask = target_mask(TGT)
    assert mask.shape == (2, 1, 4, 4)
    assert mask[0, 0].tolist() == causal_mask(4)[0, 0].tolist()
    assert mask[1, 0].sum(-1).tolist() == [1, 2, 2, 2]


def test_masks_passed_equal_masks_made_inside() -> None:
    model = small_model()
    assert torch.equal(
        model(SRC, TGT), model(SRC, TGT, padding_mask(SRC), target_mask(TGT))
    )


def test_a_mask_of_one_sentence_serves_all() -> None:
    model, src = small_model(), SRC[:, :3]
    tgt = TGT[:, :2]
    torch.testing.assert_close(
        model(src, tgt),
        model(src, tgt, torch.ones(1, 1, 1, 3, dtype=torch.bool), causal_mask(2)),
    )


@pytest.mark.parametrize("ask", [nmt.Transformer.__call__, nmt.Transformer.attention])
@pytest.mark.parametrize(
    ("src_mask", "message"),
    [
        ((SRC != 0).long()[:, None, None], r"boolean .*torch\.int64"),
        ((SRC != 0).float()[:, None, None], r"boolean .*torch\.float32"),
        (SRC != 0, r"shape \(2, 5\)"),
        ((SRC != 0)[:, None], r"shape \(2, 1, 5\)"),
        ((SRC != 0)[:, None, None, :4], r"shape \(2, 1, 1, 4\).*\(2, 4, 5, 5\)"),
        ((SRC != 0)[[0, 1, 1], None, None], r"shape \(3, 1, 1, 5\)"),
    ],
)
def test_a_wrong_source_mask_is_named(
    src_mask: torch.Tensor, message: str, ask: Callable[..., Any]
) -> None:
    with pytest.raises(nmt.ShapeError, match=message):
        ask(small_model(), SRC, TGT, src_mask)


@pytest.mark.parametrize(
    "tgt_mask",
    [causal_mask(3), causal_mask(4).float(), causal_mask(4)[0], causal_mask(5)],
)
def test_a_wrong_target_mask_is_named(tgt_mask: torch.Tensor) -> None:
    with pytest.raises(nmt.ShapeError, match="mask"):
        small_model()(SRC, TGT, None, tgt_mask)


@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("explicit", [False, True])
def test_a_source_of_nothing_but_padding_gives_zeros_and_finite_gradients(
    norm: str, explicit: bool
) -> None:
    model = small_model(norm=norm, bias=False).train()
    src = torch.cat([SRC[:1], torch.zeros_like(SRC[:1])])
    seen: dict[str, torch.Tensor] = {}
    for name in ("encoder.layers.0.self_attention", "decoder.layers.0.cross_attention"):
        model.get_submodule(name).W_o.register_forward_hook(
            lambda m, i, out, name=name: seen.update({name: out})
        )
    if explicit:
        attention = model.attention(src, TGT)
        assert all((w[1] == 0).all() for w in (*attention.encoder, *attention.cross))
        keep_weights(model)
    logits = model(src, TGT)
    assert logits.isfinite().all()
    assert len(seen) == 2
    assert all((out[1] == 0).all() and (out[0] != 0).any() for out in seen.values())
    logits.square().sum().backward()
    assert all(
        p.grad is not None and p.grad.isfinite().all() for p in model.parameters()
    )
    torch.testing.assert_close(logits[:1], model(SRC[:1], TGT[:1]), atol=1e-5, rtol=0)


def test_explicit_and_fused_agree_on_a_source_of_nothing_but_padding() -> None:
    model, src = small_model(), torch.zeros_like(SRC)
    fused = model(src, TGT)
    torch.testing.assert_close(keep_weights(model)(src, TGT), fused, atol=1e-5, rtol=0)


def test_a_source_of_nothing_but_padding_is_decoded() -> None:
    model, src = (
        small_model(sharpen=3.0),
        torch.cat([SRC[:1], torch.zeros_like(SRC[:1])]),
    )
    alone = nmt.greedy_search(model, SRC[:1], 5)
    both = nmt.greedy_search(model, src, 5)
    assert both[0].ids == alone[0].ids and len(both[1].ids) <= 5
    assert [h.log_prob == h.log_prob for h in both] == [True, True]  # no NaN
