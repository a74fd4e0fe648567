"""A4: parts to build answers around, and models whose inside can be seen."""

from __future__ import annotations

from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from nmt_lib import MultiHeadAttention

from ..check.kit import ask, beside_answer, fill, slopes_of

WORDS = 40  # in the vocabulary of the small model


class Sum(nn.Module):
    """In place of attention, norm or feed-forward network: a sum that tells what its
    arguments were. A mask counts as the share that it hides."""

    def __init__(self, x: float, memory: float = 0, mask: float = 0, plus: float = 0):
        super().__init__()
        self.factors = nn.Parameter(torch.tensor([x, memory, mask, plus]).float())

    def forward(self, x: Tensor, memory: Any = 0.0, mask: Any = None) -> Tensor:
        a, b, c, plus = self.factors
        hidden = 0.0 if mask is None else (~mask).float().mean()
        return a * x + b * memory + c * hidden + plus  # type: ignore[no-any-return]


class Around(nn.Module):
    """In place of an AddNorm: 2x plus the sub-layer of x + 1, until it is filled with
    other numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.numbers = nn.Parameter(torch.tensor([2.0, 1.0]))

    def forward(self, x: Tensor, sublayer: Any) -> Tensor:
        twice, more = self.numbers
        return twice * x + sublayer(x + more)  # type: ignore[no-any-return]


def block_parts(d_model: int, n_heads: int, seed: int) -> Any:
    """Two attentions, a linear layer in place of a feed-forward network, and three
    modules around them, all with random parameters."""
    attentions = [MultiHeadAttention(d_model, n_heads) for _ in range(2)]
    arounds = [Around() for _ in range(3)]
    parts = *attentions, nn.Linear(d_model, d_model)
    fill(nn.ModuleList([*parts, *arounds]), seed)
    return (*parts, arounds)


class Layer(nn.Linear):
    """In place of an encoder or decoder layer; ``number`` seeds its parameters."""

    def __init__(self, number: int) -> None:
        super().__init__(4, 4, bias=False)
        fill(self, number)

    def forward(self, x: Tensor, *others: Tensor) -> Tensor:
        rest = sum(i * other for i, other in enumerate(others, 1))
        return torch.tanh(super().forward(x) + rest)


class Maker:
    """Makes layer 1, 2, 3 …"""

    made = 0

    def __call__(self) -> Layer:
        self.made += 1
        return Layer(self.made)


class Ear(nn.Module):
    """In place of an encoder or decoder: notes its arguments, and returns numbers of
    its own."""

    log: ClassVar[Any] = {}

    def __init__(self, name: str, gives: Tensor) -> None:
        super().__init__()
        self.name, self.gives, self.weight = name, gives, nn.Parameter(torch.ones(3))

    def forward(self, *args: Tensor, **named: Tensor) -> Tensor:
        gives = self.gives * self.weight[0]
        Ear.log |= {self.name: (*args, *named.values()), f"{self.name} gave": gives}
        return gives.clone()


def small_model(model_class: Any, d_model: int, sizes: Any, seed: int) -> Any:
    """A model around two ears, source and target ids without ``<pad>``, and the table
    of positions."""
    B, S, T = sizes
    torch.manual_seed(seed)
    table = torch.randn(max(S, T) + 50, d_model)
    gives = torch.randn(B, S + T, d_model)
    ids = torch.randint(30, WORDS, (B, S + T))
    ears = Ear("encoder", gives[:, :S]), Ear("decoder", gives[:, S:])
    return ask(model_class, WORDS, table.clone(), *ears), ids[:, :S], ids[:, S:], table


@beside_answer
def listen(model: Any, src: Tensor, tgt_in: Tensor) -> Any:
    """Calls the model; returns what its two ears noted, and its result."""
    Ear.log.clear()
    return {"out": model(src, tgt_in), **Ear.log}


@beside_answer
def traced(
    model: Any, src: Tensor, tgt_in: Tensor, side: str, i: int, toward: Tensor
) -> Any:
    """The gradients of argument i of encoder or decoder with respect to the table and
    to the encoder's result."""
    log = listen(model, src, tgt_in)
    table = model.get_parameter("table.weight")
    leaves = {"table": table, "memory": log["encoder gave"]}
    return slopes_of(log[side][i], leaves, toward)
