"""The model equals ``torch.nn.Transformer`` with the same weights: outputs and gradients, with padding."""

import pytest
import torch
from tests.lib.small import keep_weights
from torch import nn

import nmt_lib as nmt
from nmt_lib.config import ModelConfig
from nmt_lib.masks import causal_mask, padding_mask

D, H, FF, N = 16, 4, 24, 3


def copy_attention(ours: nn.Module, theirs: nn.MultiheadAttention) -> None:
    theirs.in_proj_weight.data = torch.cat(
        [ours.W_q.weight, ours.W_k.weight, ours.W_v.weight]
    ).data
    theirs.in_proj_bias.data = torch.cat(
        [ours.W_q.bias, ours.W_k.bias, ours.W_v.bias]
    ).data
    theirs.out_proj.load_state_dict(ours.W_o.state_dict())


def copy_layer(ours: nn.Module, theirs: nn.Module) -> None:
    copy_attention(ours.self_attention, theirs.self_attn)
    theirs.linear1.load_state_dict(ours.feed_forward.W_1.state_dict())
    theirs.linear2.load_state_dict(ours.feed_forward.W_2.state_dict())
    if hasattr(ours, "cross_attention"):
        copy_attention(ours.cross_attention, theirs.multihead_attn)
        norms = (
            ours.around_self_attention,
            ours.around_cross_attention,
            ours.around_feed_forward,
        )
    else:
        norms = ours.around_attention, ours.around_feed_forward
    for i, residual in enumerate(norms, start=1):
        getattr(theirs, f"norm{i}").load_state_dict(residual.norm.state_dict())


def build_both(norm: str) -> tuple[nn.Module, nn.Transformer]:
    """Our model, and torch's with the same weights. torch's always has a final norm on each stack."""
    torch.manual_seed(0)
    config = ModelConfig(
        d_model=D,
        n_heads=H,
        n_layers=N,
        d_ff=FF,
        norm=norm,
        final_norm=True,
        dropout=0.0,
    )
    ours = nmt.build_model(config, 11, 13)
    for parameter in ours.parameters():
        nn.init.normal_(
            parameter, std=0.3
        )  # norms and biases too: a copy that forgets one would show
    theirs = nn.Transformer(
        D, H, N, N, FF, 0.0, batch_first=True, norm_first=norm == "pre"
    )
    for mine, other in ((ours.encoder, theirs.encoder), (ours.decoder, theirs.decoder)):
        for a, b in zip(mine.layers, other.layers, strict=True):
            copy_layer(a, b)
        other.norm.load_state_dict(mine.norm.state_dict())
    return ours, theirs


@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("explicit", [False, True])
def test_outputs_and_gradients_equal_torch(norm: str, explicit: bool) -> None:
    ours, theirs = build_both(norm)
    if explicit:
        keep_weights(ours)
    src = nmt.pad_batch([[2, 5, 6, 7, 3], [2, 8, 3], [2, 9, 10, 3]])
    tgt = nmt.pad_batch([[2, 4, 5], [2, 6, 7, 8, 9, 10], [2]])
    x, y = (torch.randn(*ids.shape, D, requires_grad=True) for ids in (src, tgt))

    src_mask, tgt_mask = padding_mask(src), padding_mask(tgt) & causal_mask(tgt.size(1))
    memory = ours.encoder(x, src_mask)
    out = ours.decoder(y, memory, tgt_mask, src_mask)

    hidden = ~causal_mask(tgt.size(1))[0, 0]
    their_memory = theirs.encoder(x, src_key_padding_mask=src == 0)
    their_out = theirs.decoder(
        y,
        their_memory,
        hidden,
        tgt_key_padding_mask=tgt == 0,
        memory_key_padding_mask=src == 0,
    )

    assert (memory - their_memory)[src != 0].abs().max() <= 1e-5
    assert (out - their_out)[tgt != 0].abs().max() <= 1e-5

    direction = torch.randn_like(out)[tgt != 0]
    (out[tgt != 0] * direction).sum().backward()
    own = [x.grad.clone(), y.grad.clone()]
    x.grad = y.grad = None
    (their_out[tgt != 0] * direction).sum().backward()
    pairs = list(zip(own, [x.grad, y.grad], strict=True))
    for mine, other in ((ours.encoder, theirs.encoder), (ours.decoder, theirs.decoder)):
        for a, b in zip(mine.layers, other.layers, strict=True):
            stacked = torch.cat(
                [
                    getattr(a.self_attention, name).weight.grad
                    for name in ("W_q", "W_k", "W_v")
                ]
            )
            pairs.append((stacked, b.self_attn.in_proj_weight.grad))
            pairs.append((a.feed_forward.W_1.weight.grad, b.linear1.weight.grad))
            pairs.append(
                (
                    a.around_feed_forward.norm.weight.grad,
                    (b.norm3 if hasattr(b, "norm3") else b.norm2).weight.grad,
                )
            )
    for a, b in pairs:
        assert (a - b).abs().max() <= 1e-5 * b.abs().max()
