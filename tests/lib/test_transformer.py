import math
from typing import Any

import pytest
import torch
from tests.lib.small import keep_weights, random_rows, small_config, small_model
from torch import nn

import nmt_lib as nmt

V_SRC, V_TGT, D, FF, N = 11, 13, 16, 24, 2
SRC = nmt.pad_batch(random_rows([6, 4, 3], V_SRC))
TGT = nmt.pad_batch([row[:-1] for row in random_rows([5, 7, 3], V_TGT, seed=1)])
SWITCHES: list[dict[str, Any]] = [
    {},
    {"norm": "pre"},
    {"norm": "pre", "final_norm": False},
    {"final_norm": True},
    {"bias": False, "norm_bias": False},
    {"d_value": 3},
    {"tying": "target"},
    {"scale_embeddings": False},
    {"n_decoder_layers": 3},
    {"n_layers": 1},
    {"attention_dropout": 0.2},
]


# ------------------------------------------------------------------------------------------------------- switches
def linear(n_in: int, n_out: int, bias: bool = True) -> int:
    return n_in * n_out + n_out * bias


def expected_parameters(config: Any, three_way: bool = False) -> int:
    """Counted from figure 1 of the paper, not from the code."""
    d, bias, norm = config.d_model, config.bias, config.d_model * (1 + config.norm_bias)
    values = config.n_heads * (config.d_value or d // config.n_heads)
    attention = (
        2 * linear(d, d, bias) + linear(d, values, bias) + linear(values, d, bias)
    )
    feed_forward = linear(d, config.d_ff, bias) + linear(config.d_ff, d, bias)
    encoder = config.n_layers * (attention + feed_forward + 2 * norm)
    decoder = (config.n_decoder_layers or config.n_layers) * (
        2 * attention + feed_forward + 3 * norm
    )
    final = (
        2
        * norm
        * (config.norm == "pre" if config.final_norm is None else config.final_norm)
    )
    src, tgt = V_SRC * d * (not three_way), V_TGT * d
    output = linear(d, V_TGT, bias) - tgt * (config.tying != "none")
    return encoder + decoder + final + src + tgt + output


@pytest.mark.parametrize("options", SWITCHES)
def test_parameter_count(options: dict[str, Any]) -> None:
    config = small_config(**options)
    assert nmt.count_parameters(
        nmt.build_model(config, V_SRC, V_TGT)
    ) == expected_parameters(config)


def test_parameter_count_three_way() -> None:
    config = small_config(tying="three-way")
    assert nmt.count_parameters(
        nmt.build_model(config, V_TGT, V_TGT)
    ) == expected_parameters(config, three_way=True)


@pytest.mark.parametrize("options", SWITCHES)
def test_logits_with_attention_equal_logits_without(options: dict[str, Any]) -> None:
    model = small_model(**options)
    logits = model(SRC, TGT)
    assert logits.shape == (3, 6, V_TGT)
    torch.testing.assert_close(
        keep_weights(model)(SRC, TGT), logits, atol=1e-5, rtol=1e-5
    )


def test_asking_for_attention_leaves_the_model_as_it_was() -> None:
    model = small_model()
    before = model(SRC, TGT)
    model.attention(SRC, TGT)
    with pytest.raises(nmt.ShapeError):
        model.attention(SRC, TGT, SRC != 0)
    assert torch.equal(model(SRC, TGT), before)
    heads = [
        module
        for module in model.modules()
        if isinstance(module, nmt.MultiHeadAttention)
    ]
    assert len(heads) == 3 * N and not any(
        module.keep_weights or module.weights is not None for module in heads
    )


@pytest.mark.parametrize("options", SWITCHES)
def test_the_model_is_encode_decode_output(options: dict[str, Any]) -> None:
    model = small_model(**options)
    src_mask = nmt.padding_mask(SRC)
    memory = model.encode(SRC, src_mask)
    x = model.decode(TGT, memory, src_mask)
    assert memory.shape == (3, 6, D) and x.shape == (3, 6, D)
    assert torch.equal(model.output(x), model(SRC, TGT))
    assert torch.equal(model.decode(TGT, memory, src_mask, nmt.target_mask(TGT)), x)


@pytest.mark.parametrize("options", SWITCHES)
@pytest.mark.parametrize("step", [1, 2])
def test_steps_with_caches_equal_all_places_at_once(
    options: dict[str, Any], step: int
) -> None:
    model = small_model(**options)
    src_mask, tgt = nmt.padding_mask(SRC[:1]), torch.tensor([[2, 4, 5, 6, 7, 8]])
    memory = model.encode(SRC[:1], src_mask)
    whole = model.decode(tgt, memory, src_mask)
    caches = model.decoder.make_caches(memory)
    for t in range(0, 6, step):
        mask = None if step == 1 else nmt.causal_mask(t + step)[..., t:, :]
        x = model.decode(tgt[:, t : t + step], None, src_mask, mask, caches)
        torch.testing.assert_close(x, whole[:, t : t + step], atol=1e-5, rtol=1e-5)
        assert {len(cache) for cache in caches} == {t + step}


@pytest.mark.parametrize("options", SWITCHES)
def test_attention_of_all_layers_and_heads(options: dict[str, Any]) -> None:
    model = small_model(**options)
    attention = model.attention(SRC, TGT)
    n_decoder = model.decoder.layers
    assert [tuple(w.shape) for w in attention.encoder] == [(3, 4, 6, 6)] * len(
        model.encoder.layers
    )
    assert [tuple(w.shape) for w in attention.decoder] == [(3, 4, 6, 6)] * len(
        n_decoder
    )
    assert [tuple(w.shape) for w in attention.cross] == [(3, 4, 6, 6)] * len(n_decoder)
    for weights in (*attention.encoder, *attention.decoder, *attention.cross):
        torch.testing.assert_close(weights.sum(-1), torch.ones(3, 4, 6))
    for weights in (*attention.encoder, *attention.cross):
        assert (weights[1, ..., 4:] == 0).all() and (weights[2, ..., 3:] == 0).all()
    for weights in attention.decoder:
        assert (weights.triu(1) == 0).all() and (weights[2, ..., 2:] == 0).all()


def test_attention_shapes_with_unequal_lengths() -> None:
    attention = small_model().attention(SRC, TGT[:, :4])
    assert attention.cross[0].shape == (3, 4, 4, 6) and attention.decoder[1].shape == (
        3,
        4,
        4,
        4,
    )


@pytest.mark.parametrize("options", SWITCHES)
def test_no_logit_depends_on_a_later_target_token(options: dict[str, Any]) -> None:
    model = small_model(**options)
    before = model(SRC, TGT)
    for place in range(1, TGT.size(1)):
        changed = TGT.clone()
        changed[:, place] = (changed[:, place] + 4) % 9 + 4
        after = model(SRC, changed)
        torch.testing.assert_close(
            after[:, :place], before[:, :place], atol=1e-6, rtol=0
        )
        assert (after[1, place] - before[1, place]).abs().max() > 1e-4


def test_every_logit_depends_on_every_source_token_and_on_its_place() -> None:
    model = small_model()
    before = model(SRC[:1], TGT[:1, :4])
    for place in range(6):
        changed = SRC[:1].clone()
        changed[0, place] = 4 + (changed[0, place] - 3) % 7
        assert ((model(changed, TGT[:1, :4]) - before).abs().amax(-1) > 1e-4).all()
    assert not torch.allclose(model(SRC[:1].flip(1), TGT[:1, :4]), before, atol=1e-3)


def test_post_and_pre_norm_differ_and_follow_their_formulas() -> None:
    for norm in ("post", "pre"):
        layer = small_model(norm=norm).encoder.layers[0]
        x = torch.randn(1, 5, D)
        if norm == "post":
            h = layer.around_attention.norm(x + layer.self_attention(x, x))
            expected = layer.around_feed_forward.norm(h + layer.feed_forward(h))
        else:
            y = layer.around_attention.norm(x)
            h = x + layer.self_attention(y, y)
            expected = h + layer.feed_forward(layer.around_feed_forward.norm(h))
        torch.testing.assert_close(layer(x, None), expected)


@pytest.mark.parametrize(
    ("norm", "final", "has"),
    [("post", None, 0), ("pre", None, 2), ("post", True, 2), ("pre", False, 0)],
)
def test_final_norm(norm: str, final: bool | None, has: int) -> None:
    model = small_model(norm=norm, final_norm=final)
    assert (
        sum(
            isinstance(stack.norm, nn.LayerNorm)
            for stack in (model.encoder, model.decoder)
        )
        == has
    )


def test_no_bias_means_no_bias_anywhere() -> None:
    names = [
        name
        for name, _ in small_model(bias=False, norm_bias=False).named_parameters()
        if "bias" in name
    ]
    assert not names
    kept = [
        name for name, _ in small_model(bias=False).named_parameters() if "bias" in name
    ]
    assert kept and all(".norm." in name for name in kept)


@pytest.mark.parametrize(
    ("tying", "n_matrices"), [("none", 3), ("target", 2), ("three-way", 1)]
)
def test_tied_matrices_are_one_and_get_all_gradients(
    tying: str, n_matrices: int
) -> None:
    model = small_model(src_size=V_TGT, tying=tying)
    matrices = [
        model.src_embedding.lookup.weight,
        model.tgt_embedding.lookup.weight,
        model.output.weight,
    ]
    assert len({id(matrix) for matrix in matrices}) == n_matrices
    model(SRC, TGT).log_softmax(-1)[..., 5].sum().backward()
    for matrix, used in zip(
        matrices, (SRC[SRC != 0], TGT[TGT != 0], torch.arange(V_TGT)), strict=True
    ):
        assert (matrix.grad[used].abs().sum(-1) > 0).all()


def test_the_gradient_of_a_tied_matrix_is_the_sum_of_its_parts() -> None:
    tied, apart = (
        small_model(src_size=V_TGT, tying="three-way"),
        small_model(src_size=V_TGT),
    )
    apart.load_state_dict(tied.state_dict())
    for model in (tied, apart):
        model(SRC, TGT).square().sum().backward()
    parts = (apart.src_embedding.lookup, apart.tgt_embedding.lookup, apart.output)
    torch.testing.assert_close(
        tied.output.weight.grad, sum(part.weight.grad for part in parts)
    )


def test_three_way_tying_of_unequal_vocabularies_is_an_error() -> None:
    with pytest.raises(nmt.ShapeError, match="one vocabulary"):
        nmt.build_model(small_config(tying="three-way"), V_SRC, V_TGT)


def test_scale_embeddings_is_the_root_of_the_width() -> None:
    scaled, plain = small_model(), small_model(scale_embeddings=False)
    for embedding in (plain.src_embedding, plain.tgt_embedding):
        embedding.lookup.weight.data *= math.sqrt(D)
    torch.testing.assert_close(scaled(SRC, TGT), plain(SRC, TGT))


PLACES = ["dropout", "embedding_dropout", "ffn_dropout", "attention_dropout"]


@pytest.mark.parametrize("place", PLACES)
def test_each_dropout_place_acts_alone_and_only_while_training(place: str) -> None:
    rates = dict.fromkeys(PLACES, 0.0) | {place: 0.4}
    model = small_model(**rates)
    torch.testing.assert_close(
        model(SRC, TGT), small_model()(SRC, TGT), atol=1e-5, rtol=1e-5
    )
    model.train()
    assert not torch.allclose(model(SRC, TGT), model(SRC, TGT))
    active = [
        name
        for name, m in model.named_modules()
        if getattr(m, "p", getattr(m, "dropout", 0.0)) == 0.4
    ]
    homes = {
        "dropout": "around_",
        "embedding_dropout": "_embedding",
        "ffn_dropout": "feed_forward.",
        "attention_dropout": "_attention",
    }
    assert active and all(homes[place] in name for name in active)


def test_embeddings_take_the_general_dropout_unless_told() -> None:
    assert small_model(dropout=0.3).src_embedding.dropout.p == 0.3
    assert (
        small_model(dropout=0.3, embedding_dropout=0.0).tgt_embedding.dropout.p == 0.0
    )


def test_without_dropout_training_equals_evaluation() -> None:
    model = small_model()
    assert torch.equal(model.train()(SRC, TGT), model.eval()(SRC, TGT))


@pytest.mark.parametrize("init", ["xavier", "xavier-all", "torch"])
def test_init_kinds(init: str) -> None:
    torch.manual_seed(0)
    model = nmt.build_model(small_config(d_model=64, init=init), 300, 300)
    xavier = math.sqrt(6 / (64 + 24))
    W_1, lookup = (
        model.encoder.layers[0].feed_forward.W_1,
        model.src_embedding.lookup.weight,
    )
    bound = 1 / math.sqrt(64) if init == "torch" else xavier
    assert 0.95 * bound < W_1.weight.abs().max() <= bound
    assert (W_1.bias.abs().max() == 0) == (init != "torch")
    if init == "xavier-all":
        assert lookup.abs().max() <= math.sqrt(6 / 364)
    else:
        assert lookup.std().item() == pytest.approx(
            1.0 if init == "torch" else 1 / 8, rel=0.03
        )
    assert all(
        (m.weight == 1).all() and (m.bias == 0).all()
        for m in model.modules()
        if isinstance(m, nn.LayerNorm)
    )


def test_the_seed_decides_the_weights() -> None:
    states = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        states.append(nmt.build_model(small_config(), V_SRC, V_TGT).state_dict())
    assert all(torch.equal(states[0][k], states[1][k]) for k in states[0])
    assert not torch.equal(states[0]["output.weight"], states[2]["output.weight"])


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


def test_a_sentence_longer_than_the_table() -> None:
    long = nmt.pad_batch(random_rows([40], V_SRC))
    torch.testing.assert_close(
        small_model(max_positions=8)(long, long), small_model()(long, long)
    )


# ------------------------------------------------------------------------------------- padding never changes a result
@pytest.mark.parametrize("options", SWITCHES)
def test_padding_never_changes_logits_or_attention(options: dict[str, Any]) -> None:
    model = small_model(**options)

    def run(src: torch.Tensor, tgt: torch.Tensor) -> tuple[torch.Tensor, Any]:
        return model(src, tgt), model.attention(src, tgt)

    more = torch.nn.functional.pad(SRC, (0, 5)), torch.nn.functional.pad(TGT, (0, 4))
    padded = [run(SRC, TGT), run(*more)]
    for row in range(3):
        S, T = int((SRC[row] != 0).sum()), int((TGT[row] != 0).sum())
        logits, attention = run(SRC[row : row + 1, :S], TGT[row : row + 1, :T])
        for other_logits, other_attention in padded:
            torch.testing.assert_close(
                other_logits[row, :T], logits[0], atol=1e-5, rtol=0
            )
            for kind, rows, columns in (
                ("encoder", S, S),
                ("decoder", T, T),
                ("cross", T, S),
            ):
                for mine, other in zip(
                    getattr(attention, kind),
                    getattr(other_attention, kind),
                    strict=True,
                ):
                    torch.testing.assert_close(
                        other[row, :, :rows, :columns], mine[0], atol=1e-5, rtol=0
                    )
                    assert (other[row, :, :rows, columns:] == 0).all()


@pytest.mark.parametrize("options", SWITCHES)
def test_padding_never_changes_the_loss_or_its_gradients(
    options: dict[str, Any],
) -> None:
    targets = random_rows([5, 7, 3], V_TGT, seed=1)
    examples = list(zip(random_rows([6, 4, 3], V_SRC), targets, strict=True))
    gradients, losses = [], []
    model = small_model(**options)
    objective = nmt.Objective(model)
    for groups in ([[0, 1, 2]], [[0], [1], [2]]):
        model.zero_grad()
        loss = sum(objective(nmt.make_batch(examples, rows)) for rows in groups)
        loss.backward()
        losses.append(loss.detach())
        gradients.append([p.grad.clone() for p in model.parameters()])
    torch.testing.assert_close(losses[0], losses[1], rtol=1e-5, atol=1e-4)
    for a, b in zip(*gradients, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-4)
