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


PADDED = torch.tensor([[True] * 4, [True, True, False, False]])[:, None, None]


def _kept(scores, mask):
    kept = scores.exp() * mask
    return kept / kept.sum(-1, keepdim=True)


@exercise(
    "Softmax over the keys that the mask shows.",
    cases={
        "small scores": (
            torch.tensor([[0.0, 2, 1, -3], [1, 0, -1, 2]]),
            torch.tensor([[True, True, False, True], [True, True, True, True]]),
        ),
        "visible scores near −60": (
            torch.tensor([[-60.0, -59, -7], [-62, 5, -60], [-1, -2, -3]]),
            torch.tensor([[1, 1, 0], [1, 0, 1], [0, 1, 1]]).bool(),
        ),
        "scores of ±1,600, as in a trained model": (
            torch.tensor([[1600.0, 1602, 0, 7, 1603], [1, 0, 2, 1600, -1600]]),
            torch.tensor([[1, 1, 1, 0, 0], [1, 1, 1, 0, 0]]).bool(),
        ),
        "visible scores near −16,000": (
            torch.tensor([[-16000.0, -16002, 5, 0]]),
            torch.tensor([[1, 1, 0, 0]]).bool(),
        ),
        "two sentences and three heads in front, a padding mask": [
            *numbers(17, (2, 3, 5, 4)),
            PADDED,
        ],
    },
    mistakes={
        "with heads in front the keys are the last axis: softmax(-1)": (
            "softmax(-1) → softmax(1)"
        ),
        "the mask has no effect; masked_fill, for one, returns new scores, and leaves "
        "`scores` as they are": "scores.softmax(-1)",
        "a hidden score near 0 still gets the weight e⁰ = 1: write a very low number": [
            "lowest) → 0)",
            "(scores * mask).softmax(-1)",
        ],
        "adding True adds 1: a hidden score must become very low": (
            "(scores + mask).softmax(-1)"
        ),
        "the rows no longer sum to 1: the hidden keys are still in the denominator": [
            "scores.softmax(-1) * mask",
            "scores.exp() * mask / scores.exp().sum(-1, keepdim=True)",
        ],
        "the hidden keys are those where the mask is False": [
            "~mask → mask",
            "~mask, lowest → mask, -torch.inf",
        ],
        "divide along the keys, so that each row sums to 1": [
            "softmax(-1) → softmax(0)",
            "softmax(-1) → softmax(-2)",
            ("lowest) → -torch.inf)", "softmax(-1) → softmax(0)"),
        ],
        "keepdim=True keeps the axis of the sums, (T, 1), so that each divides a row": (
            "scores.exp() * mask / (scores.exp() * mask).sum(-1)"
        ),
        "divide by the sum of each row, not by the sum of all": (
            "scores.exp() * mask / (scores.exp() * mask).sum()"
        ),
        "these are exponentials: divide by their sum": "scores.exp() * mask",
        "the exponential is missing": (
            "scores * mask / (scores * mask).sum(-1, keepdim=True)"
        ),
        "scores[mask] is one long list: the rows are lost": "scores[mask].softmax(-1)",
        "these are the masked scores: the softmax is missing": [
            ".softmax(-1) →",
            ("lowest) → -1e9)", ".softmax(-1) →"),
            ("lowest) → -torch.inf)", ".softmax(-1) →"),
            "scores * mask",
        ],
        "these are logarithms of weights: softmax, not log_softmax": [
            ".softmax → .log_softmax",
            ("lowest) → -1e9)", ".softmax → .log_softmax"),
            ("lowest) → -torch.inf)", ".softmax → .log_softmax"),
        ],
        "0 · ∞ is nan: `masked_fill` puts the −∞ only where it belongs": (
            "(scores + (~mask) * -torch.inf).softmax(-1)"
        ),
        "right for small scores, but exp of a large one is infinite: take softmax, or "
        "subtract the largest *visible* score first": [
            _kept,
            "_kept(scores.double(), mask)",
        ],
        "right for small scores, but the largest may be a hidden one, and then all "
        "visible exponentials are 0: hide before you subtract or take the softmax": [
            "_kept(scores.log_softmax(-1), mask)",
            "_kept(scores - scores.amax(-1, keepdim=True), mask)",
        ],
        NOT_LOW: [
            *(f"lowest) → {-n})" for n in (1, 10, 20, 50, 100, 1000, 10000)),
            *(f"(scores - {10**n} * ~mask).softmax(-1)" for n in (1, 2, 3, 4)),
        ],
    },
    hints=(
        "The softmax does the dividing. What must a hidden score become beforehand, so "
        "that its exponential is 0? `torch.where(mask, a, b)` takes `a` where the mask "
        "is True, and `b` elsewhere.",
        "`scores.masked_fill(~mask, lowest)`, with the lowest number of the type, "
        "`torch.finfo(scores.dtype).min`, or with −∞; then `softmax(-1)`.",
    ),
    says="hidden keys get nothing, and each row sums to 1, for scores of any size",
    difficulty=2,
    importance=3,
    minutes=6,
    part="masked_softmax",
)
def masked_softmax(scores, mask):
    lowest = torch.finfo(scores.dtype).min
    return scores.masked_fill(~mask, lowest).softmax(-1)


ROOT = "math.sqrt(K.size(-1))"
LOWEST = "torch.finfo(scores.dtype).min"
HIDDEN = f"scores.masked_fill(~mask, {LOWEST})"
INLINE = f"return masked_softmax(scores, mask) @ V → scores = {HIDDEN}"
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
    if others[1:] and isinstance(given, tuple):
        return given  # attention's weights as well: a usual mistake
    is_tensor = isinstance(given, torch.Tensor)
    kind = given.dtype if is_tensor else type(given).__name__
    if is_tensor and not given.is_floating_point():
        return given
    if unfilled(given) or kind == first.dtype:
        return given
    raise NotATensor(f"return a tensor of {first.dtype}, for MultiHead; got {kind}")


def _attended(answer, Q, K, V, mask=None):
    return _usable(answer, Q, K, V, *([] if mask is None else [mask]))


def _split(answer, x, n_heads):
    return _usable(answer, x, n_heads)


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
        "with a mask": [
            *numbers(2, (3, 6), (5, 6), (5, 2)),
            nmt.causal_mask(5)[0, 0, :3],
        ],
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
            f" @ V → / {ROOT} @ V",
        ),
        "softmax along the keys: each row must sum to 1": (
            INLINE,
            "softmax(-1) → softmax(-2)",
        ),
        "with heads in front the keys are the last axis: softmax(-1)": (
            INLINE,
            "softmax(-1) → softmax(1)",
        ),
        "with heads in front the width is the last axis: K.size(-1)": (
            "K.size(-1) → K.size(1)"
        ),
        "divide each row by its own sum": _exponentials(torch.sum),
        "each row has a softmax of its own: this is one softmax of the whole table": [
            (
                INLINE,
                f"{END} → "
                f"return scores.flatten({axis}).softmax(-1).view_as(scores) @ V",
            )
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
        "without a mask the softmax is missing": ".softmax(-1) →",
        "with a mask the softmax comes twice: masked_softmax gives weights": [
            "return masked_softmax(scores, mask) @ V → "
            "scores = masked_softmax(scores, mask)",
            "masked_softmax(scores, → masked_softmax(scores.softmax(-1),",
        ],
        "the softmax is missing": (INLINE, ".softmax(-1) →"),
        NO_MASK: UNUSED,
        INVERTED: [
            "(scores, mask) → (scores, ~mask)",
            (INLINE, f"~mask, {LOWEST} → mask, -torch.inf"),
            FUSED,
        ],
        "a hidden score of 0 still gets a weight: it must be very low": [
            (INLINE, f"{LOWEST} → 0"),
            (INLINE, f"{HIDDEN} → scores * mask"),
        ],
        NOT_LOW: [
            (INLINE, f"{LOWEST} → {-n}") for n in (1, 10, 20, 50, 100, 1000, 10000)
        ],
        "adding True adds 1: a hidden score must become very low": (
            INLINE,
            f"{HIDDEN} → scores + mask",
        ),
        LATE: (
            UNUSED,
            f"{END} → return (scores.softmax(-1) * (True if mask is None else mask)) "
            f"@ V",
        ),
        "exp of a large score is infinite: take `softmax`, or subtract the largest "
        "visible score first": _exponentials(lambda e: e.sum(-1, keepdim=True)),
        "these are the weights: use them to mix the values": [
            "@ V →",
            "mask) @ V → mask)",
        ],
        "return the output alone, without the weights": (
            INLINE,
            f"{END} → {END}, scores.softmax(-1)",
        ),
        "these are the scores: take the softmax, and mix the values": (
            INLINE,
            f"{END} → return scores",
        ),
        "right for one head. With sentences and heads in front, swap the last two axes "
        "only: K.transpose(-2, -1)": [
            "K.transpose(-2, -1) → K.T",
            "K.transpose(-2, -1) → K.transpose(0, 1)",
        ],
    },
    hints=(
        "Scores, weights, mean: section 1 did them for one query. `masked_softmax` is "
        "called only if the mask is not None.",
        "`scores = Q @ K.transpose(-2, -1) / math.sqrt(K.size(-1))` has the shape "
        "(…, T, S), also with sentences and heads in front.",
    ),
    says="the library gives the same, with and without a mask, for one head or many",
    difficulty=2,
    importance=3,
    minutes=5,
    part="attention",
    uses=(masked_softmax,),
    call=_attended,
)
def attention(Q, K, V, mask=None):
    scores = Q @ K.transpose(-2, -1) / math.sqrt(K.size(-1))  # (…, T, S)
    if mask is not None:
        return masked_softmax(scores, mask) @ V
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
        "the axes are in another order: (B, H, T, d_k) is asked for": [
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


def _layer(D, H):
    """A layer of the library whose weights come from D and H."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(100 * D + H)
        return nmt.MultiHeadAttention(D, H)


def _with_weights(answer, D, H, x, memory, mask):
    """What a class gives with the weights of that layer."""
    source, layer = _layer(D, H), answer(D, H)
    if lost := layer.load_state_dict(source.state_dict(), strict=False).unexpected_keys:
        raise ValueError(f"keep the four layers as they are: {lost[0]} is missing")
    for name in "W_q", "W_k", "W_v", "W_o":
        getattr(layer, name).register_forward_pre_hook(
            lambda _, args, name=name: record_step(name, args)
        )
    with torch.no_grad():
        return layer(x, memory, mask)


def _view(x, n_heads):
    return x.reshape(len(x), n_heads, x.size(1), -1)


ZERO = "a hidden score of 0 still gets a weight: it must be very low"
zero, late = attention.mistakes[ZERO][0], attention.mistakes[LATE][0]
JOINED = "heads.transpose(1, 2).flatten(2)"


@exercise(
    "The whole layer: project, split into heads, attend, join, apply W_o.",
    cases={
        "cross-attention, no mask": (12, 3, *numbers(7, (2, 5, 12), (2, 7, 12)), None),
        "self-attention with a mask": (
            12,
            3,
            *2 * numbers(8, (2, 5, 12)),
            nmt.causal_mask(5),
        ),
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
        "divide by √d_k once: `attention` does it already": (
            "(Q, → (Q * Q.size(-1) ** -0.5,"
        ),
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
