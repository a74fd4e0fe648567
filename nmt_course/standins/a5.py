"""A5: a toy whose training is watched, and a small model that learns at once."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters

from ..check.kit import beside_answer, random_numbers, slopes_of


class Toy(nn.Module):
    """Not a language model: what counts here is how it is trained. In training mode it
    gives something else."""

    def __init__(self, size: float) -> None:
        super().__init__()
        self.factor = nn.Parameter(torch.tensor(1.2))
        self.table = nn.Parameter(0.3 * size * random_numbers(50))

    def forward(self, ids: Tensor) -> Tensor:
        return self.table[ids] * self.factor * (1.5 if self.training else 1.0)


def toy_loss(model: nn.Module, batch: Any, pad: int) -> Tensor:
    """The sum over all tokens that are no padding."""
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
def watch(function: Any, updates: bool, toy: Toy, given: Any, pad: int) -> Any:
    """Updates of a toy, one for each group of batches, or validations, each from the
    same start: what comes back, how far an update has moved the parameters with a rate
    of 1, in which mode and with what losses were computed, and what is left."""
    rows: Any = []
    optimizer = torch.optim.SGD(toy.parameters(), lr=1.0)
    start = parameters_to_vector(toy.parameters())

    def loss_of(model: nn.Module, batch: Any) -> Tensor:
        loss = toy_loss(model, batch, pad)
        rows[-1]["modes"].append(model.training)
        rows[-1]["graphs"].append(loss.requires_grad)
        return loss

    for one in given:
        rows.append({"modes": [], "graphs": []})
        args = (toy, optimizer, one) if updates else (toy, one)
        rows[-1]["value"] = function(*args, loss_of)
        rows[-1]["state"] = state(toy, one[0], pad)
        torch.set_grad_enabled(True)
        rows[-1]["moved"] = start - parameters_to_vector(toy.parameters())
        vector_to_parameters(start.clone(), toy.parameters())
    return rows


class Small(nn.Module):
    """A small model that learns in the blink of an eye: it sees the mean of the source,
    one word, and its position. It notes its logits."""

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
    """A small model through the student's hands: what comes back, and its logits at
    each call and at the end."""
    losses = function(model, src, tgt)
    model(src, tgt[:, :-1])
    return [losses, model.seen]
