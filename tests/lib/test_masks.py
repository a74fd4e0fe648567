"""Masks: what they hide, which shapes are refused, and a source of only padding."""

import pytest
import torch

import nmt_lib as nmt
from nmt_lib.model.attention import (
    causal_mask,
    collect_weights,
    padding_mask,
    target_mask,
)
from tests.lib.small import small_model

SRC = torch.tensor([[2, 5, 6, 3, 0], [2, 7, 3, 0, 0]])
TGT = torch.tensor([[2, 5, 6, 7], [2, 8, 0, 0]])


def test_padding_mask_is_true_at_tokens() -> None:
    mask = padding_mask(SRC)
    assert mask.shape == (2, 1, 1, 5) and mask.dtype == torch.bool
    assert mask[:, 0, 0].tolist() == [[True] * 4 + [False], [True] * 3 + [False] * 2]
    assert padding_mask(torch.tensor([[0, 9]]), pad=9).flatten().tolist() == [1, 0]


def test_causal_mask_lets_each_position_see_itself_and_its_past() -> None:
    assert causal_mask(3).tolist() == [[[[1, 0, 0], [1, 1, 0], [1, 1, 1]]]]
    assert causal_mask(3).dtype == torch.bool


def test_target_mask_hides_padding_and_the_future() -> None:
    mask = target_mask(TGT)
    assert mask.shape == (2, 1, 4, 4) and torch.equal(mask[:1], causal_mask(4))
    rows = [[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 0, 0], [1, 1, 0, 0]]
    assert mask[1, 0].tolist() == rows


def test_masks_that_are_passed_replace_those_made_inside() -> None:
    model = small_model()
    logits = model(SRC, TGT)
    assert torch.equal(model(SRC, TGT, padding_mask(SRC), target_mask(TGT)), logits)
    all_visible = torch.ones(1, 1, 1, 5, dtype=torch.bool)  # one row serves all
    for masks in ((all_visible, None), (None, all_visible[..., :4])):
        assert not torch.allclose(model(SRC, TGT, *masks), logits, atol=1e-3)
    assert (model.attention(SRC, TGT, all_visible).cross[0] > 0).all()


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ([SRC[0], TGT], r"src .*\(5,\)"),
        ([SRC, TGT.float()], r"tgt_in .*float32"),
        ([SRC[:1], TGT], "src has 1 sentences, tgt_in has 2"),
        ([SRC, TGT, (SRC != 0).long()[:, None, None]], r"boolean .*torch\.int64"),
        ([SRC, TGT, SRC != 0], r"shape \(2, 5\)"),
        (
            [SRC, TGT, (SRC != 0)[:, None, None, :4]],
            r"shape \(2, 1, 1, 4\).*\(2, 4, 5, 5\)",
        ),
        ([SRC, TGT, (SRC != 0)[[0, 1, 1], None, None]], r"shape \(3, 1, 1, 5\)"),
        ([SRC, TGT, None, causal_mask(3)], r"shape \(1, 1, 3, 3\)"),
        ([SRC, TGT, None, causal_mask(4)[0]], r"shape \(1, 4, 4\)"),
        # In the wrong order: the lengths of both sides are equal.
        ([TGT, TGT, target_mask(TGT), padding_mask(TGT)], "src_mask has shape"),
    ],
)
def test_wrong_ids_and_masks_are_named(
    inputs: list[torch.Tensor], message: str
) -> None:
    with pytest.raises(nmt.ShapeError, match=message):
        small_model()(*inputs)


@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("collect", [False, True])
def test_a_source_of_only_padding_adds_nothing(norm: str, collect: bool) -> None:
    model = small_model(norm=norm, bias=False).train()
    src = torch.stack([SRC[0], torch.zeros_like(SRC[0])])
    outputs = []
    model.get_submodule("decoder.layers.0.cross_attention").register_forward_hook(
        lambda module, inputs, out: outputs.append(out)
    )
    logits = (collect_weights(model)[0] if collect else model)(src, TGT)
    assert (outputs[0][1] == 0).all() and (outputs[0][0] != 0).any()
    torch.testing.assert_close(logits[:1], model(SRC[:1], TGT[:1]), atol=1e-5, rtol=0)
    logits.square().sum().backward()
    gradients = [p.grad for p in model.parameters()]
    assert all(g is not None and g.isfinite().all() for g in gradients)
    assert nmt.greedy_search(model.eval(), src, 5)[1].log_prob < 0  # no NaN
