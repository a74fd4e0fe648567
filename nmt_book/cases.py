"""Cases and mistakes that exercises of several chapters share."""

from types import SimpleNamespace

import torch

import nmt_lib as nmt

from .exercise.exercise import record_steps
from .yours.parts import parts_of


def numbers(seed, *shapes):
    """Random numbers of one decimal."""
    draw = torch.Generator().manual_seed(seed)
    return [torch.randn(*s, generator=draw).round(decimals=1) + 0 for s in shapes]


def drawn(make, *arguments, seed=0, size=0.4):
    """A module whose weights are all random, norms and biases too."""
    module = make(*arguments).eval().requires_grad_(False)
    for i, weight in enumerate(module.parameters()):
        weight.copy_(size * numbers(1000 * seed + i, weight.shape)[0])
    return module


def parts(make, seed, D, H):
    """The parts of a small layer, as ``book.try_it`` gives them."""
    sizes = {"d_model": D, "n_heads": H, "d_ff": 2 * D, "dropout": 0.0}
    config = nmt.load_config("tiny").model.model_copy(update=sizes)
    by_name = vars(parts_of(drawn(make, config, seed=seed)))
    return SimpleNamespace(
        **{name: record_steps(name, part) for name, part in by_name.items()}
    )


def padding(S, *lengths):
    return torch.arange(S) < torch.tensor(lengths)[:, None, None, None]  # (B, 1, 1, S)


NO_NORM = "there is no norm"
NO_SUM = "the residual connections are missing"
PRE = "this is pre-LN: the norm comes after the sum"
INSIDE = "norm the sum, not only what is added"

ONE_ROUND = "only the first round is done: does `return` stand inside the loop?"
