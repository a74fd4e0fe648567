"""What an update costs, against counts of PyTorch and by hand."""

from typing import Any

import pytest
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

import nmt_lib as nmt
from nmt_book.chapter12 import check as chapter12
from nmt_book.chapter12 import costs
from tests.lib.small import VARIANTS, small_model


@pytest.mark.parametrize("shape", [(3, 7, 16, 4), (1, 5, 6, 1)])
def test_attention_keeps_what_the_exercise_says(shape: Any) -> None:
    assert costs.kept_by_attention(*shape) == chapter12.attention_bytes.right(*shape)


def test_weights_are_not_counted_as_kept() -> None:
    network = nmt.FeedForward(d_model=4, d_ff=8)
    x = torch.randn(2, 3, 4, requires_grad=True)  # (B, T, D)
    # All of x, since a part of it is a view, and what comes of the part.
    assert costs.kept_bytes(lambda: network(x[:1]), network) == 4 * (24 + 24)


@pytest.mark.parametrize("options", [*VARIANTS, {"n_decoder_layers": 1}], ids=str)
def test_operations_are_as_counted(options: dict[str, Any]) -> None:
    objective = nmt.Objective(small_model(**options))
    batch = nmt.make_batch([([4, 5, 6, 7], [nmt.SOS, 5, 6]), ([8], [nmt.SOS, 4])])
    (B, S), T = batch.src.shape, batch.tgt_in.size(1)
    by_hand = costs.flops_by_part(objective.model, B, S, T, batch.n_tokens)
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        objective(batch).backward()
    assert sum(by_hand.values()) == counter.get_total_flops()
