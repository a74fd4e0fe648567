"""The exercises of chapter 04, attention."""

import math

import torch

import nmt_lib as nmt

from ..cases import numbers
from ..exercise.exercise import exercise, record_step, unfilled

UNDIVIDED = "divide the scores by √d_k"
BY_D_K = "divide by √d_k, not by d_k"
NO_MASK = "the mask is not used"
INVERTED = "True = may be seen: hide where the mask is False"
LATE = "after the softmax is too late: the rows no longer sum to 1"
NOT_LOW = "your number is not low enough: a visible score may be lower still"


ROOT = "math.sqrt(K.size(-1))"
LOWEST = "torch.finfo(scores.dtype).min"
END = "return scores.softmax(-1) @ V"
UNUSED = "if mask is not None → if False"
TURNED = "V, mask if mask is None else ~mask)"
FUSED = f"torch.nn.functional.scaled_dot_product_attention(Q, K, {TURNED}"


def _exponentials(total):
    def attention(Q, K, V, mask=None):
        e = (Q @ K.mT / math.sqrt(K.size(-1))).exp()
        e = e if mask is None else e * mask
        return e / total(e) @ V

    return attention


class NotATensor(TypeError):
    """MultiHead could not go on with this."""


def _usable(answer, first, *others):
    """What her function gives, if it is a tensor with which MultiHead could go on."""
    if not callable(answer):
        raise NotATensor("give the function itself, not what it returns")
    given = answer(first, *others)
    if isinstance(given, tuple) and all(isinstance(x, torch.Tensor) for x in given):
        return given  # the weights as well: a usual mistake
    kind = getattr(given, "dtype", type(given).__name__)
    if isinstance(given, torch.Tensor) and not given.is_floating_point():
        return given
    if unfilled(given) or kind == first.dtype:
        return given
    raise NotATensor(f"return a tensor of {first.dtype}, for MultiHead; got {kind}")


def _attended(answer, Q, K, V, mask=None):
    return _usable(answer, Q, K, V, *([] if mask is None else [mask]))


def _split(answer, x, n_heads):
    return _usable(answer, x, n_heads)


CAUSAL = torch.ones(3, 5, dtype=torch.bool).tril(1)  # (T, S)
PADDED = torch.tensor([[True] * 4, [True, True, False, False]])[:, None, None]
FAR_BELOW = (  # the hidden score is the largest one of each query
    torch.tensor([[-30.0, 0], [-8000, 1]]),  # (T, d_k)
    torch.tensor([[2.0, 0], [2.1, 0.5], [-0.5, 0]]) * 2**0.5,  # (S, d_k)
    torch.tensor([[1.0, 0, 2], [0, 1, 1], [5, 5, 5]]),  # (S, d_v)
    torch.tensor([[True, True, False], [True, False, False]]),
)


@exercise(
    "Attention: scores, mask, softmax, mean of the values.",
    cases={
        "no mask": numbers(1, (2, 3), (4, 3), (4, 2)),
        "with a mask": [*numbers(2, (3, 6), (5, 6), (5, 2)), CAUSAL],
        "visible scores near −60 and −16,000": FAR_BELOW,
        "scores of more than 1,000, as in a trained model": [
            1000 * numbers(4, (2, 4))[0],
            *numbers(5, (3, 4), (3, 2)),
        ],
        "two sentences and three heads in front, a padding mask": [
            *numbers(6, (2, 3, 5, 4), (2, 3, 4, 4), (2, 3, 4, 4)),
            PADDED,
        ],
    },
    mistakes={
        UNDIVIDED: f"/ {ROOT} →",
        BY_D_K: f"{ROOT} → K.size(-1)",
        "d_k is the width of a key; this divides by √S, their number": (
            "K.size(-1) → K.size(-2)"
        ),
        "d_k is the width of a key; this divides by √T, the number of queries": [
            "K.size(-1) → Q.size(-2)",
            "K.size(-1) → Q.size(0)",
        ],
        "d_k is the width of a key; this divides by √d_v, the width of a value": (
            "K.size(-1) → V.size(-1)"
        ),
        "√2 was right for d_k = 2: take the width of the keys": f"{ROOT} → 2**0.5",
        "multiply by 1 / √d_k, don't multiply by √d_k": f"/ {ROOT} → * {ROOT}",
        "divide the scores by √d_k, before the softmax; this divides the weights": (
            f"/ {ROOT} →",
            f"{END} → {END} / {ROOT}",
        ),
        "softmax along the keys: each row must sum to 1": "softmax(-1) → softmax(-2)",
        "with heads in front the keys are the last axis: softmax(-1)": (
            "softmax(-1) → softmax(1)"
        ),
        "with heads in front the width is the last axis: K.size(-1)": (
            "K.size(-1) → K.size(1)"
        ),
        "divide each row by its own sum": _exponentials(torch.sum),
        "each row has a softmax of its own: this is one softmax of the whole table": [
            f"{END} → return scores.flatten({axis}).softmax(-1).view_as(scores) @ V"
            for axis in (0, -2)
        ],
        "the weights mix the values, not the keys": "@ V → @ K",
        "queries are the rows: Q @ Kᵀ, not K @ Qᵀ": (
            "Q @ K.transpose(-2, -1) → K @ Q.transpose(-2, -1)"
        ),
        "keepdim=True keeps the axis of the sums, so that they divide the rows": (
            _exponentials(lambda e: e.sum(-1))
        ),
        "these are exponentials: divide by their sum": _exponentials(lambda e: 1),
        "the softmax is missing": ".softmax(-1) →",
        NO_MASK: UNUSED,
        INVERTED: ["~mask → mask", f"~mask, {LOWEST} → mask, -torch.inf", FUSED],
        "a hidden score of 0 still gets a weight: it must be very low": [
            f"{LOWEST} → 0",
            f"scores.masked_fill(~mask, {LOWEST}) → scores * mask",
        ],
        NOT_LOW: [f"{LOWEST} → {-n}" for n in (1, 10, 20, 50, 100, 1000, 10000)],
        "adding True adds 1: a hidden score must become very low": (
            f"scores.masked_fill(~mask, {LOWEST}) → scores + mask"
        ),
        LATE: (
            UNUSED,
            f"{END} → return (scores.softmax(-1) * (True if mask is None else mask)) "
            f"@ V",
        ),
        "exp of a large score is infinite: take `softmax`, or subtract the largest "
        "visible score first": _exponentials(lambda e: e.sum(-1, keepdim=True)),
        "these are the weights: use them to mix the values": "@ V →",
        "return the output alone, without the weights": (
            f"{END} → {END}, scores.softmax(-1)"
        ),
        "these are the scores: take the softmax, and mix the values": (
            f"{END} → return scores"
        ),
        "right for one head. With sentences and heads in front, swap the last two axes "
        "only: K.transpose(-2, -1)": [
            "K.transpose(-2, -1) → K.T",
            "K.transpose(-2, -1) → K.transpose(0, 1)",
        ],
    },
    hints=(
        "Four lines: scores, mask, softmax, mean. Section 1 did them for one query; a "
        "mask is only used if it is not None.",
        "`scores = Q @ K.transpose(-2, -1) / math.sqrt(K.size(-1))` has the shape "
        "(…, T, S), also with sentences and heads in front.",
    ),
    says="the library gives the same, with and without a mask, for one head or many",
    difficulty=2,
    importance=3,
    minutes=8,
    part="attention",
    call=_attended,
)
def attention(Q, K, V, mask=None):
    scores = Q @ K.transpose(-2, -1) / math.sqrt(K.size(-1))  # (…, T, S)
    if mask is not None:
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    return scores.softmax(-1) @ V  # (…, T, d_v)


def _counted(*shape):
    return torch.arange(float(math.prod(shape))).view(shape)


@exercise(
    "Cut the last axis into heads, and bring them to the front.",
    cases={
        "D = 4, two heads, T = 3": (_counted(1, 3, 4), 2),
        "D = 12, three heads": (_counted(2, 5, 12), 3),
        "D = 12, two heads": (_counted(2, 5, 12), 2),
        "D = 8, four heads, T = 3": (_counted(1, 3, 8), 4),
        "no whole numbers": (numbers(16, (2, 4, 6))[0] / 3, 3),
    },
    mistakes={
        "this shape in one step mixes positions: cut the last axis, then swap": (
            "x.reshape(len(x), n_heads, x.size(1), -1)"
        ),
        "heads are axis 1, positions axis 2: swap them": ".transpose(1, 2) →",
        "head 0 has the first d_k columns, not every H-th": (
            "x.unflatten(-1, (-1, n_heads)).permute(0, 3, 1, 2)"
        ),
        "these are d_k parts of n_heads numbers: cut into n_heads parts of d_k": (
            "(n_heads, -1) → (-1, n_heads)"
        ),
        "n_heads parts have D / n_heads numbers each; −1 works that out": [
            f"(n_heads, -1) → (n_heads, {n})" for n in ("n_heads", 2, 4, 64)
        ],
        "(B, H, d_k, T): the numbers of a head come last": (
            "x.unflatten(-1, (n_heads, -1)).permute(0, 2, 3, 1)"
        ),
        "the batch comes first, then the heads": "torch.stack(x.chunk(n_heads, -1))",
        "swap after the cut, not before it: this mixes columns and positions": (
            "x.transpose(1, 2).reshape(len(x), n_heads, x.size(1), -1)"
        ),
        "`unflatten(-1, …)`: it is the last axis that is cut": (
            "x.unflatten(1, (n_heads, -1))"
        ),
        "the number of heads is an argument: n_heads": [
            "n_heads, -1 → 3, -1",
            "n_heads, -1 → 2, -1",
        ],
        "this puts the heads together again: leave out the flatten": (
            ".transpose(1, 2) → .transpose(1, 2).flatten(2)"
        ),
        "transpose the axes 1 and 2, the positions and the heads": [
            "transpose(1, 2) → transpose(0, 1)",
            "transpose(1, 2) → transpose(2, 3)",
            "transpose(1, 2) → transpose(0, 2)",
            "transpose(1, 2) → transpose(1, 3)",
        ],
    },
    hints=(
        "Two steps. Cut the D columns first: (B, T, H, d_k). Which two axes are then "
        "in the wrong order?",
        "`x.unflatten(-1, (n_heads, -1))` has the shape (B, T, H, d_k).",
    ),
    says="head 0 has the first d_k columns of every position, as in the library",
    difficulty=1,
    importance=3,
    minutes=4,
    part="split_heads",
    call=_split,
)
def split_heads(x, n_heads):
    return x.unflatten(-1, (n_heads, -1)).transpose(1, 2)  # (B, T, H, d_k), then swap


NAMES = "W_q", "W_k", "W_v", "W_o"


def _layer(D, H):
    """A layer of the library whose weights come from D and H."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(100 * D + H)
        return nmt.MultiHeadAttention(D, H)


def _with_weights(answer, D, H, x, memory, mask):
    """What a class gives with the weights of that layer."""
    theirs, own = _layer(D, H), answer(D, H)
    if missing := [name for name in NAMES if not hasattr(own, name)]:
        raise ValueError(f"keep the names of the four layers: {missing[0]} is missing")
    for name in NAMES:
        layer = getattr(own, name)
        layer.load_state_dict(getattr(theirs, name).state_dict())
        layer.register_forward_pre_hook(
            lambda _, args, name=name: record_step(name, args)
        )
    with torch.no_grad():
        return own(x, memory, mask)


def _view(x, n_heads):
    return x.reshape(len(x), n_heads, x.size(1), -1)


ZERO = "a hidden score of 0 still gets a weight: it must be very low"
zero, late = attention.mistakes[ZERO][0], attention.mistakes[LATE][0]
JOINED = "heads.transpose(1, 2).flatten(2)"


NEAR = torch.eye(5, dtype=torch.bool)
NEAR = (NEAR | NEAR.roll(1, 0))[None, None]  # (1, 1, T, T) itself and the word before
ALONE = numbers(8, (2, 5, 12))[0]  # (B, T, D)


@exercise(
    "The whole layer: project, split into heads, attend, join, apply W_o.",
    cases={
        "cross-attention, no mask": (12, 3, *numbers(7, (2, 5, 12), (2, 7, 12)), None),
        "self-attention with a mask": (12, 3, ALONE, ALONE, NEAR),
        "D = 8, four heads, a padding mask": (
            8,
            4,
            *numbers(9, (2, 3, 8), (2, 4, 8)),
            PADDED,
        ),
    },
    mistakes={
        "W_o is missing": "self.W_o(heads → (heads",
        "split and joined with one `view`: each head reads other positions than it "
        "should": ("split_heads → _view", f"{JOINED} → heads.reshape(x.shape)"),
        "joined without swapping back: positions and heads are mixed": (
            f"{JOINED} → heads.reshape(x.shape)"
        ),
        "split with one `view`: positions are mixed": "split_heads → _view",
        "two steps lead back: swap positions and heads, transpose(1, 2), then put the "
        "heads of a position side by side, flatten(2)": [
            f"{JOINED} → heads{steps}"
            for steps in (".flatten(2)", ".flatten(1)", ".transpose(1, 2).flatten(1)")
        ],
        "a layer reads whole vectors, (…, D), and yours reads a single head: project "
        "before you split, and flatten the heads before W_o": [
            f"{JOINED} → heads",
            f"{JOINED} → heads.transpose(1, 2)",
            *(
                f"split_heads(self.{W}({x}), self.n_heads) → "
                f"self.{W}(split_heads({x}, self.n_heads))"
                for W, x in (("W_q", "x"), ("W_k", "memory"), ("W_v", "memory"))
            ),
        ],
        UNDIVIDED: "(Q, → (Q * Q.size(-1) ** 0.5,",
        "divide by √d_k, the width of one head, not by √D": (
            "(Q, → (Q * self.n_heads**-0.5,"
        ),
        "divide by √d_k, not by √H": "(Q, → (Q * (Q.size(-1) / self.n_heads) ** 0.5,",
        BY_D_K: "(Q, → (Q * Q.size(-1) ** -0.5,",
        "keys and values come from memory, not from x": "(memory) → (x)",
        "the keys come from memory, too": "W_k(memory) → W_k(x)",
        "the values come from memory, too": "W_v(memory) → W_v(x)",
        "queries come from x, keys and values from memory": [
            "W_q(x) → W_q(memory)",
            ("W_q(x) → W_q(memory)", "W_k(memory) → W_k(x)", "W_v(memory) → W_v(x)"),
        ],
        "the values have a matrix of their own, W_v": "W_v(memory) → W_k(memory)",
        "W_q and W_k are exchanged": ("W_q(x) → W_k(x)", "W_k(memory) → W_q(memory)"),
        "W_k and W_v are exchanged": "(Q, K, V → (Q, V, K",
        "the values are not projected: W_v is missing": "self.W_v(memory) → memory",
        "the queries are not projected: W_q is missing": "self.W_q(x) → x",
        "the keys are not projected: W_k is missing": "self.W_k(memory) → memory",
        NO_MASK: "V, mask) → V, None)",
        INVERTED: [f"V, mask) → {TURNED}", f"attention(Q, K, V, mask) → {FUSED}"],
        ZERO: "= attention( → = zero(",
        LATE: "= attention( → = late(",
        "x is added in chapter 05: here the output alone is asked for": (
            "return → return x +"
        ),
        "this is a single head, as wide as the whole vector": [
            "self.n_heads) → 1)",
            ("split_heads( → (", ", self.n_heads) → )", f"{JOINED} → heads"),
        ],
    },
    hints=(
        "Each step has a name already: three projections, `split_heads` for each of "
        "them, `attention`, the two steps back, `W_o`.",
        "`split_heads(self.W_k(memory), self.n_heads)` has the shape (B, H, S, d_k), "
        "and `heads.transpose(1, 2).flatten(2)` is (B, T, D) again.",
    ),
    says="the library's layer gives the same with these weights, at any two lengths",
    difficulty=3,
    importance=3,
    minutes=10,
    part="multi_head",
    uses=(attention, split_heads),
    call=_with_weights,
)
class MultiHead(torch.nn.Module):
    def __init__(self, D, H):
        super().__init__()
        self.n_heads = H
        self.W_q, self.W_k = torch.nn.Linear(D, D), torch.nn.Linear(D, D)
        self.W_v, self.W_o = torch.nn.Linear(D, D), torch.nn.Linear(D, D)

    def forward(self, x, memory, mask=None):
        Q = split_heads(self.W_q(x), self.n_heads)  # (B, H, T, d_k)
        K = split_heads(self.W_k(memory), self.n_heads)  # (B, H, S, d_k)
        V = split_heads(self.W_v(memory), self.n_heads)  # (B, H, S, d_k)
        heads = attention(Q, K, V, mask)  # (B, H, T, d_k)
        return self.W_o(heads.transpose(1, 2).flatten(2))  # (B, T, D)


class TableError(RuntimeError):
    """All keys were multiplied at once."""


class OneByOne(torch.Tensor):
    """Rows that can be read one after the other, but not multiplied all at once."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        products = "matmul", "mul", "mv", "mm", "einsum", "linear"
        product = any(name in func.__name__ for name in products)
        if product and any(isinstance(a, cls) and a.dim() > 1 for a in args):
            raise TableError("all keys at once")
        return super().__torch_function__(func, types, args, kwargs or {})


def _one_by_one(answer, q, K, V):
    given = answer(q, K.as_subclass(OneByOne), V)
    if isinstance(given, torch.Tensor):
        return given.as_subclass(torch.Tensor)
    return given


PLAIN = "-math.inf → 0.0", "max(largest, score) → 0.0"
EXP = "math.exp(score - largest) → torch.tensor(score"
FIRST = "max(largest, score) → score if largest == -math.inf else largest"


def _scores(*scores, width=64):
    """A query and keys with these scores."""
    q = torch.full((width,), 4.0)
    return q, torch.tensor(scores)[:, None] * torch.ones(width) / (4 * width**0.5)


SHRINK = "shrink * total + e, shrink * mixed"
LARGEST = "exp of a large score is infinite: keep the largest score so far"


@exercise(
    "Attention of one query without a table of weights: one key after the other.",
    cases={
        "small scores": numbers(10, (2,), (4, 2), (4, 3)),
        "three scores of 128": [*_scores(128.0, 128, 128), *numbers(11, (3, 2))],
        "scores of 100, 110 and 120": [
            *_scores(100.0, 120, 110, width=16),
            *numbers(12, (3, 2)),
        ],
        "all scores near −1,600": [*_scores(-1600.0, -1601), *numbers(13, (2, 3))],
        "scores of −800, 0 and 800": [
            *_scores(-800.0, 0, 800),
            *numbers(14, (3, 2)),
        ],
        "scores of 800, 0 and −800": [
            *_scores(800.0, 0, -800),
            *numbers(15, (3, 2)),
        ],
    },
    mistakes={
        UNDIVIDED: "/ math.sqrt(len(q)) →",
        BY_D_K: "math.sqrt(len(q)) → len(q)",
        "divide by √d_k; this divides by √S, the number of keys": "len(q) → len(K)",
        "divide by √d_k; this divides by √d_v, the width of the values": (
            "len(q) → V.size(1)"
        ),
        "this makes the table: all keys at once. Take one after the other": (
            "(K @ q / len(q) ** 0.5).softmax(-1) @ V"
        ),
        LARGEST: [
            PLAIN,
            (*PLAIN, f"{EXP}).exp()"),
            (*PLAIN, f"{EXP}).double().exp()"),
        ],
        "a limit for the score makes large scores equal: keep the largest so far": [
            (*PLAIN, f"{EXP}).clamp(max=80).exp()"),
            (*PLAIN, f"{EXP}).clamp(max=88).exp()"),
        ],
        "scores differ by much: subtract the largest so far, not the first one": [
            FIRST,
            (FIRST, f"{EXP} - largest).exp()"),
        ],
        "far below 0 every exponential is 0: the largest so far must be one of the "
        "scores, so begin with −∞ or the first one": [
            "-math.inf → 0.0",
            "max(largest, score) → max(largest, abs(score))",
        ],
        "when the largest score grows, multiply both sums by exp(old − new)": (
            f"{SHRINK} → total + e, mixed"
        ),
        "multiply *both* sums by exp(old − new): the sum of the exponentials, too": (
            f"{SHRINK} → total + e, shrink * mixed"
        ),
        "multiply *both* sums by exp(old − new): the sum of the values, too": (
            f"{SHRINK} → shrink * total + e, mixed"
        ),
        "exp(old − new) for the old sums, exp(score − new) for the new key: yours has "
        "an infinite exponential at the first key": [
            "math.exp(old - largest) → math.exp(largest - old)",
            "math.exp(score - largest) → math.exp(score - old)",
        ],
        "the new key's exponential is exp(score − largest), too": (
            "math.exp(score - largest) → math.exp(score)"
        ),
        "keep the largest score, not the smallest": "max(largest → min(largest",
        "keep the largest score so far, not the latest": (
            "max(largest, score) → score"
        ),
        "this is the plain mean: weigh each value by its exponential": "V.mean(0)",
        "the new value has a weight, too: its exponential": "e * v → v",
        "the weights don't sum to 1: divide by their sum": "/ total →",
        "divide once, after the last key: this divides in each round": (
            "    return mixed / total →         mixed = mixed / total\n    return mixed"
        ),
        "return after the loop: this stops at the first key": "V[0]",
    },
    hints=(
        "Three things are kept from key to key: the largest score, the sum of the "
        "exponentials, and the sum of the values times them.",
        "For each key: `old, largest = largest, max(largest, score)`; then both sums "
        "times `math.exp(old - largest)`, plus the new key's share.",
    ),
    says="the mean that softmax gives, for scores of any size",
    difficulty=3,
    importance=1,
    minutes=12,
    part="one_key",
    call=_one_by_one,
)
def one_key_at_a_time(q, K, V):
    largest, total, mixed = -math.inf, 0.0, torch.zeros(V.size(1))
    for k, v in zip(K, V):
        score = (q @ k).item() / math.sqrt(len(q))
        old, largest = largest, max(largest, score)
        shrink, e = math.exp(old - largest), math.exp(score - largest)
        total, mixed = shrink * total + e, shrink * mixed + e * v
    return mixed / total
