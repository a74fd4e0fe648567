"""A4: encoder, decoder and the assembled model. One public check for each graded part.

What a part builds on is passed in: stand-ins that do something of their own, so that no check needs another answer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from nmt_lib import MultiHeadAttention

from .kit import (
    CUT,
    ask,
    beside_answer,
    done,
    expect,
    fill_layer,
    linear,
    match,
    near,
    random_numbers,
    show,
    slopes_of,
    state_of,
    tensor,
)

WORDS = 40  # in the vocabulary of the small model
ATTENTION = ("W_q", "W_k", "W_v", "W_o")


def normed(norm_class: Any, eps: float) -> None:
    x = torch.tensor([[0.3, 0.1, 0.3, 0.1], [0.6, 0.2, 0.6, 0.2]])[None]  # variances 0.01 and 0.04
    got, right = run(ask(norm_class, 4), x), nn.functional.layer_norm(x, (4,), eps=eps)
    centred, variance = x - x.mean(-1, keepdim=True), x.var(-1, False, keepdim=True)
    mistakes = [
        (centred, "the mean is subtracted, but nothing is divided"),
        (x / (variance + eps).sqrt(), "the mean is not subtracted"),
        (centred / (variance.sqrt() + eps), "ε stands beside the root, not in it"),
        (centred / (x.var(-1, keepdim=True) + eps).sqrt(), "the variance is a mean over d_model numbers, not one less"),
        (centred / (variance + 1e-5).sqrt(), "the ε of the rules is missing"),
        (centred / (variance + eps), "this divides by the variance; its root is missing"),
    ]
    tensor(got, "what comes out", (1, 2, 4), "(B, T, D)")
    shown = f"numbers of variance 0.01 come out as {show(got[0, 0])}, of 0.04 as {show(got[0, 1])}"
    match(got, right, shown, mistakes, "each place by itself: look at mean, variance, ε and root")
    done("the norm")


def trained(norm_class: Any, gain: str, shift: str) -> None:
    layer, once = ask(norm_class, 4), "make it an nn.Parameter in __init__, under this name"
    state = state_of(layer)
    for name, start in ((gain, 1.0), (shift, 0.0)):
        expect(name in state, f"there is no {name} to be trained and saved: {once}")
        tensor(state[name], name, (4,), "(d_model,)")
        expect((state[name] == start).all(), f"{name} begins as {show(state[name])}, not as {start:g} everywhere")
    x = random_numbers(2, 3, 4)
    bare, new = run(layer, x), fill(layer)
    mistakes = [
        (bare, "forward does not use them"),
        (bare + new[shift], f"forward does not use {gain}"),
        (bare * new[gain], f"forward does not use {shift}"),
    ]
    otherwise = f"first times {gain}, then plus {shift}"
    match(run(layer, x), bare * new[gain] + new[shift], f"another {gain} and {shift}", mistakes, otherwise)
    found = ask(slopes, layer, x)
    for name in ("x", gain, shift):
        expect(name in found and found[name].abs().max() > 0, f"no gradient reaches {name}: {CUT}")
    done("what is trained")


def feed_forward(ffn_class: Any, activation: Callable[[Tensor], Tensor]) -> None:
    layer, x, name = ask(ffn_class, 3, 5), 2 * random_numbers(1, 2, 3), activation.__name__
    state = fill(layer)
    for key, shape in {"W_1.weight": (5, 3), "W_1.bias": (5,), "W_2.weight": (3, 5), "W_2.bias": (3,)}.items():
        expect(key in state, f"there is no {key}: FFN has two nn.Linear with biases, W_1 and W_2")
        tensor(state[key], f"d_model = 3, d_ff = 5: {key}", shape)
    wide = linear(x, state, "W_1")
    mistakes = [
        (linear(wide, state, "W_2"), f"{name} is missing: two linear layers in a row are one"),
        (activation(linear(wide, state, "W_2")), f"{name} stands behind W_2, not before it"),
        (linear(wide.relu(), state, "W_2"), f"this is relu; the rules say {name}"),
    ]
    right = linear(activation(wide), state, "W_2")
    match(run(layer, x), right, "what comes out is wrong", mistakes, f"W_1, {name}, W_2 of x are wanted")
    done("the feed-forward network")


def order(class_: Any) -> None:
    """Where sum and norm stand. The norm here is not a norm but ten times x, so that numbers tell what was done."""
    norm, sublayer, x = _times(10.0), _times(3.0, 1.0), torch.ones(1, 2, 1)
    shown = "x = 1, a norm that gives 10x, a sub-layer that gives 3x + 1, order"
    for name, right, wrong in (
        ("post", 50, {40: "the sum is missing", 41: "the norm takes the sum", 32: "this is pre", 14: "the norm takes "
                      "the sum, not x", 5: "the norm is missing"}),
        ("pre", 32, {31: "the sum is missing", 41: "x itself is added, the norm stands inside", 50: "this is post",
                     5: "the norm is missing", 320: "two norms"}),
    ):  # fmt: skip
        layer = ask(class_, norm, 0.0, name)
        layer.eval()
        got = round(run(layer, x, sublayer)[0, 0, 0].item(), 2)
        hint = next((hint for number, hint in wrong.items() if number == got), "the rule gives another number")
        expect(got == right, f"{shown} {name!r}: {got:g}; {hint}")
        expect(n_parameters(layer) == 2, "the norm's parameters are not those of AddNorm: keep it as an attribute")
    done("sum and norm")


def dropout(class_: Any) -> None:
    layer, x = ask(class_, nn.Identity(), 0.25, "post"), torch.full((1, 40, 60), 5.0)
    layer.train()
    gone = run(layer, x, _times(0.0, 1.0, 60)) - x  # what is left of the sub-layer's ones
    expect(gone.min() > -4, "in training some places of x itself become 0: drop numbers of the sub-layer, then add x")
    share = (gone.abs() < 1e-3).float().mean().item()
    expect(abs(share - 0.25) < 0.1, f"in training, dropout 0.25 sets {share:.0%} of the sub-layer's numbers to 0")
    expect(near(gone.max(), 4 / 3), "what is kept becomes 1 / (1 − dropout) times as large")
    layer.eval()
    still = run(layer, x, _times(0.0, 1.0, 60)) - x
    expect(near(still, 1.0), "after layer.eval() dropout is still at work: does it know self.training?")
    done("dropout")


def encoder(block_class: Any) -> None:
    parts, x = block_parts(), random_numbers(1, 3, 4)
    block = _block(block_class, parts, 1)
    got = tensor(run(block, x, None), "what comes out", (1, 3, 4))
    unfed = parts[3][0](x, looks(parts[0]))
    expect(not near(got, unfed), "the feed-forward network is not used, or has no around")
    seen = torch.tensor([True, True, False]).view(1, 1, 1, 3)
    one, two = (run(block, _moved(x, 2, by), seen) for by in (0.0, 1.0))
    expect(near(one[:, :2], two[:, :2]), "the last place is hidden, and yet another vector there changes the others")
    blind = ask(block_class, parts[0], parts[2], [Blind(), Blind()])
    one, two = (run(blind, _moved(x, 2, by), None) for by in (0.0, 1.0))
    expect(near(one[:, :2], two[:, :2]), _PAST)
    done("the encoder layer")


def reads(block_class: Any) -> None:
    parts, x, memory = block_parts(), random_numbers(1, 2, 4), random_numbers(1, 3, 4)
    block = _block(block_class, parts, 2)
    got = tensor(run(block, x, memory, None, None), "memory (1, 3, 4), x (1, 2, 4): what comes out", (1, 2, 4))
    other = run(block, x, 2 * memory, None, None)
    expect(not near(got, other), "a memory twice as large changes nothing: who reads it?")
    one, two = (run(block, _moved(x, 1, by), memory, None, None) for by in (0.0, 1.0))
    expect(not near(one[:, :1], two[:, :1]), "place 0 knows nothing of place 1: self-attention reads x")
    blind = ask(block_class, *parts[:3], [Blind(), Blind(), Blind()])
    one, two = (run(blind, _moved(x, 1, by), memory, None, None) for by in (0.0, 1.0))
    expect(near(one[:, :1], two[:, :1]), _PAST)
    one, two = (run(blind, x, _moved(memory, 1, by), None, None) for by in (0.0, 1.0))
    expect(not near(one, two), "keys and values of cross-attention are those of memory, as it came")
    done("who reads what")


def two_masks(block_class: Any) -> None:
    x, memory = random_numbers(1, 3, 4), random_numbers(1, 3, 4) + 1
    block = _block(block_class, block_parts(), 2)
    causal = torch.ones(3, 3, dtype=torch.bool).tril().view(1, 1, 3, 3)
    shown = torch.tensor([True, True, False]).view(1, 1, 1, 3)
    one, two = (run(block, _moved(x, 2, by), memory, causal, None) for by in (0.0, 1.0))
    expect(near(one[:, :2], two[:, :2]), "another word at the last place changes earlier ones: is tgt_mask used?")
    one, two = (run(block, x, _moved(memory, 2, by), None, shown) for by in (0.0, 1.0))
    expect(near(one, two), "a hidden place of the source changes what comes out: is src_mask used?")
    one, two = (run(block, x, _moved(memory, 2, by), causal, None) for by in (0.0, 1.0))
    expect(not near(one[:, :1], two[:, :1]), "every place may look at all of the source: no causal mask there")
    done("the two masks")


def stack(stack_class: Any) -> None:
    x, extra = random_numbers(1, 2, 4), random_numbers(1, 2, 4) + 1
    (a, b, c), norm = [make() for make in [Maker()] * 3], _times(10.0, 0.0, 4)
    got, one = ask(stack_class, Maker(), 3), n_parameters(a)
    n = n_parameters(got)
    expect(n != 0, "no layer is registered, so none is trained: a Python list hides them, nn.ModuleList does not")
    expect(n == 3 * one, f"three layers of {one} parameters have {n}: each is made by a call of make_layer of its own")
    right = c(b(a(x, extra), extra), extra)
    mistakes = [
        (c(x, extra), "each layer reads what the layer before it gave, not x"),
        (a(x, extra), "only the first layer is used: is the return in the loop?"),
        (c(b(a(x))), "the others that forward gets (masks, memory) are not passed on to the layers"),
        (a(b(c(x, extra), extra), extra), "the layer that was made first comes first"),
    ]
    match(run(got, x, extra), right, "three layers, one after the other", mistakes, "each gets all that forward gets")
    mistakes = [(right, "it is not used")]
    otherwise = "it stands behind the last layer, and nowhere else"
    match(run(ask(stack_class, Maker(), 3, norm), x, extra), norm(right), "a norm was given", mistakes, otherwise)
    done("the stack")


def embedding(model_class: Any) -> None:
    model, src, tgt_in, places = small_model(model_class)
    state, found = state_of(model), hear(model, src, tgt_in)
    expect("table.weight" in state, "there is no table.weight: one nn.Embedding, table, for both sides")
    for side, ids in (("encoder", src), ("decoder", tgt_in)):
        row, place = state["table.weight"][ids], places[: ids.size(1)].expand(*ids.shape, -1)
        mistakes = [
            (row + place, "the factor √d_model is missing"),
            (2 * (row + place), "√d_model is for the words, not for the places"),
            (2 * row, "the places are missing"),
        ]
        match(found[side][0], 2 * row + place, f"what the {side} gets", mistakes, "word · √d_model + place comes first")
    done("the embeddings")


def model_masks(model_class: Any, pad: int) -> None:
    model, src, tgt_in, _ = small_model(model_class)
    src[1, 2:], tgt_in[1, 1:] = pad, pad
    found = hear(model, src, tgt_in)
    expect(len(found["encoder"]) == 2, f"the encoder gets x and src_mask, not {len(found['encoder'])} things")
    expect(len(found["decoder"]) == 4, "the decoder gets x, memory, tgt_mask and src_mask, in this order")
    expect(near(found["decoder"][1], found["memory"]), "the decoder's memory is not what the encoder gave")
    for name, mask, (ids, n) in (
        ("the encoder's mask", found["encoder"][1], (src, src.size(1))),
        ("the decoder's mask for the source", found["decoder"][3], (src, tgt_in.size(1))),
        ("the decoder's mask for the target", found["decoder"][2], (tgt_in, tgt_in.size(1))),
    ):
        seen = sees(mask, ids, n, name)
        expect(seen[0, -1].all(), f"{name} hides words from the last place of a sentence without padding")
        expect(not seen[1, 0, ids[1] == pad].any(), f"{name} shows <pad>, which is the id {pad} here")
    expect(not seen[0].triu(1).any(), "a place of the target sees what comes after it")
    done("the masks of the model")


def output(model_class: Any) -> None:
    model, src, tgt_in, _ = small_model(model_class)
    n, V = n_parameters(model), WORDS
    wrong = {V * 4: "two matrices for one", 2 * V * 4: "three matrices for one", -V: "the output layer has no bias",
             28: "places are not trained", -6: "keep encoder and decoder as attributes"}  # fmt: skip
    off = n - (V * 4 + V + 2 * 3)
    expect(off == 0, f"{n} parameters, {off:+} of what there should be: {wrong.get(off, 'which of them are shared?')}")
    moved(model)  # a step of training
    state, found = state_of(model), hear(model, src, tgt_in)
    out = tensor(found["out"], "the table of logits", (2, 3, V), "(B, T, V)")
    chances = near(out.sum(-1), 1.0) or near(out.exp().sum(-1), 1.0)
    expect(not chances, "these are (log-)probabilities: logits come without softmax")
    expect("output.bias" in state, "the bias of the output layer is called output.bias")
    right = found["gave"] @ state["table.weight"].T + state["output.bias"]
    expect(near(out, right), "after a step of training this is not the table: share it, do not copy")
    done("the output layer")


def count(function: Any, biased: str) -> None:
    for name in ("post", "pre"):
        got = ask(function, 4, 6, 1, 10, name)
        off = got - really(4, 6, 1, 10, name, biased)
        once, cross = "the matrix of the words counts once", -64 - 4 * sum(w in biased for w in ATTENTION)
        known = {40: once, 80: once, cross: "a decoder layer has two attentions", 16: "with post no norm ends a stack",
                 -16: "with pre a norm ends each stack, with gain and shift"}  # fmt: skip
        shown = f"d_model 4, d_ff 6, 1 layer, 10 words, {name}: {got} is {abs(off)} too {'many' if off > 0 else 'few'}"
        expect(off == 0, f"{shown}: {known.get(off, 'count each part by itself, and look at its biases')}")
    done("the count")


def names(function: Any, gain: str, shift: str) -> None:
    state = torch_layer(4, 2, 6).state_dict()
    got = ask(function, {name: value.clone() for name, value in state.items()})
    expect(isinstance(got, dict), f"from_torch gives a dictionary, not {type(got).__name__}")
    matrices = [f"attention.{n}" for n in ATTENTION] + ["feed_forward.W_1", "feed_forward.W_2"]
    wanted = {f"{n}.{kind}" for n in matrices for kind in ("weight", "bias")}
    wanted |= {f"around.{i}.norm.{kind}" for i in (0, 1) for kind in (gain, shift)}
    expect(not wanted - set(got), f"no entry for {', '.join(sorted(wanted - set(got)))}")
    expect(not set(got) - wanted, f"names that nobody knows: {', '.join(sorted(set(got) - wanted))}")
    for name, shape in (("attention.W_q", (4, 4)), ("attention.W_o", (4, 4)), ("feed_forward.W_1", (6, 4))):
        tensor(got[f"{name}.weight"], f"d_model = 4, d_ff = 6: {name}.weight", shape)
    rows = state["self_attn.in_proj_weight"]
    expect(torch.equal(got["attention.W_q.weight"], rows[:4]), "W_q is the first d_model ROWS of in_proj_weight")
    done("the names")


def together(answers: list[Any], activation: Callable[[Tensor], Tensor], eps: float, pad: int) -> None:
    """All answers in one model. No points: it shows that they fit together, and that PyTorch agrees."""
    D, H, F, V = 16, 4, 32, WORDS
    Norm, FFN, AddNorm, EncoderBlock, DecoderBlock, Stack, Model, from_torch = answers
    for order in ("post", "pre"):

        def layer(block_class: Any, n_attentions: int, order: str = order) -> Any:
            parts = *(Attention(D, H) for _ in range(n_attentions)), ask(FFN, D, F)
            return ask(block_class, *parts, [ask(AddNorm, ask(Norm, D), 0.0, order) for _ in parts])

        encoder = ask(Stack, lambda layer=layer: layer(EncoderBlock, 1), 2, ask(Norm, D))
        decoder = ask(Stack, lambda layer=layer: layer(DecoderBlock, 2), 2, ask(Norm, D))
        one = torch_layer(D, H, F, activation, eps, order)
        theirs = nn.TransformerEncoder(one, 2, nn.LayerNorm(D, eps), enable_nested_tensor=False)
        mine = [m for m in encoder.modules() if isinstance(m, EncoderBlock)]
        for ours, its in zip(mine, theirs.layers, strict=True):
            state = ask(from_torch, its.state_dict())
            others = sorted(set(state) ^ set(state_of(ours)))
            expect(not others, f"attributes are named like arguments; these do not fit: {', '.join(others[:4])} …")
            ours.load_state_dict(state)
        x, hidden = torch.randn(2, 5, D), torch.tensor([[False] * 5, [False] * 3 + [True] * 2])
        got, right = run(encoder, x, ~hidden[:, None, None]), theirs.eval()(x, src_key_padding_mask=hidden)
        gap = (got - right)[~hidden].abs().max().item()
        expect(gap < 1e-4, f"{order}: your encoder and PyTorch's differ by {gap:.2g}, with the same weights")
        model = ask(Model, V, torch.randn(9, D), encoder, decoder)
        src, tgt = (torch.randint(pad + 1, V, (2, n)) for n in (6, 5))
        whole = run(model, src, tgt)
        gap = max((whole[:, t] - run(model, src, tgt[:, : t + 1])[:, t]).abs().max().item() for t in range(5))
        expect(gap < 1e-4, f"{order}: the logits of a place change by {gap:.2g} with the words after it")
        print(f"{order}: encoder as PyTorch's, each place knows its past only, {n_parameters(model):,} parameters")


def picture(axes: Any, colour: str, seed: int) -> None:
    """What the last question is about: fresh encoders of twelve layers, and what is left of a sentence in them."""
    torch.manual_seed(seed)
    words = torch.randn(1, 12, 64)
    layers = [nn.TransformerEncoderLayer(64, 4, 256, 0.0, batch_first=True) for _ in range(12)]
    for layer in layers:
        three = layer.self_attn.in_proj_weight.data.chunk(3)  # W_q, W_k, W_v
        for matrix in (*three, layer.self_attn.out_proj.weight, layer.linear1.weight, layer.linear2.weight):
            nn.init.xavier_uniform_(matrix)
    kinds = {kind: _through(words, layers, kind) for kind in ("post", "pre", "no norm", "no sum")}
    left = ["no sum", "post"] if colour[0] in "aeiou" else ["post", "no sum"]
    right = ["post", "pre", "no norm"] if colour[-1] in "aeiou" else ["no norm", "post", "pre"]
    for axis, letters, lines, measure, n in ((axes[0], "AB", left, _cosine, 6), (axes[1], "PQR", right, _length, 12)):
        for letter, line, style in zip(letters, lines, ("o-", "s--", "^:"), strict=False):
            values = [measure(x) for x in kinds[line][: n + 1]]
            axis.plot(range(n + 1), values, style, color=colour, label=letter, markersize=4)
        axis.set_xlabel("layers")
        axis.legend(frameon=False)
    axes[0].set(ylabel="mean cosine of two places", ylim=(-0.1, 1.1))
    axes[1].set(ylabel="mean length of a vector", yscale="log", ylim=(1, None))


def _through(x: Tensor, layers: list[Any], kind: str) -> list[Tensor]:
    """x, and what each layer leaves; the layers' own parts, put together in the order of ``kind``."""
    steps, norm = [x], nn.LayerNorm(x.size(-1))
    with torch.no_grad():
        for layer in layers:
            for part in (lambda h, a=layer: a.self_attn(h, h, h)[0], lambda h, a=layer: a.linear2(a.linear1(h).relu())):
                if kind == "pre":
                    x = x + part(norm(x))
                else:
                    x = part(x) if kind == "no sum" else x + part(x)
                    x = x if kind == "no norm" else norm(x)
            steps.append(x)
    return steps


def _cosine(x: Tensor) -> float:
    unit = x[0] / x[0].norm(dim=-1, keepdim=True)
    return ((unit.sum(0) @ unit.sum(0) - len(unit)) / (len(unit) * (len(unit) - 1))).item()


def _length(x: Tensor) -> float:
    return x.norm(dim=-1).mean().item()


# ------------------------------------------------------------------------ stand-ins, and what else tests share


class Attention(MultiHeadAttention):
    """As in A3, it gives two things: what was found, and the weights (None: nobody needs them here)."""

    def forward(
        self, x: Tensor, memory: Tensor, mask: Tensor | None = None, need_weights: bool = False
    ) -> tuple[Tensor, Tensor | None]:
        out = super().forward(x, memory, mask)
        return (out if isinstance(out, Tensor) else out[0]), None


class Around(nn.Module):
    """Stands where an AddNorm will stand, and mixes what comes in with what the sub-layer makes of something else."""

    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.before, self.after = nn.Linear(d_model, d_model), nn.Linear(2 * d_model, d_model)

    def forward(self, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        out = sublayer(self.before(x))
        one = isinstance(out, Tensor)
        expect(one, "a function gives its around two things: of what attention gives, take the first")
        return self.after(torch.cat([x, out], dim=-1))  # type: ignore[no-any-return]


class Blind(nn.Module):
    """An around that gives its sub-layer zeros to read."""

    def forward(self, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        return x + sublayer(torch.zeros_like(x))


class Layer(nn.Module):
    """Stands where an encoder or decoder layer will stand; ``number`` draws its numbers."""

    def __init__(self, number: int, d_model: int = 4) -> None:
        super().__init__()
        draw = torch.Generator().manual_seed(number)
        self.matrix = nn.Parameter(torch.randn(d_model, d_model, generator=draw))

    def forward(self, x: Tensor, *others: Tensor) -> Tensor:
        return torch.tanh(x @ self.matrix + sum((i + 1) * other for i, other in enumerate(others)))


class Maker:
    """Makes layer 1, 2, 3 …"""

    def __init__(self) -> None:
        self.made = 0

    def __call__(self) -> Layer:
        self.made += 1
        return Layer(self.made)


class Ear(nn.Module):
    """Stands where an encoder or decoder will stand: notes what it gets, and gives numbers of its own."""

    log: ClassVar[dict[str, Any]] = {}

    def __init__(self, name: str, gives: Tensor) -> None:
        super().__init__()
        self.name, self.gives, self.weight = name, gives, nn.Parameter(torch.ones(3))

    def forward(self, *args: Any, **kwargs: Any) -> Tensor:
        Ear.log[self.name] = (*args, *kwargs.values())
        Ear.log["memory" if self.name == "encoder" else "gave"] = self.gives
        return self.gives.clone()


def run(layer: Any, *args: Any) -> Tensor:
    """What a layer gives: one tensor."""
    got = ask(layer, *args)
    expect(isinstance(got, Tensor), f"forward gives one tensor, not {type(got).__name__}")
    return got.detach()  # type: ignore[no-any-return]


def fill(layer: Any, seed: int = 0) -> dict[str, Tensor]:
    """Gives all parameters random numbers, and returns these by name."""
    return fill_layer(layer, seed)


def block_parts(d_model: int = 4, n_heads: int = 2, seed: int = 0) -> tuple[Any, Any, Any, list[Around]]:
    """Two attentions, a feed-forward network, and three to stand around them, with random numbers, biases too."""
    parts = [Attention(d_model, n_heads) for _ in range(2)]
    ffn = nn.Sequential(nn.Linear(d_model, 7), nn.ReLU(), nn.Linear(7, d_model))
    arounds = [Around(d_model) for _ in range(3)]
    for i, part in enumerate((*parts, ffn, *arounds)):
        fill(part, 10 * seed + i)
    return (*parts, ffn, arounds)  # type: ignore[return-value]


def looks(attention: Any, memory: Tensor | None = None, mask: Tensor | None = None) -> Callable[[Tensor], Tensor]:
    """Attention to the memory, or to itself, as a function of one argument."""
    return lambda h: attention(h, h if memory is None else memory, mask)[0]


def small_model(model_class: Any, d_model: int = 4, sizes: tuple[int, int, int] = (2, 4, 3), seed: int = 0) -> Any:
    """A model around two ears, ids without ``<pad>`` for both sides, and the table of places."""
    B, S, T = sizes
    draw = torch.Generator().manual_seed(seed)
    places = torch.randn(max(S, T) + 3, d_model, generator=draw)
    ears = [Ear(n, torch.randn(B, length, d_model, generator=draw)) for n, length in (("encoder", S), ("decoder", T))]
    src, tgt_in = (torch.randint(30, WORDS, (B, n), generator=draw) for n in (S, T))
    return ask(model_class, WORDS, places.clone(), *ears), src, tgt_in, places


def hear(model: Any, src: Tensor, tgt_in: Tensor) -> dict[str, Any]:
    """What encoder and decoder got (tuples), what they gave ("memory", "gave"), and what came out ("out")."""
    found = ask(listen, model, src, tgt_in)
    for side in ("encoder", "decoder"):
        expect(found.get(side), f"the {side} is not called")
    expect(isinstance(found["out"], Tensor), "the model gives one tensor, the logits")
    return found  # type: ignore[no-any-return]


def sees(mask: Any, ids: Tensor, n_queries: int, name: str) -> Tensor:
    """A mask for these ids as (B, queries, keys)."""
    wanted = (len(ids), 1, n_queries, ids.size(1))
    expect(isinstance(mask, Tensor) and mask.dtype == torch.bool, f"{name} is no boolean tensor")
    fits = mask.dim() == 4 and all(have in (1, want) for have, want in zip(mask.shape, wanted, strict=True))
    expect(fits, f"{name} has shape {tuple(mask.shape)}, which does not fit (B, 1, queries, keys) = {wanted}")
    return mask.expand(wanted)[:, 0]  # type: ignore[no-any-return]


def really(d_model: int, d_ff: int, n_layers: int, n_words: int, order: str, biased: str) -> int:
    """Counts what PyTorch's own layers hold, less the biases that they have too many, plus ends, table and output."""
    own = {"out_proj.bias": "W_o", "linear1.bias": "W_1", "linear2.bias": "W_2"}
    total = n_words * d_model + n_words * ("output" in biased) + 4 * d_model * (order == "pre")
    with torch.device("meta"):
        layers = [kind(d_model, 1, d_ff) for kind in (nn.TransformerEncoderLayer, nn.TransformerDecoderLayer)]
    for name, parameter in (pair for layer in layers for pair in layer.named_parameters()):
        if name.endswith("in_proj_bias"):
            total += n_layers * d_model * sum(w in biased for w in ATTENTION[:3])
        else:
            kind = next((w for end, w in own.items() if name.endswith(end)), "")
            total += n_layers * parameter.numel() * (kind in biased)
    return total


def torch_layer(
    d_model: int, n_heads: int, d_ff: int, activation: Any = nn.functional.relu, eps: float = 1e-5,
    order: str = "post", seed: int = 0,
) -> nn.TransformerEncoderLayer:  # fmt: skip
    """PyTorch's own encoder layer with random numbers everywhere, gains and biases too."""
    sizes, first = (d_model, n_heads, d_ff, 0.0), order == "pre"
    layer = nn.TransformerEncoderLayer(*sizes, activation, eps, batch_first=True, norm_first=first)
    fill(layer, seed)
    return layer.eval()


@beside_answer
def slopes(layer: Any, x: Tensor, toward: Tensor | None = None) -> dict[str, Tensor]:
    """How ``(layer(x) * toward).sum()`` changes with x and the layer's parameters, by name."""
    leaf = x.clone().requires_grad_()
    return slopes_of(layer(leaf), {"x": leaf, **dict(layer.named_parameters())}, toward)


@beside_answer
def n_parameters(layer: Any) -> int:
    """How many numbers are trained; what is shared counts once."""
    return sum(parameter.numel() for parameter in layer.parameters())


@beside_answer
def listen(model: Any, src: Tensor, tgt_in: Tensor) -> dict[str, Any]:
    """Calls the model, and gives what its two ears noted."""
    Ear.log.clear()
    return {"out": model(src, tgt_in), **Ear.log}


@beside_answer
def moved(model: Any, seed: int = 0) -> int:
    """Moves all parameters, as a step of training does."""
    draw = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.5 * torch.randn(parameter.shape, generator=draw)
    return seed


_PAST = "a sub-layer reads x past its around: take what around hands over"


def _block(block_class: Any, parts: tuple[Any, Any, Any, list[Around]], n_attentions: int) -> Any:
    """The student's layer, with all its parts registered."""
    inner, around = (*parts[:n_attentions], parts[2]), parts[3][: n_attentions + 1]
    block = ask(block_class, *inner, list(around))
    right, got = sum(map(n_parameters, (*inner, *around))), n_parameters(block)
    lists = "a Python list hides modules, nn.ModuleList does not"
    expect(got == right, f"the layer has {got} parameters, its parts have {right}: {lists}")
    return block


def _times(factor: float, plus: float = 0.0, width: int = 1) -> nn.Linear:
    """A module that multiplies each number of x, and adds to it."""
    layer = nn.Linear(width, width)
    layer.load_state_dict({"weight": factor * torch.eye(width), "bias": torch.full((width,), plus)})
    return layer


def _moved(x: Tensor, place: int, by: float) -> Tensor:
    x = x.clone()
    x[:, place] += by * torch.arange(1.0, x.size(-1) + 1)
    return x
