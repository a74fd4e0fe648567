"""A5: a toy whose training is watched, and a small model that learns at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from ..check.kit import beside_answer

Batch = tuple[Tensor, Tensor, Tensor]  # src (B, S), tgt_in (B, T), tgt_out (B, T)


def batch(lengths: Sequence[int], pad: int, seed: int) -> Batch:
    """A batch whose sentences have so many tokens in ``tgt_out``; one more position
    where all are equally long."""
    draw = torch.Generator().manual_seed(seed)
    width = max(lengths) + (len(lengths) > 1 and min(lengths) == max(lengths))
    shape = (len(lengths), width)
    src, read, said = (torch.randint(20, 30, shape, generator=draw) for _ in range(3))
    empty = torch.arange(width) >= torch.tensor(lengths)[:, None]
    return src, read.masked_fill(empty, pad), said.masked_fill(empty, pad)


class Toy(nn.Module):
    """Not a language model: what counts here is how it is trained. In training mode it
    gives something else."""

    def __init__(self, size: float, seed: int = 0) -> None:
        super().__init__()
        draw = torch.Generator().manual_seed(seed)
        self.factor = nn.Parameter(torch.tensor(1.2))
        self.table = nn.Parameter(0.3 * size * torch.randn(30, generator=draw))

    def forward(self, ids: Tensor) -> Tensor:
        return self.table[ids] * self.factor * (1.5 if self.training else 1.0)


def toy_loss(model: nn.Module, batch: Batch, pad: int) -> Tensor:
    """The sum over all tokens that are no padding."""
    src, tgt_in, tgt_out = batch
    away = model(tgt_in) + 0.3 * model(src) - 0.1 * (tgt_out - 25)
    return 0.05 * (away**2)[tgt_out != pad].sum()


class _Notes(torch.optim.SGD):
    """Notes the gradient at each step, and moves nothing."""

    seen: list[Tensor]

    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        own = self.param_groups[0]["params"]
        grads = (torch.zeros_like(p) if p.grad is None else p.grad for p in own)
        self.seen.append(torch.cat([grad.flatten().clone() for grad in grads]))


@beside_answer
def watch(
    function: Any, toy: Toy, pad: int, batches: Any, updates: bool
) -> list[dict[str, Any]]:
    """Updates of a toy, one for each group of batches, or a validation: what comes
    back, the gradients at each step, in which mode and with what losses were computed,
    and what is left."""
    optimizer, rows = _Notes(toy.parameters(), lr=1.0), []
    for one in batches if updates else [batches]:
        row: dict[str, Any] = {"modes": [], "graphs": [], "steps": []}
        optimizer.seen = row["steps"]

        def loss_of(model: nn.Module, batch: Batch, row: Any = row) -> Tensor:
            loss = toy_loss(model, batch, pad)
            row["modes"].append(model.training)
            row["graphs"].append(loss.requires_grad)
            return loss

        args = (toy, optimizer, one) if updates else (toy, one)
        row["value"] = function(*args, loss_of)
        row["mode"], row["slopes"] = toy.training, torch.is_grad_enabled()
        torch.set_grad_enabled(True)
        rows.append(row)
    return rows


class Small(nn.Module):
    """A small model that learns in the blink of an eye: it sees the mean of the source,
    one word, and its position. It notes its logits."""

    def __init__(self, n_words: int, seed: int) -> None:
        super().__init__()
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            sizes = n_words, n_words, 40
            self.tables = nn.ModuleList(nn.Embedding(n, 24) for n in sizes)
            self.output, self.seen = nn.Linear(24, n_words), list[Tensor]()

    def forward(self, src: Tensor, tgt_in: Tensor) -> Tensor:
        """src ``(B, S)``, tgt_in ``(B, T)`` → logits ``(B, T, V)``"""
        source, target, position = self.tables
        x = source(src).mean(1, keepdim=True) + target(tgt_in)
        x = x + position(torch.arange(tgt_in.size(1)))
        logits = self.output(x.tanh())
        self.seen.append(logits.detach().clone())
        return logits  # type: ignore[no-any-return]


@beside_answer
def trained(function: Any, model: Small, src: Tensor, tgt: Tensor) -> list[Any]:
    """A small model through the student's hands: what comes back, its logits at each
    call, and at the end."""
    losses = function(model, src, tgt.clone())
    return [losses, list(model.seen), model(src, tgt[:, :-1])]
