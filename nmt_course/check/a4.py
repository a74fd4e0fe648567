"""A4: encoder, decoder and the assembled model. One public check for each graded part.

What a part builds on is passed in: stand-ins that do something of their own, so that no
check needs another answer.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from nmt_lib import MultiHeadAttention

from ..standins.a4 import (
    WORDS,
    Blind,
    Maker,
    block_parts,
    hear,
    looks,
    moved,
    n_parameters,
    really,
    run,
    sees,
    slopes,
    small_model,
    torch_layer,
)
from ..standins.a4 import heard_slopes as heard_slopes
from ..standins.a4 import same_slopes as same_slopes
from .kit import (
    CUT,
    ask,
    done,
    expect,
    fill,
    linear,
    match,
    near,
    random_numbers,
    state_of,
    tensor,
)
from .kit import gives as gives
from .kit import slopes_of as slopes_of
from .kit import spares as spares

PAST = "a sub-layer reads x past its around: take what around hands over"


def normed(norm_class: Any, eps: float) -> None:
    x = torch.tensor([[[0.3, 0.1, 0.3, 0.1], [0.6, 0.2, 0.6, 0.2]]])
    middle, variance = x - x.mean(-1, keepdim=True), x.var(-1, keepdim=True)
    known = [
        (middle / (0.75 * variance).sqrt().add(eps), "ε is inside the root"),
        (
            middle / (variance + eps).sqrt(),
            "the variance is a mean over d_model numbers",
        ),
        (middle / (0.75 * variance + 1e-5).sqrt(), "the ε of the rules is missing"),
    ]
    right, hint = nn.functional.layer_norm(x, (4,), eps=eps), "each position by itself"
    got = tensor(run(ask(norm_class, 4), x), "what comes out", (1, 2, 4), "(B, T, D)")
    match(got, right, f"{x.tolist()} becomes", *known, hint=hint)
    done("the norm")


def trained(norm_class: Any, gain: str, shift: str) -> None:
    layer, x = ask(norm_class, 4), random_numbers(1, 1, 4)
    for name, start in ((gain, 1.0), (shift, 0.0)):
        first = state_of(layer).get(name)
        expect(first is not None, f"there is no nn.Parameter named {name}")
        match(tensor(first, name, (4,)), torch.full((4,), start), f"{name} begins as")
    bare, new = run(layer, x), fill(layer)
    right, unused = bare * new[gain] + new[shift], (bare, "they are not used")
    match(run(layer, x), right, f"with another {gain} and {shift}", unused)
    for name, slope in ask(slopes, layer, x).items():
        expect(slope.abs().max() > 0, f"no gradient reaches {name}: {CUT}")
    done("what is trained")


def feed_forward(ffn_class: Any, activation: Any) -> None:
    layer, x, name = ask(ffn_class, 3, 5), random_numbers(1, 1, 3), activation.__name__
    state = fill(layer)
    for key, shape in (
        ("W_1.weight", (5, 3)),
        ("W_2.weight", (3, 5)),
        ("W_2.bias", (3,)),
    ):
        expect(key in state, f"there is no {key}: FFN has two nn.Linear, W_1 and W_2")
        tensor(state[key], f"d_model = 3, d_ff = 5: {key}", shape)
    wide = linear(x, state, "W_1")
    known = [
        (linear(wide, state, "W_2"), f"{name} is missing: two linear layers are one"),
        (linear(wide.relu(), state, "W_2"), f"this is relu; the rules say {name}"),
    ]
    right = linear(activation(wide), state, "W_2")
    match(run(layer, x), right, "the network gives", *known, hint=f"W_1, {name}, W_2")
    done("the feed-forward network")


def order(class_: Any) -> None:
    """The norm here gives ten times x, so that numbers tell what was done."""
    norm, sublayer, x = times(10.0), times(3.0, 1.0), torch.ones(1, 2, 1)
    known = [
        *((n, "the sum is missing") for n in (40.0, 31.0)),
        *((n, "this is the other order") for n in (32.0, 50.0)),
        (5.0, "the norm is missing"),
    ]
    for name, right in (("post", 50.0), ("pre", 32.0)):
        layer = ask(class_, norm, 0.0, name).eval()
        got = run(layer, x, sublayer)[0, 0, 0].item()
        match(got, right, f"x = 1, norm 10x, sub-layer 3x + 1, {name}:", *known)
        hint = "keep the norm as an attribute"
        match(n_parameters(layer), 2, "numbers that are trained:", hint=hint)
    done("sum and norm")


def dropout(class_: Any) -> None:
    layer, x = ask(class_, nn.Identity(), 0.25, "post"), torch.full((1, 40, 60), 5.0)
    ones = times(0.0, 1.0, 60)
    layer.train()
    left = run(layer, x, ones) - x
    expect(
        left.min() > -4, "x itself is dropped: drop the sub-layer's numbers, then add"
    )
    share = (left.abs() < 1e-3).float().mean().item()
    expect(
        abs(share - 0.25) < 0.1, f"dropout 0.25 drops {share:.0%} of the sub-layer's"
    )
    match(left.max(), torch.tensor(4 / 3), "1, where it is kept, becomes")
    layer.eval()
    same = near(run(layer, x, ones), x + 1)
    expect(same, "after layer.eval() dropout is still at work")
    done("dropout")


def encoder(block_class: Any) -> None:
    parts, x, seen = (
        block_parts(),
        random_numbers(1, 3, 4),
        torch.ones(1, 1, 1, 3).bool(),
    )
    seen[..., 2] = False
    block = _block(block_class, parts, 1)
    got = tensor(run(block, x, None), "what comes out", (1, 3, 4))
    unfed = parts[3][0](x, looks(parts[0]))
    expect(not near(got, unfed), "the feed-forward network is not used")
    one, two = (run(block, y, seen)[:, :2] for y in (x, _other(x, 2)))
    expect(near(one, two), "a hidden position changes the others: pass src_mask on")
    blind = ask(block_class, parts[0], parts[2], [Blind(), Blind()])
    one, two = (run(blind, y, None)[:, :2] for y in (x, _other(x, 2)))
    expect(near(one, two), PAST)
    done("the encoder layer")


def reads(block_class: Any) -> None:
    parts, x, memory = block_parts(), random_numbers(1, 2, 4), random_numbers(1, 3, 4)
    block = _block(block_class, parts, 2)
    got = tensor(run(block, x, memory, None, None), "what comes out", (1, 2, 4))
    new = run(block, x, _other(memory, 1), None, None)
    expect(not near(got, new), "another memory changes nothing: who reads it?")
    new = run(block, _other(x, 1), memory, None, None)[:, :1]
    expect(not near(got[:, :1], new), "position 0 does not see position 1 of x")
    blind = ask(block_class, *parts[:3], [Blind(), Blind(), Blind()])
    one, two = (run(blind, y, memory, None, None)[:, :1] for y in (x, _other(x, 1)))
    expect(near(one, two), PAST)
    done("who reads what")


def two_masks(block_class: Any) -> None:
    """The source is longer than the target, so swapped arguments are noticed."""
    x, memory = random_numbers(1, 3, 4), random_numbers(1, 5, 4) + 1
    block, seen = _block(block_class, block_parts(), 2), torch.ones(1, 1, 1, 5).bool()
    past, seen[..., 4] = torch.ones(3, 3).tril().bool()[None, None], False
    one, two = (run(block, y, memory, past, None) for y in (x, _other(x, 2)))
    hint = "another word at the last position changes earlier ones: is tgt_mask used?"
    expect(near(one[:, :2], two[:, :2]), hint)
    two, three = (run(block, x, y, None, seen) for y in (memory, _other(memory, 4)))
    hint = "a hidden position of the source changes what comes out: is src_mask used?"
    expect(near(two, three), hint)
    two = run(block, x, _other(memory, 4), past, None)
    expect(not near(one[:, :1], two[:, :1]), "every position may see the whole source")
    done("the two masks")


def stack(stack_class: Any) -> None:
    x, extra, norm = (
        random_numbers(1, 1, 4),
        random_numbers(1, 1, 4) + 1,
        times(9, 0, 4),
    )
    make = Maker()
    a, b, c = make(), make(), make()
    got, hint = ask(stack_class, Maker(), 3), "a Python list hides its modules"
    match(n_parameters(got), 3 * n_parameters(a), "trained in three layers:", hint=hint)
    right = c(b(a(x, extra), extra), extra)
    first = (a(x, extra), "only the first layer is used: is the return in the loop?")
    bare = (c(b(a(x))), "the others (masks, memory) are not passed on")
    match(run(got, x, extra), right, "three layers give", first, bare)
    got, unused = ask(stack_class, Maker(), 3, norm), (right, "norm is not used")
    match(run(got, x, extra), norm(right), "with a norm at the end", unused)
    done("the stack")


def embedding(model_class: Any) -> None:
    model, src, tgt_in, table = small_model(model_class)
    state, found = state_of(model), hear(model, src, tgt_in)
    expect("table.weight" in state, "there is no table.weight: one nn.Embedding, table")
    words = state["table.weight"]
    for side, ids in (("encoder", src), ("decoder", tgt_in)):
        row, position = words[ids], table[: ids.size(1)].expand(*ids.shape, -1)
        got, right = found[side][0], 2 * row + position
        tensor(got, f"what the {side} gets", tuple(right.shape))
        known = [
            (row[0, 0] + position[0, 0], "the factor √d_model is missing"),
            (2 * row[0, 0], "the positions are missing"),
        ]
        match(got[0, 0], right[0, 0], f"the {side} gets, first of all", *known)
        expect(near(got, right), f"the {side} gets wrong vectors after the first one")
    done("the embeddings")


def model_masks(model_class: Any, pad: int) -> None:
    model, src, tgt_in, _ = small_model(model_class)
    src[1, 2:], tgt_in[1, 1:] = pad, pad
    found = hear(model, src, tgt_in)
    n = len(found["encoder"]), len(found["decoder"])
    match(n, (2, 4), "encoder and decoder get so many arguments:")
    same = near(found["decoder"][1], found["memory"])
    expect(same, "the decoder's memory is not what the encoder gave")
    for name, mask, ids, n_queries in (
        ("the encoder's mask", found["encoder"][1], src, 4),
        ("the decoder's mask for the source", found["decoder"][3], src, 3),
        ("the decoder's mask for the target", found["decoder"][2], tgt_in, 3),
    ):
        seen = sees(mask, ids, n_queries, name)
        expect(seen[0, -1].all(), f"{name} hides words from the last position")
        hidden = not seen[1, 0, ids[1] == pad].any()
        expect(hidden, f"{name} shows <pad>, which is the id {pad} here")
    expect(
        not seen[0].triu(1).any(), "a position of the target sees what comes after it"
    )
    done("the masks of the model")


def output(model_class: Any) -> None:
    model, src, tgt_in, _ = small_model(model_class)
    n, right = n_parameters(model), WORDS * 5 + 2 * 3
    known = [
        (right + WORDS * 4, "the table and the output layer share one matrix"),
        (right - WORDS, "the output layer has a bias"),
        (right + 28, "the table of positions is not trained"),
    ]
    match(n, right, "numbers that are trained:", *known)
    moved(model)  # a step of training
    state, found = state_of(model), hear(model, src, tgt_in)
    out = tensor(found["out"], "the table of logits", (2, 3, WORDS), "(B, T, V)")
    expect("output.bias" in state, "the bias of the output layer is called output.bias")
    right = found["gave"] @ state["table.weight"].T + state["output.bias"]
    normed = out.logsumexp(-1).abs().max() < 1e-3 or near(out.sum(-1), 1.0)
    expect(not normed, "logits come without softmax")
    expect(
        near(out, right), "after a step of training: share the table, do not copy it"
    )
    done("the output layer")


def count(function: Any, biased: str) -> None:
    for name in ("post", "pre"):
        right = really(4, 6, 1, 10, name, biased)
        known = [
            (right + 40, "the matrix of the words counts once"),
            (right + 16, "with post no norm ends a stack"),
            (right - 16, "with pre a norm ends each stack, with gain and shift"),
        ]
        got = ask(function, 4, 6, 1, 10, name)
        match(got, right, f"d_model 4, d_ff 6, 1 layer, 10 words, {name}:", *known)
    done("the count")


def names(function: Any, gain: str, shift: str) -> None:
    state = torch_layer(4, 2, 6).state_dict()
    got = ask(function, {name: value.clone() for name, value in state.items()})
    matrices = [f"attention.W_{n}" for n in "qkvo"]
    matrices += [f"feed_forward.W_{n}" for n in "12"]
    wanted = {f"{n}.{kind}" for n in matrices for kind in ("weight", "bias")}
    wanted |= {f"around.{i}.norm.{kind}" for i in (0, 1) for kind in (gain, shift)}
    wrong = sorted(wanted ^ set(got))
    expect(not wrong, f"missing, or known to nobody: {', '.join(wrong)}")
    tensor(got["feed_forward.W_1.weight"], "d_ff = 6: feed_forward.W_1.weight", (6, 4))
    rows, mine = state["self_attn.in_proj_weight"][:4], got["attention.W_q.weight"]
    expect(torch.equal(mine, rows), "W_q is the first d_model ROWS of in_proj_weight")
    done("the names")


def together(answers: list[Any], activation: Any, eps: float, pad: int) -> None:
    """All answers in one model. No points: they fit together, and PyTorch agrees."""
    D, H, F = 16, 4, 32
    Norm, FFN, AddNorm, EncoderBlock, DecoderBlock, Stack, Model, from_torch = answers

    def stack_of(block_class: Any, n_attentions: int, order: str) -> Any:
        def layer() -> Any:
            attentions = [MultiHeadAttention(D, H) for _ in range(n_attentions)]
            parts = [*attentions, ask(FFN, D, F)]
            around = [ask(AddNorm, ask(Norm, D), 0.0, order) for _ in parts]
            return ask(block_class, *parts, around)

        return ask(Stack, layer, 2, ask(Norm, D))

    for order in ("post", "pre"):
        encoder = stack_of(EncoderBlock, 1, order)
        decoder = stack_of(DecoderBlock, 2, order)
        one = torch_layer(D, H, F, activation, eps, order)
        last = nn.LayerNorm(D, eps)
        theirs = nn.TransformerEncoder(one, 2, last, enable_nested_tensor=False).eval()
        mine = [m for m in encoder.modules() if isinstance(m, EncoderBlock)]
        for ours, its in zip(mine, theirs.layers, strict=True):
            state = ask(from_torch, its.state_dict())
            others = sorted(set(state) ^ set(state_of(ours)))
            expect(not others, f"attributes are named like arguments: {others[:4]}")
            ours.load_state_dict(state)
        x, hidden = torch.randn(2, 5, D), torch.arange(5) > torch.tensor([[4], [2]])
        right = theirs(x, src_key_padding_mask=hidden)
        gap = (run(encoder, x, ~hidden[:, None, None]) - right)[~hidden].abs().max()
        expect(gap < 1e-4, f"{order}: your encoder and PyTorch's differ by {gap:.2g}")
        model = ask(Model, WORDS, torch.randn(9, D), encoder, decoder)
        src, tgt = (torch.randint(pad + 1, WORDS, (2, n)) for n in (6, 5))
        gap = (run(model, src, tgt)[:, :4] - run(model, src, tgt[:, :4])).abs().max()
        expect(gap < 1e-4, f"{order}: logits change by {gap:.2g} with later words")
        n = f"{n_parameters(model):,} parameters"
        print(f"{order}: encoder as PyTorch's, no position sees the future, {n}")


def times(factor: float, plus: float = 0.0, width: int = 1) -> nn.Linear:
    """A module that multiplies each number of x, and adds to it."""
    layer, bias = nn.Linear(width, width), torch.full((width,), float(plus))
    layer.load_state_dict({"weight": factor * torch.eye(width), "bias": bias})
    return layer


def _block(block_class: Any, parts: Any, n_attentions: int) -> Any:
    """The student's layer, with all its parts registered."""
    inner, around = [*parts[:n_attentions], parts[2]], parts[3][: n_attentions + 1]
    block = ask(block_class, *inner, list(around))
    right = sum(map(n_parameters, (*inner, *around)))
    hint = "a Python list hides modules, nn.ModuleList does not"
    match(n_parameters(block), right, "numbers that are trained:", hint=hint)
    return block


def _other(x: Tensor, position: int) -> Tensor:
    """x with another vector at this position."""
    x = x.clone()
    x[:, position] += torch.arange(1.0, x.size(-1) + 1)
    return x
