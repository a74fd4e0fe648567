"""The model: its size, its switches, caches, attention maps and padding."""

import math
from typing import Any

import pytest
import torch
from torch import nn

import nmt_lib as nmt
from tests.lib.small import random_rows, small_config, small_model

V_SRC, V_TGT = 11, 13
SRC = nmt.pad_batch(random_rows([6, 4, 3], V_SRC))
TGT = nmt.pad_batch([row[:-1] for row in random_rows([5, 7, 3], V_TGT, seed=1)])
VARIANTS: list[dict[str, Any]] = [
    {},
    {"norm": "pre", "attention_dropout": 0.2},
    {"norm": "pre", "final_norm": False, "n_decoder_layers": 3},
    {"final_norm": True, "bias": False, "norm_bias": False, "n_layers": 1},
    {"d_value": 3, "tying": "target", "scale_embeddings": False},
]
every_variant = pytest.mark.parametrize("options", VARIANTS, ids=str)


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
    matrices = {"none": 3, "target": 2, "three-way": 1}[config.tying] * V_TGT * D
    expected = encoder + decoder + 2 * norm * final + matrices + V_TGT * bias
    model = nmt.Transformer(config, V_TGT, V_TGT)
    assert nmt.count_parameters(model) == expected


def test_three_way_tying_of_unequal_vocabularies_is_an_error() -> None:
    with pytest.raises(nmt.ShapeError, match="one vocabulary"):
        nmt.Transformer(small_config(tying="three-way"), V_SRC, V_TGT)


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


@pytest.mark.parametrize(
    ("src", "tgt", "message"),
    [
        (SRC[0], TGT, r"src .*\(6,\)"),
        (SRC, TGT.float(), r"tgt_in .*float32"),
        (SRC[:2], TGT, "src has 2 sentences, tgt_in has 3"),
    ],
)
def test_wrong_ids_are_named(
    src: torch.Tensor, tgt: torch.Tensor, message: str
) -> None:
    with pytest.raises(nmt.ShapeError, match=message):
        small_model()(src, tgt)


def test_masks_in_the_wrong_order_are_named_though_the_lengths_are_equal() -> None:
    ids = TGT % 11
    src_mask, tgt_mask = nmt.padding_mask(ids), nmt.target_mask(ids)
    with pytest.raises(nmt.ShapeError, match="src_mask has shape"):
        small_model()(ids, ids, tgt_mask, src_mask)


@every_variant
@pytest.mark.parametrize("step", [1, 2])
def test_steps_with_caches_equal_all_positions_at_once(
    options: dict[str, Any], step: int
) -> None:
    model, src_mask = small_model(**options), nmt.padding_mask(SRC)
    tgt = torch.tensor([[2, 4, 5, 6, 7, 8]] * 3)
    memory = model.encode(SRC, src_mask)
    caches = model.decoder.make_caches(memory)
    expected = model(SRC, tgt)
    for t in range(0, 6, step):
        mask = nmt.causal_mask(t + step)[..., t:, :]
        x = model.decode(tgt[:, t : t + step], memory, src_mask, mask, caches)
        logits = model.output(x)
        torch.testing.assert_close(logits, expected[:, t : t + step], atol=1e-5, rtol=0)


@every_variant
def test_logits_depend_on_the_whole_source_and_no_later_target_token(
    options: dict[str, Any],
) -> None:
    model = small_model(**options)
    before = model(SRC[:1], TGT[1:2])
    for i in range(1, 6):
        src, tgt = SRC[:1].clone(), TGT[1:2].clone()
        tgt[:, i] = (tgt[:, i] + 4) % 9 + 4
        change = (model(SRC[:1], tgt) - before).abs().amax(-1)[0]
        assert (change[:i] < 1e-6).all() and change[i] > 1e-4
        src[:, i] = 4 + (src[:, i] - 3) % 7
        assert ((model(src, TGT[1:2]) - before).abs().amax(-1) > 1e-4).all()
    assert not torch.allclose(model(SRC[:1].flip(1), TGT[1:2]), before, atol=1e-3)


@every_variant
def test_padding_changes_neither_logits_nor_attention(options: dict[str, Any]) -> None:
    model = small_model(**options)
    src, tgt = nn.functional.pad(SRC, (0, 5)), nn.functional.pad(TGT, (0, 4))
    padded, maps = model(src, tgt), model.attention(src, tgt)
    shapes = {"encoder": (11, 11), "decoder": (10, 10), "cross": (10, 11)}
    for kind, shape in shapes.items():
        layers = (model.encoder if kind == "encoder" else model.decoder).layers
        assert [w.shape for w in getattr(maps, kind)] == [(3, 4, *shape)] * len(layers)
    near: Any = {"atol": 1e-5, "rtol": 0}
    for row in range(3):
        alone = SRC[row, None, SRC[row] != 0], TGT[row, None, TGT[row] != 0]
        logits, attention = model(*alone)[0], model.attention(*alone)
        torch.testing.assert_close(padded[row, : len(logits)], logits, **near)
        for kind in shapes:
            pairs = zip(getattr(attention, kind), getattr(maps, kind), strict=True)
            for (mine,), other in pairs:  # (H, T, S)
                _, T, S = mine.shape
                torch.testing.assert_close(other[row, :, :T, :S], mine, **near)
                assert not other[row, :, :T, S:].any()
