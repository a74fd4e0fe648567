"""A4: encoder, decoder and the assembled model. What a part builds on is passed in:
stand-ins whose results tell what was done, so that no check needs another answer."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from ..standins.a4 import *
from .kit import *
from .part import gradient as gradient
from .part import reached


def trained(norm_class: Any, start: float) -> None:
    layer, x = ask(norm_class, 4), random_numbers(1, 1, 4)
    state = state_of(layer)
    for name, value in (("norm_gain", start), ("norm_shift", 0.0)):
        expect(name in state, f"there is no nn.Parameter named {name}")
        match(state[name], torch.full((4,), value), f"{name} starts as")
    bare, new = run(layer, x) / start, fill(layer)
    right = bare * new["norm_gain"] + new["norm_shift"]
    match(run(layer, x), right, "with another gain and shift, x becomes")
    reached(layer, x)
    done("the gradient")


def feed_forward(ffn_class: Any, activation: Any) -> None:
    layer, x, name = ask(ffn_class, 3, 5), random_numbers(1, 1, 3), activation.__name__
    state = fill(layer)
    wide = tensor(linear(x, state, "W_1"), "FFN(3, 5): W_1(x)", (1, 1, 5))
    right, usual = (linear(y, state, "W_2") for y in (activation(wide), wide.relu()))
    relu = usual, f"this is relu; the rules say {name}"
    gives(layer, [x], right, f"W_1, {name}, W_2", relu)


def dropout(class_: Any) -> None:
    layer = ask(class_, nn.Identity(), 0.25, "post", 1.0)
    x = torch.full((1, 40, 60), 5.0)
    rest = tensor(run(layer.eval(), x, Sum(0, plus=1)), "out", (1, 40, 60)) - 1
    expect((rest == rest[0, 0, 0]).all(), "dropout is still active after eval()")
    left = run(layer.train(), x, Sum(0, plus=1)) - rest
    share = (left.abs() < 1e-3).float().mean().item()
    expect(abs(share - 0.25) < 0.1, f"dropout 0.25 drops {share:.0%} of the sub-layer")
    done("dropout")


def layer(block_class: Any, n_attentions: int) -> Any:
    """A layer whose parts are sums: attention is 3 · queries + 5 · keys, plus 7 if its
    mask hides everything; the feed-forward network is 11x; around each of them, 2x plus
    the sub-layer of x + 1."""
    parts = [*(Sum(3, 5, 7) for _ in range(n_attentions)), Sum(11)]
    made = ask(block_class, *parts, [Around() for _ in parts])
    wanted, hint = 6 * len(parts), "keep a list of modules in an nn.ModuleList"
    match(n_parameters(made), wanted, "number of trained parameters:", hint=hint)
    return made


def embedding(model_class: Any, reserved: int) -> None:
    model, src, tgt_in, table = small_model(model_class, 4, (1, 2, 2), 0)
    state, heard = state_of(model), hear(model, src, tgt_in)
    expect("table.weight" in state, "there is no table.weight: one nn.Embedding, table")
    for side, ids in (("encoder", src), ("decoder", tgt_in)):
        words, rows = 2 * state["table.weight"][ids], table[reserved : reserved + 2]
        factor = words / 2 + rows, "the factor √d_model is missing"
        skipped = words + table[:2], "the reserved rows are not skipped"
        match(heard[side][0], words + rows, f"the {side} gets", factor, skipped)
    done("the embeddings")


def model_masks(model_class: Any, pad: int) -> None:
    model, src, tgt_in, _ = small_model(model_class, 4, (2, 4, 3), 0)
    src[1, 2:], tgt_in[1, 1:] = pad, pad
    heard = hear(model, src, tgt_in)
    n = [len(heard[side]) for side in ("encoder", "decoder")]
    match(n, [2, 4], "the numbers of arguments of encoder and decoder are")
    _, of_encoder = heard["encoder"]
    memory, of_source, of_target = heard["decoder"][1:]
    expect(near(memory, heard["encoder gave"]), "memory is not the encoder's result")
    for name, mask, ids, n_queries in (
        ("the encoder's mask", of_encoder, src, 4),
        ("the decoder's source mask", of_source, src, 3),
        ("the decoder's target mask", of_target, tgt_in, 3),
    ):
        seen = sees(mask, ids, n_queries, name)
        expect(seen[0, -1].all(), f"{name} hides words from the last position")
        expect(not seen[1, 0, ids[1] == pad].any(), f"{name} shows <pad>, id {pad}")
    expect(not seen[0].triu(1).any(), "a target position sees the ones after it")
    done("the masks of the model")


def output(model_class: Any, factor: float) -> None:
    model, src, tgt_in, _ = small_model(model_class, 4, (1, 2, 2), 0)
    two = WORDS * 9 + 6, "the table and the output layer should share one matrix"
    match(n_parameters(model), WORDS * 5 + 6, "number of trained parameters:", two)
    fill(model)  # as training changes it
    state, heard = state_of(model), hear(model, src, tgt_in)
    expect("output.bias" in state, "the output layer has no bias named output.bias")
    plain = heard["decoder gave"] @ state["table.weight"].T + state["output.bias"]
    hint = "logits, without a softmax, from the table's own matrix, not a copy"
    known = plain[..., :3], "the factor of the logits is missing"
    got, title = heard["out"][..., :3], "the first three logits of each position are"
    match(got, factor * plain[..., :3], title, known, hint=hint)
    done("the output layer")


# -------------------------------------------------- what public and hidden tests share


def run(layer: Any, *args: Any) -> Tensor:
    """The result of a layer: one tensor."""
    got = ask(layer, *args)
    expect(isinstance(got, Tensor), f"forward: expected a tensor, got {kind(got)}")
    return single(got.detach())


def hear(model: Any, src: Tensor, tgt_in: Tensor) -> dict[str, Any]:
    """What encoder and decoder got and gave, and the model's result."""
    heard = ask(listen, model, src, tgt_in)
    for side in ("encoder", "decoder"):
        expect(heard.get(side), f"the {side} is not called")
    expect(isinstance(heard["out"], Tensor), "the model should return the logits")
    return heard  # type: ignore[no-any-return]


def sees(mask: Any, ids: Tensor, n_queries: int, name: str) -> Tensor:
    """A mask for these ids as (B, queries, keys)."""
    wanted = (len(ids), 1, n_queries, ids.size(1))
    boolean = isinstance(mask, Tensor) and mask.dtype == torch.bool and mask.dim() == 4
    fits = boolean and all(a in (1, b) for a, b in zip(mask.shape, wanted, strict=True))
    expect(fits, f"{name} does not fit (B, 1, queries, keys) = {wanted}")
    return mask.expand(wanted)[:, 0]  # type: ignore[no-any-return]
