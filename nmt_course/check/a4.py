"""A4: encoder, decoder and the assembled model. What a part builds on is passed in:
stand-ins whose sums tell what was done, so that no check needs another answer."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from ..standins.a4 import *
from .kit import *


def trained(norm_class: Any, start: float) -> None:
    layer, x = ask(norm_class, 4), random_numbers(1, 1, 4)
    for name, value in (("norm_gain", start), ("norm_shift", 0.0)):
        first = state_of(layer).get(name)
        expect(first is not None, f"there is no nn.Parameter named {name}")
        match(tensor(first, name, (4,)), torch.full((4,), value), f"{name} begins as")
    bare, new = run(layer, x) / start, fill(layer)
    right, unused = bare * new["norm_gain"] + new["norm_shift"], "they are not used"
    match(run(layer, x), right, "with another gain and shift", (start * bare, unused))
    learns(layer, [x], "x")


def feed_forward(ffn_class: Any, activation: Any) -> None:
    layer, x, name = ask(ffn_class, 3, 5), random_numbers(1, 1, 3), activation.__name__
    state = fill(layer)
    wide = tensor(linear(x, state, "W_1"), "FFN(3, 5): what W_1 gives", (1, 1, 5))
    right, plain, usual = (
        linear(y, state, "W_2") for y in (activation(wide), wide, wide.relu())
    )
    missing = (plain, f"{name} is missing: two linear layers are one")
    relu = (usual, f"this is relu; the rules say {name}")
    gives(layer, [x], right, f"W_1, {name}, W_2", missing, relu)


def dropout(class_: Any) -> None:
    layer = ask(class_, nn.Identity(), 0.25, "post", 1.0)
    x = torch.full((1, 40, 60), 5.0)
    rest = run(layer.eval(), x, Sum(0, plus=1)) - 1
    expect(near(rest, rest[0, 0, 0].item()), "after eval() dropout is still at work")
    left = run(layer.train(), x, Sum(0, plus=1)) - rest
    expect(left.min() > -4, "x itself is dropped: drop what the sub-layer gives")
    share = (left.abs() < 1e-3).float().mean().item()
    expect(abs(share - 0.25) < 0.1, f"dropout 0.25 drops {share:.0%} of its numbers")
    match(left.max(), torch.tensor(4 / 3), "1, where it is kept, becomes")
    done("dropout")


def layer(block_class: Any, n_attentions: int) -> Any:
    """A layer whose parts give sums: attention 3 · queries + 5 · keys + 7 where its
    mask hides all, feed-forward 11x, each around 2x + its sub-layer of x + 1."""
    parts = [*(Sum(3, 5, 7) for _ in range(n_attentions)), Sum(11)]
    made = ask(block_class, *parts, [Around() for _ in parts])
    wanted, hint = 6 * len(parts), "a Python list hides modules, nn.ModuleList does not"
    match(n_parameters(made), wanted, "numbers that are trained:", hint=hint)
    return made


def embedding(model_class: Any, reserved: int) -> None:
    model, src, tgt_in, table = small_model(model_class, 4, (1, 2, 2), 0)
    state, found = state_of(model), hear(model, src, tgt_in)
    expect("table.weight" in state, "there is no table.weight: one nn.Embedding, table")
    for side, ids in (("encoder", src), ("decoder", tgt_in)):
        words, rows = 2 * state["table.weight"][ids], table[reserved : reserved + 2]
        known = [
            (words / 2 + rows, "the factor √d_model is missing"),
            (words, "the positions are missing"),
            (words + table[:2], "the reserved rows are not skipped"),
        ]
        match(found[side][0], words + rows, f"the {side} gets", *known)
    done("the embeddings")


def model_masks(model_class: Any, pad: int) -> None:
    model, src, tgt_in, _ = small_model(model_class, 4, (2, 4, 3), 0)
    src[1, 2:], tgt_in[1, 1:] = pad, pad
    found = hear(model, src, tgt_in)
    n = [len(found[side]) for side in ("encoder", "decoder")]
    match(n, [2, 4], "encoder and decoder get so many arguments:")
    (_, one), (_, memory, two, three) = found["encoder"], found["decoder"]
    expect(near(memory, found["encoder gave"]), "memory is not what the encoder gave")
    for name, mask, ids, n_queries in (
        ("the encoder's mask", one, src, 4),
        ("the decoder's mask for the source", three, src, 3),
        ("the decoder's mask for the target", two, tgt_in, 3),
    ):
        seen = sees(mask, ids, n_queries, name)
        expect(seen[0, -1].all(), f"{name} hides words from the last position")
        expect(not seen[1, 0, ids[1] == pad].any(), f"{name} shows <pad>, id {pad}")
    expect(not seen[0].triu(1).any(), "a target position sees what comes after it")
    done("the masks of the model")


def output(model_class: Any, factor: float) -> None:
    model, src, tgt_in, _ = small_model(model_class, 4, (1, 2, 2), 0)
    shared = (WORDS * 9 + 6, "the table and the output layer share one matrix")
    bias = (WORDS * 4 + 6, "the output layer has a bias")
    match(n_parameters(model), WORDS * 5 + 6, "trained numbers:", shared, bias)
    fill(model)  # as training changes it
    state, found = state_of(model), hear(model, src, tgt_in)
    expect("output.bias" in state, "the bias of the output layer is called output.bias")
    plain = found["decoder gave"] @ state["table.weight"].T + state["output.bias"]
    hint = "as they are, without softmax; and share the table, do not copy it"
    known, first = "the factor of the logits is missing", plain[..., :3]
    got, what = found["out"][..., :3], "of each position the first three logits:"
    match(got, factor * first, what, (first, known), hint=hint)
    done("the output layer")


# -------------------------------------------------- what public and hidden tests share


def run(layer: Any, *args: Any) -> Tensor:
    """What a layer gives: one tensor."""
    got = ask(layer, *args)
    expect(isinstance(got, Tensor), f"forward gives one tensor, not {kind(got)}")
    return single(got.detach())


def same_slopes(found: Any, out: Tensor, inputs: Any, parts: Any, toward: Any) -> bool:
    """Are these the gradients of ``out``: with respect to the inputs, and to all that
    the parts train (under whatever names, in whatever order)?"""
    own = {f"{i} {n}": p for i, m in enumerate(parts) for n, p in m.named_parameters()}
    right = slopes_of(out, {**inputs, **own}, toward)
    sizes, wanted = (
        sorted(float(s.norm()) for n, s in slopes.items() if n not in inputs)
        for slopes in (found, right)
    )
    good = all(near(found.get(name, torch.zeros(())), right[name]) for name in inputs)
    return good and len(sizes) == len(wanted) and near(sizes, wanted)


def hear(model: Any, src: Tensor, tgt_in: Tensor) -> dict[str, Any]:
    """What encoder and decoder got and gave, and what came out."""
    found = ask(listen, model, src, tgt_in)
    for side in ("encoder", "decoder"):
        expect(found.get(side), f"the {side} is not called")
    expect(isinstance(found["out"], Tensor), "the model gives one tensor, the logits")
    return found  # type: ignore[no-any-return]


def sees(mask: Any, ids: Tensor, n_queries: int, name: str) -> Tensor:
    """A mask for these ids as (B, queries, keys)."""
    wanted = (len(ids), 1, n_queries, ids.size(1))
    boolean = isinstance(mask, Tensor) and mask.dtype == torch.bool and mask.dim() == 4
    fits = boolean and all(a in (1, b) for a, b in zip(mask.shape, wanted, strict=True))
    expect(fits, f"{name} does not fit (B, 1, queries, keys) = {wanted}")
    return mask.expand(wanted)[:, 0]  # type: ignore[no-any-return]
