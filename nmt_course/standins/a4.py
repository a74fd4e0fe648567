"""A4: parts that answers are built around, and models that are looked into."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from nmt_lib import MultiHeadAttention

from ..check.kit import ask, beside_answer, expect, fill, slopes_of

WORDS = 40  # in the vocabulary of the small model


class Sum(nn.Module):
    """In place of attention, norm or feed-forward network: a sum that tells what came
    in. A mask counts as the share that it hides."""

    def __init__(self, x: float, memory: float = 0, mask: float = 0, plus: float = 0):
        super().__init__()
        self.factors = nn.Parameter(torch.tensor([x, memory, mask, plus]).float())

    def forward(self, x: Tensor, memory: Any = 0.0, mask: Any = None) -> Tensor:
        a, b, c, plus = self.factors
        hidden = 0.0 if mask is None else (~mask).float().mean()
        return a * x + b * memory + c * hidden + plus  # type: ignore[no-any-return]


class Around(nn.Module):
    """In place of an AddNorm: 2x, and what the sub-layer makes of x + 1, until it is
    filled with other numbers."""

    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.twice = nn.Parameter(torch.full((d_model,), 2.0))
        self.more = nn.Parameter(torch.ones(d_model))

    def forward(self, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        out = sublayer(x + self.more)
        one = f"a function gives its around one tensor, not {type(out).__name__}"
        expect(isinstance(out, Tensor), one)
        return self.twice * x + out


def block_parts(d_model: int, n_heads: int, seed: int) -> Any:
    """Two attentions, a feed-forward network, and three to go around them, with random
    numbers, biases too."""
    parts = [MultiHeadAttention(d_model, n_heads) for _ in range(2)]
    ffn = nn.Sequential(nn.Linear(d_model, 7), nn.ReLU(), nn.Linear(7, d_model))
    arounds = [Around(d_model) for _ in range(3)]
    for i, part in enumerate((*parts, ffn, *arounds)):
        fill(part, 10 * seed + i)
    return (*parts, ffn, arounds)


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

    def forward(self, *args: Tensor, **named: Tensor) -> Tensor:
        gives = self.gives * self.weight[0]
        got = (*args, *named.values())
        Ear.log |= {self.name: got, f"{self.name} gave": gives}
        return gives.clone()


def small_model(model_class: Any, d_model: int, sizes: Any, seed: int) -> Any:
    """A model around two ears, ids without ``<pad>`` for both sides, and the table of
    positions."""
    (B, S, T), draw = sizes, torch.Generator().manual_seed(seed)
    table = torch.randn(max(S, T) + 50, d_model, generator=draw)
    ears = [
        Ear(name, torch.randn(B, length, d_model, generator=draw))
        for name, length in (("encoder", S), ("decoder", T))
    ]
    src, tgt_in = (torch.randint(30, WORDS, (B, n), generator=draw) for n in (S, T))
    return ask(model_class, WORDS, table.clone(), *ears), src, tgt_in, table


@beside_answer
def listen(model: Any, src: Tensor, tgt_in: Tensor, toward: Any = ()) -> dict[str, Any]:
    """Calls the model, and gives what its two ears noted; with three directions, how
    what the encoder and the decoder get changes with the table, and the decoder's
    memory with what the encoder gave."""
    Ear.log.clear()
    log = {"out": model(src, tgt_in), **Ear.log}
    if not toward:
        return log
    own = dict(model.named_parameters(remove_duplicate=False))
    (x, *_), (y, memory, *_) = log["encoder"], log["decoder"]
    table = own["table.weight"]
    ends = (x, table), (y, table), (memory, log["encoder gave"])
    both = zip(ends, toward, strict=True)
    return {str(i): slopes_of(a, {"": b}, t)[""] for i, ((a, b), t) in enumerate(both)}


@beside_answer
def n_parameters(layer: Any) -> int:
    """How many numbers are trained; what is shared counts once."""
    return sum(parameter.numel() for parameter in layer.parameters())
