"""The model equals ``torch.nn.Transformer`` with the same weights and padding."""

from typing import Any

import pytest
import torch
from torch import nn

import nmt_lib as nmt
from nmt_book.deeper_06.lab import under_torch_names
from nmt_lib.model.attention import collect_weights
from tests.lib.small import SRC, TGT, small_model


@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("explicit", [False, True])
def test_outputs_and_gradients_equal_torch(norm: str, explicit: bool) -> None:
    # torch's model always has a final norm on each stack.
    ours = small_model(norm=norm, final_norm=True, n_layers=3)
    theirs = nn.Transformer(
        16, 4, 3, 3, 24, 0.0, batch_first=True, norm_first=norm == "pre"
    )
    theirs.load_state_dict(under_torch_names(ours.state_dict()))
    x, y = (torch.randn(*ids.shape, 16, requires_grad=True) for ids in (SRC, TGT))

    src_mask = nmt.padding_mask(SRC)
    model = collect_weights(ours)[0] if explicit else ours
    memory = model.encoder(x, src_mask)
    out = model.decoder(y, memory, src_mask, nmt.target_mask(TGT))

    their_memory = theirs.encoder(x, src_key_padding_mask=SRC == 0)
    their_out = theirs.decoder(
        y,
        their_memory,
        ~nmt.causal_mask(7)[0, 0],
        tgt_key_padding_mask=TGT == 0,
        memory_key_padding_mask=SRC == 0,
    )
    assert (memory - their_memory)[SRC != 0].abs().max() <= 1e-5
    assert (out - their_out)[TGT != 0].abs().max() <= 1e-5

    direction = torch.randn_like(out)[TGT != 0]
    results: list[dict[str, Any]] = []
    for result in (out, their_out):
        x.grad = y.grad = None
        (result[TGT != 0] * direction).sum().backward()
        results.append({"x": x.grad, "y": y.grad})
    grads = {n: p.grad for n, p in ours.named_parameters() if p.grad is not None}
    results[0] |= under_torch_names(grads)
    results[1] |= {name: p.grad for name, p in theirs.named_parameters()}
    assert results[0].keys() == results[1].keys()
    for name, gradient in results[1].items():
        difference = (results[0][name] - gradient).abs().max()
        assert difference <= 1e-5 * gradient.abs().max(), name
