"""The loop of the chapters' experiments; what a real run needs in addition is in
``nmt_lib/training/trainer.py``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from nmt_lib.data.batches import Batch
from nmt_lib.training.loss import cross_entropy

Loss = Callable[[Batch], Tensor]


def updates(
    optimizer: Optimizer,
    loss_of: Callable[[Any], Tensor],
    batches: Iterable[Any],
    rate: Callable[[int], float] | None = None,
    clip_norm: float | None = None,
) -> Iterator[Tensor]:
    """One update of the weights for each batch, and its loss, when it is asked for.

    ``rate`` gives the learning rate of an update; the first is 1.
    """
    for step, batch in enumerate(batches, start=1):
        loss = loss_of(batch)
        loss.backward()
        for options in optimizer.param_groups:
            options["lr"] = rate(step) if rate else options["lr"]
            if clip_norm is not None:
                nn.utils.clip_grad_norm_(options["params"], clip_norm)
        optimizer.step()
        optimizer.zero_grad()
        yield loss.detach()


class OwnUpdate(Optimizer):
    """An optimizer that moves each weight as a function says, such as a reader's Adam.

    Args:
        weights: the weights of a model.
        update: ``update(theta, g, m, v, step, rate)`` gives the next theta, m and v.
        lr: the learning rate.
    """

    def __init__(
        self, weights: Iterable[Tensor], update: Callable[..., Any], lr: float = 1e-3
    ) -> None:
        super().__init__(weights, {"lr": lr})
        self.update, self.n_steps = update, 0

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        self.n_steps += 1
        for options in self.param_groups:
            for weight in options["params"]:
                if weight.grad is None:
                    continue
                old = (weight, weight.grad, *self.state[weight].get("means", ()))
                old += (torch.zeros_like(weight),) * (4 - len(old))
                given = (tensor.detach().clone() for tensor in old)
                theta, *means = self.update(*given, self.n_steps, options["lr"])
                weight.copy_(theta)
                self.state[weight]["means"] = means


def per_token(total: Loss) -> Loss:
    """The mean over the target tokens of a batch, from the sum."""
    return lambda batch: total(batch) / batch.n_tokens


def mean_loss(model: nn.Module, batch: Batch, smoothing: float = 0.0) -> Tensor:
    """The mean over the target tokens of a batch, from all logits."""
    logits = model(batch.src, batch.tgt_in)  # (B, T, V)
    return cross_entropy(logits, batch.tgt_out, smoothing)
