"""A5: a toy whose training is observed, and a small model that learns at once."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters

from ..check.kit import beside_answer, random_numbers, slopes_of


class Toy(nn.Module):
    """Not a language model, since only the way it is trained matters here. Its results
    differ between training and evaluation mode."""

    def __init__(self, size: float) -> None:
        super().__init__()
        self.factor = nn.Parameter(torch.tensor(1.2))
        self.table = nn.Parameter(0.3 * size * random_numbers(50))

    def forward(self, ids: Tensor) -> Tensor:
        return self.table[ids] * self.factor * (1.5 if self.training else 1.0)


def toy_loss(model: nn.Module, batch: Any, pad: int) -> Tensor:
    """The sum over all tokens except padding."""
    _, tgt_in, tgt_out = batch
    away = model(tgt_in) - tgt_out / 10
    return 0.05 * (away**2)[tgt_out != pad].sum()


def state(toy: Toy, batch: Any, pad: int) -> Tensor:
    """The loss of a batch, which tells the mode, and its gradient, if one can be
    computed."""
    loss = toy_loss(toy, batch, pad)
    slopes = slopes_of(loss, dict(toy.named_parameters()), torch.ones(()))
    return torch.cat([x.detach().flatten() for x in (loss, *slopes.values())])


@beside_answer
def updates(function: Any, toy: Toy, groups: Any, pad: int) -> Any:
    """One update for each group, from the same start: what comes back, and how far the
    parameters move at a rate of 1."""
    rows, start = [], parameters_to_vector(toy.parameters())
    optimizer = torch.optim.SGD(toy.parameters(), lr=1.0)
    for group in groups:
        value = function(toy, optimizer, group, partial(toy_loss, pad=pad))
        rows.append((value, start - parameters_to_vector(toy.parameters())))
        vector_to_parameters(start.clone(), toy.parameters())
    return rows


@beside_answer
def validation(function: Any, toy: Toy, batches: Any, pad: int) -> Any:
    """What comes back, and the state in which the toy is left."""
    value = function(toy, batches, partial(toy_loss, pad=pad))
    left = state(toy, batches[0], pad)
    torch.set_grad_enabled(True)
    return value, left


class Small(nn.Module):
    """A small model that learns within seconds. It sees the mean of the source, one
    word, and the word's position, and notes its logits."""

    def __init__(self, n_words: int, seed: int) -> None:
        super().__init__()
        torch.manual_seed(seed)
        self.words, self.positions = nn.Embedding(n_words, 24), nn.Embedding(40, 24)
        self.output, self.seen = nn.Linear(24, n_words), list[Tensor]()

    def forward(self, src: Tensor, tgt_in: Tensor) -> Tensor:
        """src ``(B, S)``, tgt_in ``(B, T)`` → logits ``(B, T, V)``"""
        x = self.words(src).mean(1, keepdim=True) + self.words(tgt_in)
        x = x + self.positions.weight[: tgt_in.size(1)]
        logits = self.output(x.tanh())
        self.seen.append(logits.detach())
        return logits  # type: ignore[no-any-return]


@beside_answer
def trained(function: Any, model: Small, src: Tensor, tgt: Tensor) -> Any:
    """What the student's training of a small model returns, and the model's logits at
    each call and at the end."""
    losses = function(model, src, tgt)
    model(src, tgt[:, :-1])
    return [losses, model.seen]
