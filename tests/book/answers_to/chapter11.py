"""Other answers to the exercises of chapter 11."""

import numpy
import torch
from torch import nn


def in_numpy(table):
    pairs = table.numpy().reshape(len(table), -1, 2)
    off = numpy.abs((pairs**2).sum(-1) - 1) > 0.001
    return numpy.count_nonzero(off.any(axis=0))


def by_where(scores, mask):
    return torch.where(mask, scores, torch.finfo(scores.dtype).min)


def rates(model):
    return [m.p for _, m in model.named_modules() if isinstance(m, nn.Dropout)]


def step_by_step(model, rate):
    found = False
    for part in model.modules():
        if type(part) is nn.Dropout:
            found = True
            if abs(part.p - rate) > 1e-9:
                return False
    return found


RIGHT = {
    "broken_pairs": [
        in_numpy,
    ],
    "hide": [
        by_where,
        lambda scores, mask: scores.masked_fill(~mask, -torch.inf).nan_to_num(),
    ],
    "has_dropout": [
        step_by_step,
        lambda model, rate: 0 < len(rates(model)) == rates(model).count(rate),
    ],
}
WRONG = {
    "hide": [
        lambda scores, mask: torch.where(mask, scores, scores.amin(-1, True) - 20),
        lambda scores, mask: scores.index_put((~mask,), by_where(scores, mask).min()),
        lambda scores, mask: scores.masked_fill(~mask, -torch.inf * mask.any()),
    ],
    "has_dropout": [
        lambda model, rate: len(rates(model)) > 1 and {*rates(model)} == {rate},
        lambda model, rate: {round(p, 1) for p in rates(model)} == {round(rate, 1)},
        lambda model, rate: [p == rate for p in rates(model)],
    ],
}
