"""The exercises of chapter 11, five write-ups."""

import torch
from torch import nn

import nmt_lib as nmt

from ..exercise.exercise import exercise
from .lab import doubled


def _dented():
    table = nmt.sinusoids(30, 16)
    table[7, 2:6] *= 0.99  # one position: two pairs below the circle …
    table[7, -2:] *= 1.01  # … and the last one above it
    table[0, 8:10] *= 0.99
    table[:, 12:14] *= 0.9  # off by as much at each position
    return table


def _halves(table):
    first, second = table.chunk(2, dim=1)
    return int(((first**2 + second**2 - 1).abs() > 0.001).any(0).sum())


@exercise(
    "The pairs of columns that leave the circle.",
    cases={
        "two pairs, one of them broken": (
            torch.tensor([[0, 1, 0, 1], [0.6, 0.8, 1, 0.5], [0.8, 0.6, 0, 1]]),
        ),
        "dented: at position 7 three pairs, at 0 one more, one everywhere": (
            _dented(),
        ),
        "a single pair, as in the paper": (nmt.sinusoids(30, 2),),
        "A's table of width 16": (doubled(30, 16),),
        "A's table of width 32, 40 positions": (doubled(40, 32),),
    },
    mistakes={
        "this counts cells: a pair counts once, however many positions are off": (
            ".any(dim=0) →"
        ),
        "this counts positions: count the pairs": "dim=0 → dim=1",
        "one position is enough; it need not be all": "any → all",
        "one position is enough: a mean hides it": (
            "(length - → (length.mean(0)[None] -"
        ),
        "one position is enough: this is the last one alone": "(length → (length[-1:]",
        "below 1 is off the circle as well: take the absolute difference": ".abs() →",
        "column 1 belongs to column 0, not to the first of the second half": _halves,
        "these are the pairs on the circle": ("> 0.001).any( → <= 0.001).all("),
        "square both numbers: sin² + cos²": "** 2 →",
        "computers round: only a difference above 0.001 counts": "> 0.001 → > 0",
        "count them: this only says whether there is one": "int( → bool(",
        "count them: this tells whether each pair is broken": (
            "int( → (",
            ".sum() →",
        ),
        "count them, do not divide by the number of pairs": (
            ".sum()) → .sum()) / length.size(1)"
        ),
        "count pairs: each of them has two columns": "int( → 2 * int(",
        "columns 1 and 2 are no pair: go in steps of two": (
            "table[:, 0::2] ** 2 + table[:, 1::2] → table[:, :-1] ** 2 + table[:, 1:]"
        ),
    },
    hints=(
        "sin² + cos² of each pair at each position is a table of half the width. Where "
        "is it not 1, and in which columns does that happen at all?",
        "`table[:, 0::2]` are the sines, `table[:, 1::2]` the cosines; `.any(dim=0)` "
        "asks for each column whether it happens at any position.",
    ),
    says="it finds the defect without the formula",
    difficulty=2,
    importance=2,
    minutes=6,
)
def broken_pairs(table):
    length = table[:, 0::2] ** 2 + table[:, 1::2] ** 2  # (n, D / 2)
    return int(((length - 1).abs() > 0.001).any(dim=0).sum())


KEPT = torch.tensor([[True, False, True], [True, False, False], [True, True, False]])
SCORES = torch.tensor([[1.0, 3, 2], [0, 2, 1], [-16, -14, 5]])
NOTHING = (
    torch.tensor([[-40.0, -30, -50, -24], [2, 1, 3, 0]]),
    torch.tensor([[False] * 4, [True, True, False, False]]),
)
LOW = torch.tensor([[-60_000.0, -59_936, 5, 0, -60_000]])  # (1, 5)
LOW_KEPT = torch.tensor([[True, True, False, False, False]])


class OtherFormat(TypeError):
    """Scores became numbers of another format."""


def _weights(answer, scores, mask):
    """Softmax of what an answer fills; where all is hidden only nan counts."""
    filled = answer(scores, mask)
    if not isinstance(filled, torch.Tensor) or filled.shape != scores.shape:
        return filled
    if filled.dtype != scores.dtype:
        raise OtherFormat(f"the scores are {scores.dtype}, the result {filled.dtype}")
    weights = filled.softmax(-1)
    return torch.where(mask.any(-1, keepdim=True), weights, 0 * weights)


def _fill(number):
    return lambda scores, mask: scores.masked_fill(~mask, number)


def _added(number):
    """In the format of the scores: a number alone would make it float32."""
    return lambda s, mask: s + torch.zeros_like(s).masked_fill(~mask, number)


def _converted(number):
    return lambda s, mask: s.float().masked_fill(~mask, number).to(s.dtype)


@exercise(
    "Scores filled so that the hidden ones get 0 from softmax.",
    cases={
        "float32": (SCORES, KEPT),
        "bfloat16": (SCORES.bfloat16(), KEPT),
        "float16": (SCORES.half(), KEPT),
        "visible scores near −60,000": (LOW, LOW_KEPT),
        "visible scores near −60,000, in float16": (LOW.half(), LOW_KEPT),
        "visible scores near −1,000,000, in bfloat16": (
            torch.tensor([[-1e6, 2 - 1e6, 5, 0, -1e6]]).bfloat16(),
            LOW_KEPT,
        ),
        "one row of the mask for three rows of scores": (SCORES, KEPT[:1]),
        "a row in which everything is hidden": NOTHING,
        "such a row in float16": (NOTHING[0].half(), NOTHING[1]),
    },
    mistakes={
        "a row of −∞ becomes NaN: fill in a finite number": _fill(-torch.inf),
        "this number does not fit into float16, whose lowest is −65,504": [
            *map(_fill, (-1e9, -1e6))
        ],
        "each format has its own lowest number: torch.finfo(scores.dtype).min": _fill(
            torch.finfo(torch.float32).min
        ),
        "in float16 this number becomes −∞, and a row of nothing else NaN; the lowest "
        "number does, too, if it is added": [
            *map(_converted, (-1e9, -1e6)),
        ],
        "the result has a different format from the scores: keep theirs": [
            "scores.float().masked_fill(~mask, torch.finfo(torch.float32).min)",
            lambda s, mask: s - 1e4 * ~mask,
        ],
        "NaN in a score spreads over its row, and 0 · ∞ is NaN, too": [
            "scores + ~mask * -torch.inf",
            _fill(torch.nan),
        ],
        "True in the mask means: may be seen": "~mask → mask",
        "a score of 0 is not hidden: softmax turns it into exp(0) = 1": _fill(0.0),
        "the largest number wins the softmax: fill in the lowest": ".min → .max",
        "nothing is hidden: `masked_fill` gives a new tensor, return that one": (
            "scores"
        ),
        "these are weights already: softmax comes after `hide`": [
            ".min) → .min).softmax(-1)",
            "scores.softmax(-1) * mask",
            "scores.masked_fill(~mask, -torch.inf).softmax(-1)",
        ],
        "your number is not low enough: a visible score may be lower still": [
            *map(_fill, (-1.0, -5.0, -10.0, -20.0, -50.0)),
            _fill(-65504.0),
            "scores.masked_fill(~mask, scores.min())",
            *map(_added, (-1e2, -1e3, -1e4)),
        ],
    },
    hints=(
        "Which number is the lowest that each format can hold? It need not be the same "
        "in all three.",
        "`torch.finfo(scores.dtype).min` is finite; `scores.masked_fill(where, "
        "number)` fills where `where` is True.",
    ),
    says="softmax gives 0 in all three formats, and no NaN",
    difficulty=2,
    importance=3,
    minutes=5,
    part="hide",
    call=_weights,
)
def hide(scores, mask):
    return scores.masked_fill(~mask, torch.finfo(scores.dtype).min)


def _stack(*rates):
    return nn.Sequential(*map(nn.Dropout, rates))


def _layer_of_d(dropout=0.1):
    """The dropouts of D's EncoderLayer: attention and feed-forward keep their own."""
    return nn.Sequential(_stack(0.1), _stack(0.1), nn.Dropout(dropout))


D_LAYER = _layer_of_d(0.3)


def _rates(model, find=nn.Module.modules):
    return [part.p for part in find(model) if isinstance(part, nn.Dropout)]


def _named(model, rate):
    """The rates of the parts that are called dropout."""
    parts = model.named_modules()
    return {getattr(m, "p", None) for name, m in parts if "dropout" in name} == {rate}


def _asked(answer, model, rate):
    """An empty list is as good as False; the rate is an object of its own."""
    answered = answer(model, rate * 1.0)
    return False if isinstance(answered, list) and not answered else answered


@exercise(
    "Whether every nn.Dropout has the rate that was asked for.",
    cases={
        "a layer of PyTorch with 0.3": (nn.TransformerEncoderLayer(4, 2, 8, 0.3), 0.3),
        "D's layer: asked for 0.3, its parts have 0.1": (D_LAYER, 0.3),
        "0.3 outside, 0.1 in the parts of its parts": (
            nn.Sequential(nn.Dropout(0.3), D_LAYER, nn.Dropout(0.3)),
            0.3,
        ),
        "0.1 everywhere, asked for 0.3": (_stack(0.1, 0.1), 0.3),
        "no nn.Dropout at all": (nn.Linear(2, 2), 0.3),
        "0.75, 0.5 and 0.25": (_stack(0.75, 0.5, 0.25), 0.5),
        "0.3, then 0.5": (_stack(0.3, 0.5), 0.3),
        "0.5, then 0.3": (_stack(0.5, 0.3), 0.3),
        "0.1, then 0.3": (_stack(0.1, 0.3), 0.3),
        "0.12, asked for 0.1": (_stack(0.12), 0.1),
        "D's layer, asked for 0.1": (_layer_of_d(), 0.1),
        "a rate of 0": (_stack(0.0), 0.0),
        "a layer of PyTorch with 0.1": (nn.TransformerEncoderLayer(4, 2, 8, 0.1), 0.1),
        "beside a loss that has a p, too": (
            nn.Sequential(_stack(0.3, 0.3), nn.TripletMarginLoss(p=2)),
            0.3,
        ),
    },
    mistakes={
        "all([]) is True, but a model without any nn.Dropout should fail": (
            "all((p == rate for p in _rates(model)))"
        ),
        "one right rate is not enough: every nn.Dropout must have it": (
            "rate in _rates(model)"
        ),
        "look into the parts of the parts: .modules(), not .children()": (
            "modules → children"
        ),
        "look into the parts of the parts, and all([]) is True": (
            "all((p == rate for p in _rates(model, nn.Module.children)))"
        ),
        "it says True where it should say False": "== → !=",
        "these are the rates: compare them with {rate}": " == {rate} →",
        "other parts may have a p: ask for nn.Dropout with isinstance": (
            "isinstance(m, nn.Dropout) → hasattr(m, 'p')"
        ),
        "a part may have any name: ask each one with isinstance": _named,
        "the rate is an argument, not always 0.3": "{rate} → {0.3}",
        "they have one rate: is it the one that was asked for?": (
            "len(set(_rates(model))) == 1"
        ),
        "a higher rate is wrong, too": "min(_rates(model), default=-1) >= rate",
        "every one of them: this looks at the first one only": [
            "_rates(model)[:1] == [rate]",
            "next((p == rate for p in _rates(model)), None)",
        ],
        "every one of them: this looks at the last one only": (
            "_rates(model)[-1:] == [rate]"
        ),
        "their mean hides that they differ: compare each": (
            "sum(_rates(model) or [-1]) == rate * len(_rates(model))"
        ),
        "it says True for every model with dropout: compare the rates": (
            "bool(_rates(model))"
        ),
        "it says False for every model: ask each part with isinstance, and compare its "
        ".p with the rate": "False",
    },
    hints=(
        "Collect the rates of all parts that are an nn.Dropout. What must be true of "
        "them, and what if there are none?",
        "`[m.p for m in model.modules() if isinstance(m, nn.Dropout)]`",
    ),
    says="this test would have caught D's dropout",
    difficulty=1,
    importance=2,
    minutes=5,
    call=_asked,
)
def has_dropout(model, rate):
    return {m.p for m in model.modules() if isinstance(m, nn.Dropout)} == {rate}
