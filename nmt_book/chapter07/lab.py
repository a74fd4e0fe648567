"""Chapter 07: why a run is stuck, sentences memorised, and a translator by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import cycle, islice
from typing import Any

import torch
from torch import Tensor

import nmt_lib as nmt
from nmt_lib.training.run_folder import runs_folder

from ..exercise.exercise import Exercise
from ..loop import mean_loss, updates


def of_frequencies(batches: Sequence[nmt.Batch]) -> float:
    """The loss of a model that knows only how frequent each word of batches is."""
    right = torch.cat([batch.tgt_out[batch.tgt_out != nmt.PAD] for batch in batches])
    share = right.bincount()[right.unique()] / len(right)  # of each word that occurs
    return -(share * share.log()).sum().item()


def overfit(
    model: nmt.Transformer,
    known: Sequence[nmt.Batch],
    unseen: nmt.Batch,
    smoothing: float,
    n_updates: int = 150,
) -> Iterable[list[float]]:
    """Losses on known and on unseen sentences, after every five updates."""
    optimizer = torch.optim.Adam(model.parameters(), 3e-3, (0.9, 0.98), 1e-9)
    loss_of = partial(mean_loss, model, smoothing=smoothing)
    batches = islice(cycle(known), n_updates)
    losses = [
        (loss.item(), nmt.validation_loss(model, [unseen]))
        for step, loss in enumerate(updates(optimizer, loss_of, batches), start=1)
        if step % 5 == 0
    ]
    return map(list, zip(*losses, strict=True))


def note_differences(encoder: torch.nn.Module) -> list[float]:
    """A list that gets longer with each pass: what differs between the words.

    That is the share of chapter 05, over all positions of the batch: 0 if the encoder
    gives the same vector for each.
    """
    shares: list[float] = []

    def note(_module: torch.nn.Module, _given: Any, memory: Tensor) -> None:
        x = memory.detach()  # (B, S, D)
        shares.append(((x - x.mean((0, 1))).norm() / x.norm()).item())

    encoder.register_forward_hook(note)
    return shares


Step = Callable[[Tensor], Tensor]  # Adam's step of one matrix → the step that is taken


def as_it_is(step: Tensor) -> Tensor:
    return step


def shuffled(step: Tensor) -> Tensor:
    """The same numbers, dealt out at random among the weights of the matrix."""
    return step.flatten()[torch.randperm(step.numel())].view_as(step)


def spread(step: Tensor) -> Tensor:
    """The step without a favourite direction: its singular values made equal."""
    U, _, V = torch.linalg.svd(step, full_matrices=False)
    return U @ V * (step.norm() / (U @ V).norm())


def along_one_direction(step: Tensor) -> float:
    """The fraction of a step, as a sum of squares, in its strongest direction."""
    return float((torch.linalg.matrix_norm(step, 2) / step.norm()) ** 2)


def first_steps(
    model: nmt.Transformer, batches: Sequence[nmt.Batch], lr: float, change: Step
) -> tuple[list[float], list[float]]:
    """Updates of Adam, each of whose steps is changed in the matrices of the layers.

    Returns:
        What differs between the words in the decoder before each update (that is
        ``note_differences``), and ``along_one_direction`` of the first step, the mean
        of all matrices.
    """
    differs, shares = note_differences(model.decoder), list[float]()
    stacks = [*model.encoder.parameters(), *model.decoder.parameters()]
    matrices = [weight for weight in stacks if weight.dim() == 2]
    optimizer = torch.optim.Adam(model.parameters(), lr, (0.9, 0.98), 1e-9)
    for batch in batches:
        before = [weight.detach().clone() for weight in matrices]
        next(updates(optimizer, partial(mean_loss, model), [batch]))
        with torch.no_grad():
            for weight, old in zip(matrices, before, strict=True):
                step = change(weight - old)
                weight.copy_(old + step)
                if len(differs) == 1:
                    shares.append(along_one_direction(step))
    return differs, [sum(shares) / len(shares)]


def keep(translator: nmt.Translator, *stubs: tuple[Exercise, Any]) -> None:
    """Saves a translator as the run ``by-hand``, for chapter 08.

    Args:
        translator: the trained one.
        stubs: exercises, each with the function that the training run has used.
    """
    own = [exercise.name for exercise, used in stubs if used is not exercise.right]
    if not own:
        return print("nothing in it was yours, so it is not kept")
    if (folder := runs_folder() / "by-hand").exists():
        return print(f"not kept, since {folder} is yours, too: move that away first")
    translator.save(folder)
    print(f"kept as by-hand, trained with your {', '.join(own)}")
