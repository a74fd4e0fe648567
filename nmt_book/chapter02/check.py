"""The exercises of chapter 02, positional encoding."""

import math

import torch

from ..exercise.exercise import exercise


def _angles(n, d):
    return torch.arange(n)[:, None] * 10000 ** (-torch.arange(0, d, 2) / d)  # (n, D/2)


def _by_column(factor):
    def my_table(n_positions, d_model):
        j = torch.arange(d_model)
        angle = torch.arange(n_positions)[:, None] / 10000 ** (factor * j / d_model)
        return torch.where(j % 2 == 0, angle.sin(), angle.cos())

    return my_table


TABLE = "return table"
EVEN = "torch.arange(0, d_model, 2)"
RATE = f"10000 ** (-{EVEN} / d_model)"


@exercise(
    "The table of sines and cosines: a row for each position.",
    cases={
        "3 positions, 4 columns": (3, 4),
        "6 positions, 8 columns": (6, 8),
        "a single position": (1, 6),
        "12 positions, 16 columns": (12, 16),
        "60 positions": (60, 16),
    },
    mistakes={
        "sine and cosine alternate: sin, cos, sin, cos …": [
            f"{TABLE} → return torch.cat([table[:, 0::2], table[:, 1::2]], 1)",
            f"{TABLE} → return torch.cat([table[:, 1::2], table[:, 0::2]], 1)",
        ],
        "the even columns are sines, the odd ones cosines": (
            f"{TABLE} → return table.view(n_positions, -1, 2).flip(-1).flatten(1)"
        ),
        "the exponent is twice too large: it is 2i/d_model, with i = 0, 1, 2 …": (
            f"{EVEN} → 2 * {EVEN}"
        ),
        "i is not the column: it counts the pairs, so columns 2i and 2i + 1 share it": (
            _by_column(2)
        ),
        "the exponent is too small: it has 2i, not i": (
            f"{EVEN} → torch.arange(d_model // 2)"
        ),
        "divide 2i by d_model: your last exponent is 1 (as in tensor2tensor)": (
            f"{EVEN} / d_model → torch.arange(d_model // 2) / (d_model // 2 - 1)"
        ),
        "a sine and the cosine beside it share one exponent, that of the even column": (
            _by_column(1)
        ),
        "divide the position by 10000^(2i/d_model); you have multiplied": [
            "-torch → torch",
            f"{RATE} → torch.exp({EVEN} * (math.log(10000.0) / d_model))",
        ],
        "the exponent is a fraction: divide it with /, not with //": [
            "/ d_model → // d_model",
            f"-{EVEN} / d_model → -({EVEN} // d_model)",
        ],
        "10000 is the base": [f"10000 → {base}" for base in ("1000", "100000")],
        "divide by a power of 10000, not by a multiple": (
            f"{RATE} → 1 / (10000 * {EVEN} / d_model).clamp(min=1)"
        ),
        "the rates depend on d_model; these are right for a table of the page": [
            f"{RATE} → 0.01 ** torch.arange(d_model // 2)",
            f"{RATE} → 10.0 ** -torch.arange(d_model // 2)",
        ],
        "a rate is an angle already: leave 2π out": "rate = → rate = 2 * math.pi *",
        "positions count from 0": "n_positions)[ → 1, n_positions + 1)[",
        "the cosines are missing": ".cos() → .cos() * 0",
        "both go into the even columns: the cosines belong in 1::2": ("1::2] → 0::2]"),
        "(n, D) is asked for, without an axis in front": (
            f"{TABLE} → return table[None]"
        ),
        "the sines are missing": ".sin() → .sin() * 0",
        "the odd columns are cosines, yours are sines": ".cos() → .sin()",
        "the even columns are sines, yours are cosines": ".sin() → .cos()",
        "these are the angles: sine and cosine are missing": [
            "_angles(n_positions, d_model).repeat_interleave(2, 1)",
            _angles,
        ],
        "the sines alone are half of the columns": (
            "_angles(n_positions, d_model).sin()"
        ),
        "rows are positions, columns are numbers: transpose it": (
            f"{TABLE} → return table.T"
        ),
    },
    hints=(
        "A column of positions times a row of rates gives a table of angles. What are "
        "the shapes?",
        "`torch.arange(n_positions)[:, None]` is a column, (n, 1); the rates are "
        "`10000 ** (-torch.arange(0, d_model, 2) / d_model)`, (D/2,).",
    ),
    says="each row is one reading of the clock",
    difficulty=2,
    importance=3,
    minutes=8,
    part="table",
)
def my_table(n_positions, d_model):
    position = torch.arange(n_positions)[:, None]  # (n, 1)
    rate = 10000 ** (-torch.arange(0, d_model, 2) / d_model)  # (D/2,)
    table = torch.zeros(n_positions, d_model)  # (n, D)
    table[:, 0::2] = (position * rate).sin()  # (n, 1) times (D/2,) gives (n, D/2)
    table[:, 1::2] = (position * rate).cos()
    return table


LAST = "return torch.tensor([[math.cos(b), math.sin(b)], [-math.sin(b), math.cos(b)]])"
OTHER = f"{LAST} → c, s = math.cos(b), math.sin(b); return torch.tensor"


@exercise(
    "The matrix that turns a hand by k positions.",
    cases={
        "k = 3, rate 0.1": (3, 0.1),
        "k = 2, rate 1": (2, 1.0),
        "k = 25, rate 0.01": (25, 0.01),
        "back, k = −2": (-2, 0.3),
        "k = 0": (0, 0.1),
    },
    mistakes={
        "this turns back by k, or a reading (cosine, sine): the minus is before the "
        "other sine": "k * rate → -k * rate",
        "the angle is k times the rate, not k": "k * rate → k",
        "the angle is k times the rate, not k divided by it": "k * rate → k / rate",
        "the angle is k times the rate, not their sum": "k * rate → k + rate",
        "the angle is k times the rate, not the rate": "k * rate → rate",
        "the rate is an angle already: leave 2π out": "k * rate → k * rate * math.tau",
        "math.cos and torch.cos take radians": [
            "k * rate → math.radians(k * rate)",
            "k * rate → math.degrees(k * rate)",
        ],
        "the minus is missing": "[-math → [math",
        "one sine has a minus, not both": "[[math.cos(b), → [[math.cos(b), -1 *",
        "the minus belongs to a sine, not to a cosine": f"{OTHER}([[c, s], [s, -c]])",
        "the second row is −sin b, cos b: yours are exchanged": (
            f"{OTHER}([[c, s], [c, -s]])"
        ),
        "sine and cosine are exchanged: cos b is on the diagonal": [
            f"{OTHER}([[s, c], [-c, s]])",
            f"{OTHER}([[s, -c], [c, s]])",
            f"{OTHER}([[s, c], [c, s]])",
        ],
        "the rows are swapped: the first one gives the sine": (
            f"{OTHER}([[-s, c], [c, s]])"
        ),
        "the columns are swapped: the first number of a row meets the sine": (
            f"{OTHER}([[s, c], [c, -s]])"
        ),
        "return a matrix, two rows of two": f"{OTHER}([c, s, -s, c])",
        "a matrix is asked for; this is the reading of the hand at k": [
            f"{OTHER}([s, c])",
            f"{OTHER}([c, s])",
        ],
    },
    hints=(
        "With b for the angle of k positions, both formulas are sums of a number times "
        "sin a and a number times cos a. Which four numbers?",
        "b is `k * rate`. The first row makes the new sine: it is `[math.cos(b), "
        "math.sin(b)]`.",
    ),
    says="one matrix for every position",
    difficulty=2,
    importance=2,
    minutes=6,
    part="turn",
)
def my_turn(k, rate):
    b = k * rate
    return torch.tensor([[math.cos(b), math.sin(b)], [-math.sin(b), math.cos(b)]])


def _batch(seed, V, D, n, B, T):
    draw = torch.Generator().manual_seed(seed)
    ids = torch.randint(V, (B, T), generator=draw)
    return ids, *(torch.randn(rows, D, generator=draw) for rows in (V, n))


WORD = "math.sqrt(E.size(1)) * E[ids]"
ROWS = "P[: ids.size(1)]"


@exercise(
    "Word and position, added, for a batch of ids.",
    cases={
        "D = 4, one sentence of two tokens": (
            torch.tensor([[2, 0]]),
            torch.tensor([[1.0, 0, 2, 0], [0, 1, 0, 3], [2, 1, 1, 0]]),
            torch.tensor([[0, 1, 0, 1], [0.8, 0.5, 0, 1], [0.9, -0.4, 0, 1]]),
        ),
        "D = 16, two sentences of three tokens": _batch(1, 7, 16, 8, 2, 3),
        "D = 6, one sentence": _batch(2, 5, 6, 9, 1, 4),
        "D = 32, three sentences of one token": _batch(3, 8, 32, 10, 3, 1),
    },
    mistakes={
        "the factor √D is missing": f"{WORD} → E[ids]",
        "multiply by √D, not by D": "math.sqrt(E.size(1)) → E.size(1)",
        "multiply by √D; √(D/2) is the length of a position": (
            "E.size(1)) → E.size(1) / 2)"
        ),
        "multiply by √D; do not divide": f"{WORD} → E[ids] / math.sqrt(E.size(1))",
        "D is the last axis of E; V is the first": "E.size(1) → E.size(0)",
        "D is the width of E; this is the length of the sentences": (
            "E.size(1) → ids.size(1)"
        ),
        "only the word is multiplied by √D, not the position": (
            f"{ROWS} → math.sqrt(E.size(1)) * {ROWS}"
        ),
        "the factor goes to the word, not to the position": (
            f"{WORD} + {ROWS} → E[ids] + math.sqrt(E.size(1)) * {ROWS}"
        ),
        "P is for positions in the sentence, not for ids: take its first T rows": (
            f"{ROWS} → P[ids]"
        ),
        "this is a width of the page; E may have another: take D from its shape": [
            f"E.size(1) → {width}" for width in ("8", "64", "512")
        ],
        "add the rows of P, which may be any table": (
            f"{ROWS} → my_table.right(ids.size(1), E.size(1))"
        ),
        "the first T rows of P belong to the T tokens, not the last": (
            f"{ROWS} → P[-ids.size(1) :]"
        ),
        "<pad> gets its row and position like any token; masks (chapter 03) hide it": (
            f"({WORD} + {ROWS}) * (ids != 0)[..., None]"
        ),
        "P has more rows than a sentence has tokens: take the first T": f"{ROWS} → P",
        "T is ids.size(1); this takes as many rows as there are sentences": [
            f"{ROWS} → P[: ids.size(0)]",
            f"{ROWS} → P[: len(ids)]",
        ],
        "each token has its own position: this adds one row to all of them": [
            f"{ROWS} → P[0]",
            f"{ROWS} → P[ids.size(1)]",
        ],
        "the positions are missing": f"+ {ROWS} →",
        "the words are missing": f"{WORD} → 0 * E[ids]",
        "positions count from 0": f"{ROWS} → P[1 : ids.size(1) + 1]",
        "add the two, don't multiply them": "+ P → * P",
        "add the two: side by side they are twice as wide": (
            f"torch.cat([{WORD}, {ROWS}.expand(len(ids), -1, -1)], -1)"
        ),
    },
    hints=(
        "Which of the two terms gets the factor? And which rows of P belong to a "
        "sentence of T tokens?",
        "`E[ids]` has the shape (B, T, D), `P[: ids.size(1)]` has (T, D); adding "
        "broadcasts.",
    ),
    says="word and position, added",
    difficulty=1,
    importance=3,
    minutes=4,
    part="embed",
)
def my_embed(ids, E, P):
    return math.sqrt(E.size(1)) * E[ids] + P[: ids.size(1)]
