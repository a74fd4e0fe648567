"""A4: parts that answers are built around, models that are looked into, and PyTorch's
own layers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from nmt_lib import MultiHeadAttention

from ..check.kit import ask, beside_answer, expect, fill, slopes_of

WORDS = 40  # in the vocabulary of the small model
ATTENTION = ("W_q", "W_k", "W_v", "W_o")


class Around(nn.Module):
    """Stands where an AddNorm will stand, and mixes what comes in with what the
    sub-layer makes of something else."""

    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.before, self.after = (
            nn.Linear(d_model, d_model),
            nn.Linear(2 * d_model, d_model),
        )

    def forward(self, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        out = sublayer(self.before(x))
        expect(
            isinstance(out, Tensor),
            f"a function gives its around one tensor, not {type(out).__name__}",
        )
        return self.after(torch.cat([x, out], dim=-1))  # type: ignore[no-any-return]


class Blind(nn.Module):
    """An around that gives its sub-layer zeros to read."""

    def forward(self, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        return x + sublayer(torch.zeros_like(x))


class Layer(nn.Module):
    """Stands where an encoder or decoder layer will stand; ``number`` draws its
    numbers."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.matrix = nn.Parameter(
            torch.randn(4, 4, generator=torch.Generator().manual_seed(number))
        )

    def forward(self, x: Tensor, *others: Tensor) -> Tensor:
        return torch.tanh(
            x @ self.matrix + sum((i + 1) * other for i, other in enumerate(others))
        )


class Maker:
    """Makes layer 1, 2, 3 …"""

    made = 0

    def __call__(self) -> Layer:
        self.made += 1
        return Layer(self.made)


class Ear(nn.Module):
    """Stands where an encoder or decoder will stand: notes what it gets, and gives
    numbers of its own."""

    log: ClassVar[dict[str, Any]] = {}

    def __init__(self, name: str, gives: Tensor) -> None:
        super().__init__()
        self.name, self.gives, self.weight = name, gives, nn.Parameter(torch.ones(3))

    def forward(self, *args: Any, **kwargs: Any) -> Tensor:
        gives = self.gives * self.weight[0]
        Ear.log[self.name] = (*args, *kwargs.values())
        Ear.log["memory" if self.name == "encoder" else "gave"] = gives
        return gives.clone()


def block_parts(
    d_model: int = 4, n_heads: int = 2, seed: int = 0
) -> tuple[Any, Any, Any, list[Around]]:
    """Two attentions, a feed-forward network, and three to stand around them, with
    random numbers, biases too."""
    parts = [MultiHeadAttention(d_model, n_heads) for _ in range(2)]
    ffn = nn.Sequential(nn.Linear(d_model, 7), nn.ReLU(), nn.Linear(7, d_model))
    arounds = [Around(d_model) for _ in range(3)]
    for i, part in enumerate((*parts, ffn, *arounds)):
        fill(part, 10 * seed + i)
    return (*parts, ffn, arounds)  # type: ignore[return-value]


def small_model(
    model_class: Any,
    d_model: int = 4,
    sizes: tuple[int, int, int] = (2, 4, 3),
    seed: int = 0,
) -> Any:
    """A model around two ears, ids without ``<pad>`` for both sides, and the table of
    places."""
    B, S, T = sizes
    draw = torch.Generator().manual_seed(seed)
    places = torch.randn(max(S, T) + 3, d_model, generator=draw)
    ears = [
        Ear(n, torch.randn(B, length, d_model, generator=draw))
        for n, length in (("encoder", S), ("decoder", T))
    ]
    src, tgt_in = (torch.randint(30, WORDS, (B, n), generator=draw) for n in (S, T))
    return ask(model_class, WORDS, places.clone(), *ears), src, tgt_in, places


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
    total = (
        n_words * d_model
        + n_words * ("output" in biased)
        + 4 * d_model * (order == "pre")
    )
    with torch.device("meta"):
        layers = [
            kind(d_model, 1, d_ff)
            for kind in (nn.TransformerEncoderLayer, nn.TransformerDecoderLayer)
        ]
    for name, parameter in (
        pair for layer in layers for pair in layer.named_parameters()
    ):
        if name.endswith("in_proj_bias"):
            total += n_layers * d_model * sum(w in biased for w in ATTENTION[:3])
        else:
            kind = next((w for end, w in own.items() if name.endswith(end)), "")
            total += n_layers * parameter.numel() * (kind in biased)
    return total


@beside_answer
def slopes(
    layer: Any, x: Tensor, toward: Tensor | None = None, *others: Any
) -> dict[str, Tensor]:
    """How ``(layer(x, *others) * toward).sum()`` changes with x, other vectors ("input
    0" …) and the layer's
    parameters, by name."""
    given = [x, *others]
    vectors = [
        i
        for i, one in enumerate(given)
        if isinstance(one, Tensor) and one.is_floating_point()
    ]
    for i in vectors:
        given[i] = given[i].clone().requires_grad_()
    leaves = {f"input {i - 1}" if i else "x": given[i] for i in vectors}
    return slopes_of(
        layer(*given), {**leaves, **dict(layer.named_parameters())}, toward
    )


@beside_answer
def heard_slopes(
    model: Any, src: Tensor, tgt_in: Tensor, toward: list[Tensor]
) -> dict[str, Tensor]:
    """How what the encoder gets, and what the decoder gets, changes with the table; and
    what the decoder gets as its
    memory, with what the encoder gave."""
    listen(model, src, tgt_in)
    table, log = (
        dict(model.named_parameters(remove_duplicate=False))["table.weight"],
        dict(Ear.log),
    )
    pairs = {
        "encoder": (log["encoder"][0], table),
        "decoder": (log["decoder"][0], table),
        "memory": (log["decoder"][1], log["memory"]),
    }
    both = zip(pairs.items(), toward, strict=True)
    return {
        name: slopes_of(out, {name: leaf}, way)[name]
        for (name, (out, leaf)), way in both
    }


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
