"""A4: parts that answers are built around, models that are looked into, and PyTorch's
own layers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from nmt_lib import MultiHeadAttention

from ..check import kit
from ..check.kit import ask, beside_answer, expect, fill, near, slopes_of

WORDS = 40  # in the vocabulary of the small model


class Around(nn.Module):
    """In place of an AddNorm: mixes what comes in with what the sub-layer makes of
    something else."""

    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.before = nn.Linear(d_model, d_model)
        self.after = nn.Linear(2 * d_model, d_model)

    def forward(self, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        out = sublayer(self.before(x))
        one = f"a function gives its around one tensor, not {type(out).__name__}"
        expect(isinstance(out, Tensor), one)
        return self.after(torch.cat([x, out], dim=-1))  # type: ignore[no-any-return]


class Blind(nn.Module):
    """An around that gives its sub-layer zeros to read."""

    def forward(self, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        return x + sublayer(torch.zeros_like(x))


class Layer(nn.Module):
    """In place of an encoder or decoder layer; ``number`` draws its numbers."""

    def __init__(self, number: int) -> None:
        super().__init__()
        draw = torch.Generator().manual_seed(number)
        self.matrix = nn.Parameter(torch.randn(4, 4, generator=draw))

    def forward(self, x: Tensor, *others: Tensor) -> Tensor:
        rest = sum((i + 1) * other for i, other in enumerate(others))
        return torch.tanh(x @ self.matrix + rest)


class Maker:
    """Makes layer 1, 2, 3 …"""

    made = 0

    def __call__(self) -> Layer:
        self.made += 1
        return Layer(self.made)


class Ear(nn.Module):
    """In place of an encoder or decoder: notes what it gets, and gives its own
    numbers."""

    log: ClassVar[dict[str, Any]] = {}

    def __init__(self, name: str, gives: Tensor) -> None:
        super().__init__()
        self.name, self.gives, self.weight = name, gives, nn.Parameter(torch.ones(3))

    def forward(self, *args: Any, **kwargs: Any) -> Tensor:
        gives = self.gives * self.weight[0]
        Ear.log[self.name] = (*args, *kwargs.values())
        Ear.log["memory" if self.name == "encoder" else "gave"] = gives
        return gives.clone()


def block_parts(d_model: int = 4, n_heads: int = 2, seed: int = 0) -> Any:
    """Two attentions, a feed-forward network, and three to go around them, with random
    numbers, biases too."""
    parts = [MultiHeadAttention(d_model, n_heads) for _ in range(2)]
    ffn = nn.Sequential(nn.Linear(d_model, 7), nn.ReLU(), nn.Linear(7, d_model))
    arounds = [Around(d_model) for _ in range(3)]
    for i, part in enumerate((*parts, ffn, *arounds)):
        fill(part, 10 * seed + i)
    return (*parts, ffn, arounds)


def small_model(
    model_class: Any, d_model: int = 4, sizes: Any = (2, 4, 3), seed: int = 0
) -> Any:
    """A model around two ears, ids without ``<pad>`` for both sides, and the table of
    positions."""
    (B, S, T), draw = sizes, torch.Generator().manual_seed(seed)
    table = torch.randn(max(S, T) + 3, d_model, generator=draw)
    ears = [
        Ear(name, torch.randn(B, length, d_model, generator=draw))
        for name, length in (("encoder", S), ("decoder", T))
    ]
    src, tgt_in = (torch.randint(30, WORDS, (B, n), generator=draw) for n in (S, T))
    return ask(model_class, WORDS, table.clone(), *ears), src, tgt_in, table


def torch_layer(
    d_model: int,
    n_heads: int,
    d_ff: int,
    activation: Any = nn.functional.relu,
    eps: float = 1e-5,
    order: str = "post",
    seed: int = 0,
) -> nn.TransformerEncoderLayer:
    """PyTorch's own encoder layer with random numbers everywhere, gains and biases
    too."""
    sizes, first = (d_model, n_heads, d_ff, 0.0), order == "pre"
    layer = nn.TransformerEncoderLayer(
        *sizes, activation, eps, batch_first=True, norm_first=first
    )
    fill(layer, seed)
    return layer.eval()


def really(
    d_model: int, d_ff: int, n_layers: int, n_words: int, order: str, biased: str
) -> int:
    """Counts what PyTorch's own layers hold, less the biases that they have too many,
    plus ends, table and output."""
    own = {"out_proj.bias": "W_o", "linear1.bias": "W_1", "linear2.bias": "W_2"}
    total = n_words * (d_model + ("output" in biased)) + 4 * d_model * (order == "pre")
    with torch.device("meta"):
        kinds = nn.TransformerEncoderLayer, nn.TransformerDecoderLayer
        layers = [kind(d_model, 1, d_ff) for kind in kinds]
    for name, parameter in (p for layer in layers for p in layer.named_parameters()):
        end, share = ".".join(name.split(".")[-2:]), 1.0
        if name.endswith("in_proj_bias"):
            share = sum(w in biased for w in ("W_q", "W_k", "W_v")) / 3
        elif end in own:
            share = own[end] in biased
        total += round(n_layers * parameter.numel() * share)
    return total


@beside_answer
def slopes(layer: Any, x: Any, toward: Any = None, *others: Any) -> dict[str, Tensor]:
    """How ``(layer(x, *others) * toward).sum()`` changes with x, other vectors ("input
    0" …) and the layer's parameters, by name."""
    given, leaves = [x, *others], dict[str, Tensor]()
    for i, one in enumerate(given):
        if isinstance(one, Tensor) and one.is_floating_point():
            name = f"input {i - 1}" if i else "x"
            given[i] = leaves[name] = one.clone().requires_grad_()
    return slopes_of(layer(*given), leaves | dict(layer.named_parameters()), toward)


@beside_answer
def heard_slopes(model: Any, src: Tensor, tgt_in: Tensor, toward: Any) -> Any:
    """How what the encoder gets, and what the decoder gets, changes with the table; and
    what the decoder gets as its memory, with what the encoder gave."""
    listen(model, src, tgt_in)
    log, own = dict(Ear.log), dict(model.named_parameters(remove_duplicate=False))
    table = own["table.weight"]
    pairs = {
        "encoder": (log["encoder"][0], table),
        "decoder": (log["decoder"][0], table),
        "memory": (log["decoder"][1], log["memory"]),
    }
    both = zip(pairs.items(), toward, strict=True)
    return {n: slopes_of(out, {n: leaf}, way)[n] for (n, (out, leaf)), way in both}


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


# -------------------------------------------------- what public and hidden tests share


def run(layer: Any, *args: Any) -> Tensor:
    """What a layer gives: one tensor."""
    got = ask(layer, *args)
    one = f"forward gives one tensor, not {type(got).__name__}"
    expect(isinstance(got, Tensor), one)
    return kit.single(got.detach())


def looks(attention: Any, memory: Any = None, mask: Any = None) -> Any:
    """Attention to the memory, or to itself, as a function of one argument."""
    return lambda h: attention(h, h if memory is None else memory, mask)


def same_slopes(found: Any, out: Tensor, inputs: Any, parts: Any, toward: Any) -> bool:
    """Are these the gradients of ``out``: with respect to the inputs, and to all that
    the parts train (under whatever names, in whatever order)?"""
    own = {
        f"{i} {n}": p
        for i, part in enumerate(parts)
        for n, p in part.named_parameters()
    }
    right = slopes_of(out, {**inputs, **own}, toward)
    sizes, wanted = (
        sorted(float(s.norm()) for n, s in slopes.items() if n not in inputs)
        for slopes in (found, right)
    )
    good = all(near(found.get(name, torch.zeros(())), right[name]) for name in inputs)
    return good and len(sizes) == len(wanted) and near(sizes, wanted)


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
    boolean = isinstance(mask, Tensor) and mask.dtype == torch.bool and mask.dim() == 4
    fits = boolean and all(a in (1, b) for a, b in zip(mask.shape, wanted, strict=True))
    expect(fits, f"{name} does not fit (B, 1, queries, keys) = {wanted}")
    return mask.expand(wanted)[:, 0]  # type: ignore[no-any-return]
