"""A4: encoder, decoder and the assembled model. One public check for each graded part.

What a part builds on is passed in: stand-ins that do something of their own, so that no
check needs another answer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from nmt_lib import MultiHeadAttention

from ..standins.a4 import (
    ATTENTION,
    WORDS,
    Around,
    Blind,
    Maker,
    block_parts,
    listen,
    moved,
    n_parameters,
    really,
    slopes,
    small_model,
    torch_layer,
)
from ..standins.a4 import heard_slopes as heard_slopes
from . import kit
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
    show,
    state_of,
    tensor,
)
from .kit import slopes_of as slopes_of
from .kit import spares as spares

FORBIDDEN = [
    "native_layer_norm",
    "native_group_norm",
    "_transformer_encoder_layer_fwd",
]  # of PyTorch's operators


def normed(norm_class: Any, eps: float) -> None:
    x = torch.tensor([[0.3, 0.1, 0.3, 0.1], [0.6, 0.2, 0.6, 0.2]])[
        None
    ]  # variances 0.01 and 0.04
    got = tensor(run(ask(norm_class, 4), x), "what comes out", (1, 2, 4), "(B, T, D)")
    centred, variance = x - x.mean(-1, keepdim=True), x.var(-1, False, keepdim=True)
    mistakes = [
        (centred / (variance.sqrt() + eps), "ε stands beside the root, not in it"),
        (
            centred / (x.var(-1, keepdim=True) + eps).sqrt(),
            "the variance is a mean over d_model numbers, not one less",
        ),
        (centred / (variance + 1e-5).sqrt(), "the ε of the rules is missing"),
    ]
    shown = (
        f"numbers of variance 0.01 come out as {show(got[0, 0])}, of 0.04 as "
        f"{show(got[0, 1])}"
    )
    right = nn.functional.layer_norm(x, (4,), eps=eps)
    match(
        got,
        right,
        shown,
        mistakes,
        "each place by itself: look at mean, variance, ε and root",
    )
    done("the norm")


def trained(norm_class: Any, gain: str, shift: str) -> None:
    layer = ask(norm_class, 4)
    for name, start in ((gain, 1.0), (shift, 0.0)):
        first = state_of(layer).get(name)
        expect(
            first is not None,
            (
                f"there is no {name} to be trained and saved: make it an "
                "nn.Parameter in __init__"
            ),
        )
        expect(
            near(tensor(first, name, (4,), "(d_model,)"), start),
            f"{name} does not begin as {start:g} everywhere",
        )
    x = random_numbers(2, 3, 4)
    bare, new = run(layer, x), fill(layer)
    mistakes = [(bare, "forward does not use them")]
    right, otherwise = (
        bare * new[gain] + new[shift],
        f"first times {gain}, then plus {shift}",
    )
    match(run(layer, x), right, f"another {gain} and {shift}", mistakes, otherwise)
    found = ask(slopes, layer, x)
    for name in ("x", gain, shift):
        expect(
            name in found and found[name].abs().max() > 0,
            f"no gradient reaches {name}: {CUT}",
        )
    done("what is trained")


def feed_forward(ffn_class: Any, activation: Callable[[Tensor], Tensor]) -> None:
    layer, x, name = (
        ask(ffn_class, 3, 5),
        2 * random_numbers(1, 2, 3),
        activation.__name__,
    )
    state = fill(layer)
    for key, shape in {
        "W_1.weight": (5, 3),
        "W_1.bias": (5,),
        "W_2.weight": (3, 5),
        "W_2.bias": (3,),
    }.items():
        expect(
            key in state,
            f"there is no {key}: FFN has two nn.Linear with biases, W_1 and W_2",
        )
        tensor(state[key], f"d_model = 3, d_ff = 5: {key}", shape)
    wide = linear(x, state, "W_1")
    mistakes = [
        (
            linear(wide, state, "W_2"),
            f"{name} is missing: two linear layers in a row are one",
        ),
        (linear(wide.relu(), state, "W_2"), f"this is relu; the rules say {name}"),
    ]
    right = linear(activation(wide), state, "W_2")
    match(
        run(layer, x),
        right,
        "what comes out is wrong",
        mistakes,
        f"W_1, {name}, W_2 of x are wanted",
    )
    done("the feed-forward network")


def order(class_: Any) -> None:
    """Where sum and norm stand. The norm here is not a norm but ten times x, so that
    numbers tell what was done."""
    norm, sublayer, x = _times(10.0), _times(3.0, 1.0), torch.ones(1, 2, 1)
    known = {
        40: "the sum is missing",
        31: "the sum is missing",
        32: "this is pre",
        50: "this is post",
        5: "the norm is missing",
    }
    for name, right in (("post", 50), ("pre", 32)):
        layer = ask(class_, norm, 0.0, name)
        layer.eval()
        got = round(run(layer, x, sublayer)[0, 0, 0].item(), 2)
        shown = (
            "x = 1, a norm that gives 10x, a sub-layer that gives 3x + 1, order "
            f"{name!r}: {got:g}"
        )
        expect(
            got == right,
            f"{shown}; {known.get(int(got), 'the rule gives another number')}",
        )
        expect(
            n_parameters(layer) == 2,
            "the norm's parameters are not those of AddNorm: keep it as an attribute",
        )
    done("sum and norm")


def dropout(class_: Any) -> None:
    layer, x, ones = (
        ask(class_, nn.Identity(), 0.25, "post"),
        torch.full((1, 40, 60), 5.0),
        _times(0.0, 1.0, 60),
    )
    layer.train()
    left = run(layer, x, ones) - x
    expect(
        left.min() > -4,
        (
            "in training some places of x itself become 0: drop numbers of the "
            "sub-layer, then add x"
        ),
    )
    share = (left.abs() < 1e-3).float().mean().item()
    expect(
        abs(share - 0.25) < 0.1,
        f"in training, dropout 0.25 sets {share:.0%} of the sub-layer's numbers to 0",
    )
    expect(
        near(left.max(), 4 / 3), "what is kept becomes 1 / (1 − dropout) times as large"
    )
    layer.eval()
    expect(
        near(run(layer, x, ones), x + 1),
        "after layer.eval() dropout is still at work: does it know self.training?",
    )
    done("dropout")


def encoder(block_class: Any) -> None:
    parts, x, seen = (
        block_parts(),
        random_numbers(1, 3, 4),
        torch.tensor([True, True, False]).view(1, 1, 1, 3),
    )
    block = _block(block_class, parts, 1)
    got = tensor(run(block, x, None), "what comes out", (1, 3, 4))
    unfed = parts[3][0](x, looks(parts[0]))
    expect(
        not near(got, unfed), "the feed-forward network is not used, or has no around"
    )
    one, two = (run(block, y, seen)[:, :2] for y in (x, _other(x, 2)))
    expect(
        near(one, two),
        (
            "the last place is hidden, and yet another vector there changes the "
            "others: pass src_mask on"
        ),
    )
    blind = ask(block_class, parts[0], parts[2], [Blind(), Blind()])
    one, two = (run(blind, y, None)[:, :2] for y in (x, _other(x, 2)))
    expect(near(one, two), _PAST)
    done("the encoder layer")


def reads(block_class: Any) -> None:
    parts, x, memory = block_parts(), random_numbers(1, 2, 4), random_numbers(1, 3, 4)
    block = _block(block_class, parts, 2)
    got = tensor(
        run(block, x, memory, None, None),
        "memory (1, 3, 4), x (1, 2, 4): what comes out",
        (1, 2, 4),
    )
    expect(
        not near(got, run(block, x, _other(memory, 1), None, None)),
        "another memory changes nothing: who reads it?",
    )
    new = run(block, _other(x, 1), memory, None, None)
    expect(
        not near(got[:, :1], new[:, :1]),
        "place 0 knows nothing of place 1: self-attention reads x",
    )
    blind = ask(block_class, *parts[:3], [Blind(), Blind(), Blind()])
    one, two = (run(blind, y, memory, None, None)[:, :1] for y in (x, _other(x, 1)))
    expect(near(one, two), _PAST)
    done("who reads what")


def two_masks(block_class: Any) -> None:
    x, memory = random_numbers(1, 3, 4), random_numbers(1, 3, 4) + 1
    block, shown = (
        _block(block_class, block_parts(), 2),
        torch.tensor([True, True, False]).view(1, 1, 1, 3),
    )
    past = torch.ones(3, 3, dtype=torch.bool).tril().view(1, 1, 3, 3)
    one, two = (run(block, y, memory, past, None) for y in (x, _other(x, 2)))
    expect(
        near(one[:, :2], two[:, :2]),
        "another word at the last place changes earlier ones: is tgt_mask used?",
    )
    two, three = (run(block, x, y, None, shown) for y in (memory, _other(memory, 2)))
    expect(
        near(two, three),
        "a hidden place of the source changes what comes out: is src_mask used?",
    )
    two = run(block, x, _other(memory, 2), past, None)
    expect(
        not near(one[:, :1], two[:, :1]),
        "every place may look at all of the source: no causal mask there",
    )
    done("the two masks")


def stack(stack_class: Any) -> None:
    x, extra, make, norm = (
        random_numbers(1, 2, 4),
        random_numbers(1, 2, 4) + 1,
        Maker(),
        _times(10.0, 0.0, 4),
    )
    a, b, c = make(), make(), make()
    got = ask(stack_class, Maker(), 3)
    n, hides = (
        n_parameters(got),
        "each is made by a call of make_layer of its own; a Python list hides them",
    )
    expect(
        n == 3 * n_parameters(a),
        f"three layers of {n_parameters(a)} parameters have {n}: {hides}",
    )
    right = c(b(a(x, extra), extra), extra)
    mistakes = [
        (a(x, extra), "only the first layer is used: is the return in the loop?"),
        (
            c(b(a(x))),
            (
                "the others that forward gets (masks, memory) are not passed on to "
                "the layers"
            ),
        ),
    ]
    match(
        run(got, x, extra),
        right,
        "three layers, one after the other",
        mistakes,
        "each gets all that forward gets",
    )
    end, unused = (
        "it stands behind the last layer, and nowhere else",
        [(right, "it is not used")],
    )
    match(
        run(ask(stack_class, Maker(), 3, norm), x, extra),
        norm(right),
        "a norm was given",
        unused,
        end,
    )
    done("the stack")


def embedding(model_class: Any) -> None:
    model, src, tgt_in, places = small_model(model_class)
    state, found = state_of(model), hear(model, src, tgt_in)
    expect(
        "table.weight" in state,
        "there is no table.weight: one nn.Embedding, table, for both sides",
    )
    for side, ids in (("encoder", src), ("decoder", tgt_in)):
        row, place = (
            state["table.weight"][ids],
            places[: ids.size(1)].expand(*ids.shape, -1),
        )
        mistakes = [
            (row + place, "the factor √d_model is missing"),
            (2 * row, "the places are missing"),
        ]
        match(
            found[side][0],
            2 * row + place,
            f"what the {side} gets",
            mistakes,
            "word · √d_model + place comes first",
        )
    done("the embeddings")


def model_masks(model_class: Any, pad: int) -> None:
    model, src, tgt_in, _ = small_model(model_class)
    src[1, 2:], tgt_in[1, 1:] = pad, pad
    found = hear(model, src, tgt_in)
    n = len(found["encoder"]), len(found["decoder"])
    expect(
        n == (2, 4),
        (
            "encoder(x, src_mask), decoder(x, memory, tgt_mask, src_mask): they "
            f"get {n[0]} and {n[1]}"
        ),
    )
    expect(
        near(found["decoder"][1], found["memory"]),
        "the decoder's memory is not what the encoder gave",
    )
    for name, mask, ids, n_queries in (
        ("the encoder's mask", found["encoder"][1], src, src.size(1)),
        ("the decoder's mask for the source", found["decoder"][3], src, tgt_in.size(1)),
        (
            "the decoder's mask for the target",
            found["decoder"][2],
            tgt_in,
            tgt_in.size(1),
        ),
    ):
        seen = sees(mask, ids, n_queries, name)
        expect(
            seen[0, -1].all(),
            f"{name} hides words from the last place of a sentence without padding",
        )
        expect(
            not seen[1, 0, ids[1] == pad].any(),
            f"{name} shows <pad>, which is the id {pad} here",
        )
    expect(not seen[0].triu(1).any(), "a place of the target sees what comes after it")
    done("the masks of the model")


def output(model_class: Any) -> None:
    model, src, tgt_in, _ = small_model(model_class)
    off, known = (
        n_parameters(model) - (WORDS * 5 + 2 * 3),
        {WORDS * 4: "two matrices for one", -WORDS: "a bias lacks"},
    )
    expect(
        off == 0,
        f"{off:+} parameters of what there should be: "
        + known.get(off, "which of them are shared?"),
    )
    moved(model)  # a step of training
    state, found = state_of(model), hear(model, src, tgt_in)
    out = tensor(found["out"], "the table of logits", (2, 3, WORDS), "(B, T, V)")
    expect("output.bias" in state, "the bias of the output layer is called output.bias")
    right = found["gave"] @ state["table.weight"].T + state["output.bias"]
    mistakes = [
        (right.softmax(-1), "logits come without softmax"),
        (right.log_softmax(-1), "logits come without softmax"),
    ]
    match(
        out,
        right,
        "the logits after a step of training",
        mistakes,
        "share the table, do not copy it",
    )
    done("the output layer")


def count(function: Any, biased: str) -> None:
    for name in ("post", "pre"):
        off = ask(function, 4, 6, 1, 10, name) - really(4, 6, 1, 10, name, biased)
        known = {
            40: "the matrix of the words counts once",
            16: "with post no norm ends a stack",
            -16: "with pre a norm ends each stack, with gain and shift",
        }
        many = f"{abs(off)} too {'many' if off > 0 else 'few'}"
        shown = f"d_model 4, d_ff 6, 1 layer, 10 words, {name}: {many}"
        expect(
            off == 0,
            f"{shown}: "
            + known.get(off, "count each part by itself, and look at its biases"),
        )
    done("the count")


def names(function: Any, gain: str, shift: str) -> None:
    state = torch_layer(4, 2, 6).state_dict()
    got = ask(function, {name: value.clone() for name, value in state.items()})
    expect(
        isinstance(got, dict),
        f"from_torch gives a dictionary, not {type(got).__name__}",
    )
    matrices = [f"attention.{n}" for n in ATTENTION] + [
        "feed_forward.W_1",
        "feed_forward.W_2",
    ]
    wanted = {f"{n}.{kind}" for n in matrices for kind in ("weight", "bias")}
    wanted |= {f"around.{i}.norm.{kind}" for i in (0, 1) for kind in (gain, shift)}
    expect(
        not wanted ^ set(got),
        f"missing, or known to nobody: {', '.join(sorted(wanted ^ set(got)))}",
    )
    tensor(
        got["feed_forward.W_1.weight"],
        "d_model = 4, d_ff = 6: feed_forward.W_1.weight",
        (6, 4),
    )
    rows = state["self_attn.in_proj_weight"]
    expect(
        torch.equal(got["attention.W_q.weight"], rows[:4]),
        "W_q is the first d_model ROWS of in_proj_weight",
    )
    done("the names")


def together(
    answers: list[Any], activation: Callable[[Tensor], Tensor], eps: float, pad: int
) -> None:
    """All answers in one model. No points: it shows that they fit together, and that
    PyTorch agrees."""
    D, H, F = 16, 4, 32
    Norm, FFN, AddNorm, EncoderBlock, DecoderBlock, Stack, Model, from_torch = answers

    def stack_of(block_class: Any, n_attentions: int, order: str) -> Any:
        def layer() -> Any:
            parts = (
                *(MultiHeadAttention(D, H) for _ in range(n_attentions)),
                ask(FFN, D, F),
            )
            return ask(
                block_class,
                *parts,
                [ask(AddNorm, ask(Norm, D), 0.0, order) for _ in parts],
            )

        return ask(Stack, layer, 2, ask(Norm, D))

    for order in ("post", "pre"):
        encoder, decoder = (
            stack_of(EncoderBlock, 1, order),
            stack_of(DecoderBlock, 2, order),
        )
        one = torch_layer(D, H, F, activation, eps, order)
        theirs = nn.TransformerEncoder(
            one, 2, nn.LayerNorm(D, eps), enable_nested_tensor=False
        ).eval()
        mine = [m for m in encoder.modules() if isinstance(m, EncoderBlock)]
        for ours, its in zip(mine, theirs.layers, strict=True):
            state = ask(from_torch, its.state_dict())
            others = sorted(set(state) ^ set(state_of(ours)))
            expect(
                not others,
                (
                    f"attributes are named like arguments; these do not fit: "
                    f"{', '.join(others[:4])} "
                    "…"
                ),
            )
            ours.load_state_dict(state)
        x, hidden = (
            torch.randn(2, 5, D),
            torch.tensor([[False] * 5, [False] * 3 + [True] * 2]),
        )
        right = theirs(x, src_key_padding_mask=hidden)
        gap = (
            (run(encoder, x, ~hidden[:, None, None]) - right)[~hidden]
            .abs()
            .max()
            .item()
        )
        expect(
            gap < 1e-4,
            (
                f"{order}: your encoder and PyTorch's differ by {gap:.2g}, with "
                "the same weights"
            ),
        )
        model = ask(Model, WORDS, torch.randn(9, D), encoder, decoder)
        src, tgt = (torch.randint(pad + 1, WORDS, (2, n)) for n in (6, 5))
        gap = (
            (run(model, src, tgt)[:, :4] - run(model, src, tgt[:, :4]))
            .abs()
            .max()
            .item()
        )
        expect(
            gap < 1e-4,
            (
                f"{order}: the logits of a place change by {gap:.2g} with the "
                "words after it"
            ),
        )
        print(
            f"{order}: encoder as PyTorch's, each place knows its past only, "
            f"{n_parameters(model):,} parameters"
        )


# ----------------------------------------------------------------- what public and
# hidden tests share


def run(layer: Any, *args: Any) -> Tensor:
    """What a layer gives: one tensor."""
    kit.forbid(layer, FORBIDDEN)
    got = ask(layer, *args)
    expect(
        isinstance(got, Tensor), f"forward gives one tensor, not {type(got).__name__}"
    )
    return kit.single(got.detach())


def same_slopes(
    found: dict[str, Tensor],
    out: Tensor,
    inputs: dict[str, Tensor],
    parts: list[nn.Module],
    toward: Tensor,
) -> bool:
    """Are these the gradients of ``out``: with respect to the inputs, and to all that
    the parts train (under whatever
    names, in whatever order)?"""
    own = {
        f"{i} {name}": p
        for i, part in enumerate(parts)
        for name, p in part.named_parameters()
    }
    right = slopes_of(out, {**inputs, **own}, toward)
    sizes, wanted = (
        [float(s.norm()) for n, s in slopes.items() if n not in inputs]
        for slopes in (found, right)
    )
    good = all(near(found.get(name, torch.zeros(())), right[name]) for name in inputs)
    return good and len(sizes) == len(wanted) and near(sorted(sizes), sorted(wanted))


def looks(
    attention: Any, memory: Tensor | None = None, mask: Tensor | None = None
) -> Callable[[Tensor], Tensor]:
    """Attention to the memory, or to itself, as a function of one argument."""
    return lambda h: attention(h, h if memory is None else memory, mask)


def hear(model: Any, src: Tensor, tgt_in: Tensor) -> dict[str, Any]:
    """What encoder and decoder got (tuples), what they gave ("memory", "gave"), and
    what came out ("out")."""
    found = ask(listen, model, src, tgt_in)
    for side in ("encoder", "decoder"):
        expect(found.get(side), f"the {side} is not called")
    expect(isinstance(found["out"], Tensor), "the model gives one tensor, the logits")
    return found  # type: ignore[no-any-return]


def sees(mask: Any, ids: Tensor, n_queries: int, name: str) -> Tensor:
    """A mask for these ids as (B, queries, keys)."""
    wanted = (len(ids), 1, n_queries, ids.size(1))
    expect(
        isinstance(mask, Tensor) and mask.dtype == torch.bool,
        f"{name} is no boolean tensor",
    )
    fits = mask.dim() == 4 and all(
        have in (1, want) for have, want in zip(mask.shape, wanted, strict=True)
    )
    expect(
        fits,
        (
            f"{name} has shape {tuple(mask.shape)}, which does not fit (B, 1, "
            f"queries, keys) = {wanted}"
        ),
    )
    return mask.expand(wanted)[:, 0]  # type: ignore[no-any-return]


_PAST = "a sub-layer reads x past its around: take what around hands over"


def _block(
    block_class: Any, parts: tuple[Any, Any, Any, list[Around]], n_attentions: int
) -> Any:
    """The student's layer, with all its parts registered."""
    inner, around = (*parts[:n_attentions], parts[2]), parts[3][: n_attentions + 1]
    block = ask(block_class, *inner, list(around))
    right, got = sum(map(n_parameters, (*inner, *around))), n_parameters(block)
    lists = "a Python list hides modules, nn.ModuleList does not"
    expect(
        got == right, f"the layer has {got} parameters, its parts have {right}: {lists}"
    )
    return block


def _times(factor: float, plus: float = 0.0, width: int = 1) -> nn.Linear:
    """A module that multiplies each number of x, and adds to it."""
    layer = nn.Linear(width, width)
    layer.load_state_dict(
        {"weight": factor * torch.eye(width), "bias": torch.full((width,), plus)}
    )
    return layer


def _other(x: Tensor, place: int) -> Tensor:
    """x with another vector at this place."""
    x = x.clone()
    x[:, place] += torch.arange(1.0, x.size(-1) + 1)
    return x
