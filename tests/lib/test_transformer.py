"""The Transformer: its size, its switches, what it refuses, and caches."""

import math
from typing import Any

import pytest
import torch
from torch import nn

import nmt_lib as nmt
from tests.lib.small import SRC, TGT, VARIANTS, small_config, small_model


@pytest.mark.parametrize("options", [*VARIANTS, {"tying": "three-way"}], ids=str)
def test_parameter_count(options: dict[str, Any]) -> None:
    """Counted from figure 1 of the paper, not from the code."""
    config = small_config(**options)
    D, bias, norm = config.d_model, config.bias, config.d_model * (1 + config.norm_bias)

    def linear(n_in: int, n_out: int) -> int:
        return n_in * n_out + n_out * bias

    values = config.n_heads * (config.d_value or D // config.n_heads)
    attention = 2 * linear(D, D) + linear(D, values) + linear(values, D)
    feed_forward = linear(D, config.d_ff) + linear(config.d_ff, D)
    encoder = config.n_layers * (attention + feed_forward + 2 * norm)
    n_decoder_layers = config.n_decoder_layers or config.n_layers
    decoder = n_decoder_layers * (2 * attention + feed_forward + 3 * norm)
    final = config.final_norm if config.final_norm is not None else config.norm == "pre"
    matrices = {"none": 3, "target": 2, "three-way": 1}[config.tying] * 13 * D
    expected = encoder + decoder + 2 * norm * final + matrices + 13 * bias
    model = nmt.Transformer(config, 13, 13)
    assert nmt.count_parameters(model) == expected


def test_three_way_tying_of_unequal_vocabularies_is_an_error() -> None:
    with pytest.raises(nmt.ShapeError, match="one vocabulary"):
        nmt.Transformer(small_config(tying="three-way"), 11, 13)


@pytest.mark.parametrize(
    ("key", "home"),
    [
        ("dropout", "around_"),
        ("embedding_dropout", "_embedding"),
        ("ffn_dropout", "feed_forward."),
        ("attention_dropout", "_attention"),
    ],
)
@pytest.mark.parametrize("norm", ["post", "pre"])
def test_each_dropout_acts_alone_and_only_while_training(
    key: str, home: str, norm: str
) -> None:
    rates_of: dict[str, Any] = {"embedding_dropout": 0.0} | {key: 0.4}
    model = small_model(norm=norm, **rates_of)
    assert torch.allclose(model(SRC, TGT), small_model(norm=norm)(SRC, TGT), atol=1e-5)
    assert not torch.allclose(model.train()(SRC, TGT), model(SRC, TGT))
    rates = {
        name: getattr(module, "p", getattr(module, "dropout", 0.0))
        for name, module in model.named_modules()
    }
    active = [name for name, rate in rates.items() if rate == 0.4]
    assert active and all(home in name for name in active)
    assert small_model(dropout=0.3).src_embedding.dropout.p == 0.3  # the default


@pytest.mark.parametrize("init", ["xavier", "xavier-all", "torch"])
def test_initial_weights(init: str) -> None:
    torch.manual_seed(0)
    model = nmt.Transformer(small_config(d_model=64, init=init), 300, 300)
    W_1 = model.get_submodule("encoder.layers.0.feed_forward.W_1")
    assert isinstance(W_1, nn.Linear)
    bound = 1 / math.sqrt(64) if init == "torch" else math.sqrt(6 / (64 + 24))
    assert 0.95 * bound < W_1.weight.abs().max() <= bound
    assert (W_1.bias == 0).all() == (init != "torch")
    std = {"xavier": 1 / 8, "xavier-all": math.sqrt(2 / 364), "torch": 1.0}[init]
    found = model.src_embedding.lookup.weight.std().item()
    assert found == pytest.approx(std, rel=0.03)


@pytest.mark.parametrize("options", VARIANTS, ids=str)
def test_steps_with_caches_equal_all_positions_at_once(options: dict[str, Any]) -> None:
    model, src_mask = small_model(**options), nmt.padding_mask(SRC)
    tgt = TGT[1].expand(3, -1)  # (3, 7) without padding
    memory = model.encode(SRC, src_mask)
    caches = model.decoder.make_caches(memory)
    expected = model(SRC, tgt)
    for start, end in ((0, 2), (2, 3), (3, 5), (5, 7)):
        mask = nmt.causal_mask(end)[..., start:, :] if start == 5 else None
        x = model.decode(tgt[:, start:end], memory, src_mask, mask, caches)
        logits = model.output(x)
        torch.testing.assert_close(logits, expected[:, start:end], atol=1e-5, rtol=0)
