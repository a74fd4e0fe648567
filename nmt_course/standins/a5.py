"""A5: a toy whose training is watched, and a small model that learns at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from ..check.kit import beside_answer, slopes_of

Batch = tuple[Tensor, Tensor, Tensor]  # src (B, S), tgt_in (B, T), tgt_out (B, T)
SOS, EOS = 2, 3


def batch(lengths: Sequence[int], pad: int, seed: int) -> Batch:
    """A batch whose sentences have so many tokens in ``tgt_out``; one more place where
    all are equally long."""
    draw = torch.Generator().manual_seed(seed)
    shape = (
        len(lengths),
        max(lengths) + (len(lengths) > 1 and min(lengths) == max(lengths)),
    )
    src, read, said = (torch.randint(20, 30, shape, generator=draw) for _ in range(3))
    empty = torch.arange(shape[1]) >= torch.tensor(lengths)[:, None]
    return src, read.masked_fill(empty, pad), said.masked_fill(empty, pad)


def sentences(lengths: Sequence[int], pad: int, seed: int) -> tuple[Tensor, Tensor]:
    """src ``(B, S)`` and tgt ``(B, L)`` with <sos> and <eos>, filled up with <pad>."""
    draw = torch.Generator().manual_seed(seed)
    rows = [
        [SOS, *torch.randint(20, pad + 30, (n,), generator=draw).tolist(), EOS]
        for n in lengths
    ]
    width = max(map(len, rows))
    tgt = torch.tensor([row + [pad] * (width - len(row)) for row in rows])
    return torch.randint(20, pad + 30, (len(rows), 5), generator=draw), tgt


class Toy(nn.Module):
    """Not a language model: what counts here is how it is trained. In training mode it
    gives something else, and so it does, if it is strict, where what a gradient needs
    is kept."""

    def __init__(self, strict: bool = False) -> None:
        super().__init__()
        self.strict = strict
        self.table, self.factor = (
            nn.Parameter(torch.zeros(30)),
            nn.Parameter(torch.ones(())),
        )

    def forward(self, src: Tensor, tgt_in: Tensor) -> Tensor:
        found = self.table[tgt_in] * self.factor + 0.3 * self.table[src]  # (B, T)
        found = 1.25 * found if self.strict and found.requires_grad else found
        return 1.5 * found if self.training else found


def toy_loss(model: nn.Module, batch: Batch, pad: int) -> Tensor:
    """The sum over all tokens that are no padding."""
    src, tgt_in, tgt_out = batch
    away = model(src, tgt_in) - 0.1 * (tgt_out - 25)
    return 0.05 * (away**2)[tgt_out != pad].sum()


def toy_weights(size: float, seed: int = 0) -> dict[str, Tensor]:
    """The parameters of a toy."""
    draw = torch.Generator().manual_seed(seed)
    return {
        "table": 0.3 * size * torch.randn(30, generator=draw),
        "factor": torch.tensor(1.2),
    }


def toy(weights: dict[str, Tensor], training: bool, strict: bool = False) -> Toy:
    """A toy with these parameters."""
    model = Toy(strict).train(training)
    model.load_state_dict(weights)
    return model


@beside_answer
def watch(
    function: Any,
    weights: dict[str, Tensor],
    groups: list[list[Batch]],
    pad: int,
    rate: float,
    training: bool = True,
) -> list[dict[str, Any]]:
    """Updates of a toy with plain gradient descent: each step's gradient, what comes
    back, and the weights after it."""
    model = toy(weights, training)
    optimizer, rows = _Watched(model.parameters(), rate), []
    for batches in groups:
        losses = [toy_loss(model.train(), b, pad) for b in batches]
        sums = [
            _flat(torch.autograd.grad(loss, list(model.parameters())))
            for loss in losses
        ]
        model.train(training)
        loss_of, modes, _ = _spy(pad)
        optimizer.seen = []
        value = function(model, optimizer, batches, loss_of)
        after = {name: p.detach().clone() for name, p in model.named_parameters()}
        rows.append(
            {
                "value": value,
                "steps": optimizer.seen,
                "modes": modes,
                "after": after,
                "sums": sums,
                "sum": torch.stack(sums).sum(0),
                "loss": sum(loss.item() for loss in losses),
            }
        )
    return rows


@beside_answer
def observe(
    function: Any,
    weights: dict[str, Tensor],
    batches: list[Batch],
    pad: int,
    training: bool,
    strict: bool = False,
) -> dict[str, Any]:
    """A validation of a toy: what comes back, in which mode losses were computed, which
    mode is left, what the toy gives then, and whether gradients can be computed
    again."""
    model = toy(weights, training, strict)
    loss_of, modes, gradients = _spy(pad)
    value = function(model, batches, loss_of)
    after, model.strict = model.training, False
    out = model(*batches[0][:2])
    torch.set_grad_enabled(True)
    sums = [toy_loss(model.eval(), b, pad).item() for b in batches]
    return {
        "value": value,
        "modes": modes,
        "gradients": gradients,
        "after": after,
        "sums": sums,
        "out": out,
        "slopes": out.requires_grad,
    }


class Small(nn.Module):
    """A small model that learns in the blink of an eye: it sees the mean of the source,
    one word, and its position. It notes its logits."""

    def __init__(self, vocabulary: int, width: int = 24) -> None:
        super().__init__()
        self.source, self.target, self.position = (
            nn.Embedding(n, width) for n in (vocabulary, vocabulary, 40)
        )
        self.output, self.seen = nn.Linear(width, vocabulary), list[Tensor]()

    def forward(self, src: Tensor, tgt_in: Tensor) -> Tensor:
        """src ``(B, S)``, tgt_in ``(B, T)`` → logits ``(B, T, V)``"""
        x = self.source(src).mean(1, keepdim=True) + self.target(tgt_in)
        x = x + self.position.weight[: tgt_in.size(1)]
        logits = self.output(x.tanh())
        self.seen.append(logits.detach().clone())
        return logits  # type: ignore[no-any-return]


def small_model(vocabulary: int, seed: int) -> Small:
    """A model with fresh weights; other random numbers stay as they were."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return Small(vocabulary)


@beside_answer
def trained(function: Any, src: Tensor, tgt: Tensor, pad: int, seed: int) -> list[Any]:
    """A fresh small model through the student's hands: what comes back, the weights,
    and the mean loss of a token at each call."""
    model = small_model(pad + 30, seed)
    losses = function(model, src, tgt.clone())
    true, words = [], tgt[:, 1:]
    for logits in model.seen:
        if logits.shape[:2] == words.shape:
            found = logits.log_softmax(-1).gather(-1, words[..., None])[..., 0]
            true.append(-found[words != pad].mean().item())
    weights = {name: p.detach().clone() for name, p in model.named_parameters()}
    return [losses, weights, true]


@beside_answer
def slope(function: Any, logits: Tensor, tgt_out: Tensor) -> Tensor:
    """The gradient of a loss with respect to the scores; zeros where there is none."""
    leaf = logits.clone().requires_grad_()
    return slopes_of(function(leaf, tgt_out), {"logits": leaf}, torch.ones(()))[
        "logits"
    ]


class _Watched(torch.optim.SGD):
    """Plain gradient descent that keeps the gradient of each step."""

    seen: list[Tensor]

    def step(self, closure: Any = None) -> Any:  # type: ignore[override]
        parameters = [p for options in self.param_groups for p in options["params"]]
        self.seen.append(
            _flat(
                [torch.zeros_like(p) if p.grad is None else p.grad for p in parameters]
            )
        )
        return super().step(closure)


def _spy(
    pad: int,
) -> tuple[Callable[[nn.Module, Batch], Tensor], list[bool], list[bool]]:
    """A ``loss_of`` that notes the mode of the model, and whether a gradient could be
    computed."""
    modes: list[bool] = []
    gradients: list[bool] = []

    def loss_of(model: nn.Module, batch: Batch) -> Tensor:
        loss = toy_loss(model, batch, pad)
        modes.append(model.training)
        gradients.append(loss.requires_grad)
        return loss

    return loss_of, modes, gradients


def _flat(tensors: Sequence[Tensor]) -> Tensor:
    return torch.cat([t.detach().flatten() for t in tensors])
