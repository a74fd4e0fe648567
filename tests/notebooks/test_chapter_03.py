"""What chapter 03 says without showing it."""

from __future__ import annotations

import torch
from tests.lib.small import small_model

import nmt_lib as nmt

SRC = torch.tensor([[2, 5, 6, 7, 3], [2, 8, 3, 0, 0]])
TGT = torch.tensor([[2, 5, 6, 7, 8, 9], [2, 8, 9, 0, 0, 0]])


def test_with_padding_on_the_right_the_causal_mask_alone_would_do_in_the_decoder() -> (
    None
):
    model, real = small_model().double(), TGT != nmt.PAD
    both, causal = (
        model(SRC, TGT, nmt.padding_mask(SRC), mask)
        for mask in (nmt.target_mask(TGT), nmt.causal_mask(6))
    )
    torch.testing.assert_close(causal[real], both[real], atol=1e-10, rtol=0)
    assert (causal[~real] - both[~real]).abs().max() > 1e-6, "the padded rows do change"


def test_with_padding_on_the_left_it_would_not() -> None:
    model, left = small_model().double(), TGT[1:].flip(1)
    real = left != nmt.PAD
    both, causal = (
        model(SRC[1:], left, nmt.padding_mask(SRC[1:]), mask)
        for mask in (nmt.target_mask(left), nmt.causal_mask(6))
    )
    assert (causal[real] - both[real]).abs().max() > 1e-6


def test_a_leak_of_one_diagonal_grows_by_one_position_with_each_layer() -> None:
    model = small_model(n_layers=3).double()
    other = TGT[:1].clone()
    other[0, 5] = 4  # only the last word is different
    for diagonal, first in ((0, 5), (1, 2)):  # where it is first felt
        mask = torch.ones(1, 1, 6, 6, dtype=torch.bool).tril(diagonal)
        a, b = (model(SRC[:1], ids, None, mask) for ids in (TGT[:1], other))
        felt = (a - b).abs().amax(-1)[0] > 1e-10
        assert felt.nonzero()[0].item() == first
