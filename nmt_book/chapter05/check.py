"""The exercises of chapter 05, the encoder."""

import torch

import nmt_lib as nmt

from ..cases import INSIDE, NO_NORM, NO_SUM, PRE, drawn, numbers, padding, parts
from ..exercise.exercise import exercise


def _network(seed, D, d_ff):
    network = drawn(nmt.FeedForward, D, d_ff, seed=seed)
    return network.W_1, network.W_2


WHOLE = "W_2(W_1(x).relu())"


@exercise(
    "Two linear layers with ReLU between them.",
    cases={
        "two sentences, 4 → 6 → 4": (*numbers(1, (2, 3, 4)), *_network(1, 4, 6)),
        "8 → 5 → 8, large numbers": (5 * numbers(2, (1, 5, 8))[0], *_network(2, 8, 5)),
        "a single position": (*numbers(3, (4,)), *_network(3, 4, 16)),
    },
    mistakes={
        "without ReLU, two linear maps are a single one": ".relu() →",
        "there is no ReLU at the end: negative numbers may come out": [
            f"{WHOLE} → W_2(W_1(x).relu()).relu()",
            f"{WHOLE} → W_2(W_1(x)).relu()",
        ],
        "ReLU comes between the two layers, not before them": [
            "W_1(x).relu() → W_1(x.relu())",
            "W_1(x).relu() → W_1(x.relu()).relu()",
        ],
        "these are the d_ff numbers in the middle: W_2 makes D of them": (
            f"{WHOLE} → W_1(x).relu()"
        ),
        "this keeps the negative numbers: take max(0, …)": "relu() → clamp(max=0)",
        "absolute values keep something of every number: ReLU makes 0 of the "
        "negative ones": "relu() → abs()",
        "ReLU has no upper limit": "relu() → clamp(0, 1)",
        "this is GELU, as in newer models; the paper has max(0, …)": [
            "W_2(torch.nn.functional.gelu(W_1(x)))",
            "W_2(torch.nn.functional.gelu(W_1(x), approximate='tanh'))",
        ],
        "another function than max(0, …) stands between the layers": [
            "relu() → tanh()",
            "relu() → sigmoid()",
            "relu() → softmax(-1)",
            *(
                f"W_2(torch.nn.functional.{name}(W_1(x)))"
                for name in ("leaky_relu", "silu", "elu")
            ),
        ],
        "W_1(x) comes first: it makes d_ff numbers of the D (its weight is stored "
        "transposed)": [f"{WHOLE} → W_1(W_2(x).relu())", f"{WHOLE} → x @ W_1.weight"],
        "a linear layer has a bias, too: call it, W_1(x)": [
            "W_1(x) → (x @ W_1.weight.T)",
            f"{WHOLE} → W_1(x).relu() @ W_2.weight.T",
            f"{WHOLE} → (x @ W_1.weight.T).relu() @ W_2.weight.T",
        ],
        "x is added later, in the layer (section 5): here the network alone": (
            "return  → return x + "
        ),
    },
    hints=(
        "From the inside out: which of the two layers reads x? And which numbers does "
        "ReLU change?",
        "`W_1(x)` has the shape (…, d_ff); its method `relu()`, or `clamp(min=0)`, "
        "makes 0 of what is negative.",
    ),
    says="at every position the library's network gives the same",
    difficulty=1,
    importance=2,
    minutes=3,
    part="feed_forward",
)
def feed_forward(x, W_1, W_2):
    return W_2(W_1(x).relu())  # (…, D) → (…, d_ff) → (…, D)


SMALL, *GAINS = numbers(5, (1, 3, 4), (4,), (4,))
SMALL = 0.003 * SMALL
SMALL[0, 0] = 0.5  # four equal numbers
ROOT = "(variance + eps).sqrt()"
SQUARES = "((x - mean) ** 2).mean(-1, keepdim=True)"
OUTSIDE = "eps is added to the variance, under the root"


@exercise(
    "Layer norm: each position by its own mean and variance.",
    cases={
        "two positions, D = 4": (3 * numbers(4, (1, 2, 4))[0] + 1, *GAINS),
        "two sentences, D = 4": (3 * numbers(4, (2, 3, 4))[0] + 1, *GAINS),
        "small differences, and four equal numbers": (SMALL, *GAINS),
        "D = 6, one sentence": (*numbers(6, (1, 5, 6), (6,), (6,)),),
        "eps = 0.5": (*numbers(7, (2, 3, 4), (4,), (4,)), 0.5),
        "numbers near 3,000": (5 * numbers(8, (1, 3, 4))[0] + 3000, *GAINS),
    },
    mistakes={
        "the variance divides by D, not by D − 1: unbiased=False": (
            f"{SQUARES} → x.var(-1, keepdim=True)"
        ),
        "two faults: std divides by D − 1 (unbiased=False), and eps is missing": (
            f"{ROOT} → x.std(-1, keepdim=True)"
        ),
        "std divides by D − 1, and eps belongs under the root": (
            f"{ROOT} → (x.std(-1, keepdim=True) + eps)"
        ),
        OUTSIDE: f"{ROOT} → (variance.sqrt() + eps)",
        "eps is missing; it must be under the root: four equal numbers give nan": (
            " + eps →"
        ),
        "eps is an argument: take the one that is given": [
            f"+ eps → + {eps}" for eps in (1e-3, 1e-5, 1e-6, 1e-8, 1e-9, 1e-12)
        ],
        "divide by the root of the variance": ".sqrt() →",
        "divide by the root, don't multiply by it": "/ (variance → * (variance",
        "the variance is a mean: divide the sum of the squares by D": [
            "** 2).mean → ** 2).sum",
            f"{ROOT} → (x - mean).norm(dim=-1, keepdim=True).clamp(min=1e-12)",
        ],
        "the variance is the mean of the squares, not of the absolute values": [
            "((x - mean) ** 2) → (x - mean).abs()",
            f"{SQUARES} → (x - mean).abs().mean(-1, keepdim=True) ** 2",
        ],
        "this normalises a whole sentence: take the last axis only": (
            "-1, keepdim → (-1, -2), keepdim"
        ),
        "this normalises everything together: take the last axis only": (
            "-1, keepdim=True →"
        ),
        "this normalises each column of a sentence: take the last axis": (
            "-1, keepdim → 1, keepdim"
        ),
        "this normalises each column over the batch: take the last axis": (
            "-1, keepdim → 0, keepdim"
        ),
        "this is batch norm, each column over all positions: take the last axis": (
            "-1, keepdim → (0, 1), keepdim"
        ),
        "subtract the mean from x, too": "gain * (x - mean) → gain * x",
        "this is the root mean square norm: subtract the mean": (
            "mean = x.mean(-1, keepdim=True) → mean = 0"
        ),
        "keepdim=True keeps the axis of mean and variance: (B, S, 1)": (
            ", keepdim=True →"
        ),
        "subtract the mean for the variance, too": "((x - mean) ** 2) → (x ** 2)",
        "mean(x²) − mean² loses its digits where x is far from 0: subtract the mean "
        "first, then square": f"{SQUARES} → (x**2).mean(-1, keepdim=True) - mean**2",
        "divide by the root of the variance, too": "/ (variance + eps).sqrt() →",
        "brackets are missing: x − mean is divided as a whole": (
            "(x - mean) / → x - mean /"
        ),
        "gain and bias are not used, nor the eps that is given": (
            "gain * (x - mean) / (variance + eps).sqrt() + bias → "
            "(x - mean) / (variance + 1e-5).sqrt()"
        ),
        "gain is the factor itself: add no 1 to it": "gain * → (1 + gain) *",
        "gain is not used": "gain *  →",
        "bias is not used": " + bias →",
        "gain and bias are not used": ("gain *  →", " + bias →"),
        "gain and bias are exchanged": ("gain * ( → bias * (", "+ bias → + gain"),
        "the bias comes after the gain: it is not multiplied": (
            "gain * (x → gain * ((x",
            ".sqrt() + bias → .sqrt() + bias)",
        ),
    },
    hints=(
        "Each position has a mean and a variance of its own: along which axis, and how "
        "do they keep it?",
        "`x.mean(-1, keepdim=True)` has the shape (B, S, 1). The variance is the mean "
        "of the squares of what is left, and eps is added under the root.",
    ),
    says="PyTorch gives the same, for numbers of any size and for equal ones",
    difficulty=1,
    importance=3,
    minutes=5,
    part="layer_norm",
)
def layer_norm(x, gain, bias, eps=1e-5):
    mean = x.mean(-1, keepdim=True)  # (B, S, 1)
    variance = ((x - mean) ** 2).mean(-1, keepdim=True)  # (B, S, 1)
    return gain * (x - mean) / (variance + eps).sqrt() + bias


LOOK = "part.self_attention(x, x, mask)"
FEED = "part.norm2(x1 + part.feed_forward(x1))"


@exercise(
    "An encoder layer: attention and feed-forward, each with its sum and norm.",
    cases={
        "one sentence without padding": (
            parts(nmt.EncoderLayer, 8, 8, 2),
            *numbers(8, (1, 4, 8)),
            padding(4, 4),
        ),
        "two sentences, one of them padded": (
            parts(nmt.EncoderLayer, 9, 12, 3),
            *numbers(9, (2, 5, 12)),
            padding(5, 5, 3),
        ),
    },
    mistakes={
        "mask is not used": "x, x, mask → x, x, None",
        "True means: may be attended to. The mask is turned around": (
            "x, x, mask → x, x, ~mask"
        ),
        "keys and values both come from `memory`, which is x here: "
        "part.self_attention(x, x, mask)": [
            "x, x, mask → x, x, x, mask",
            "x, x, mask → x, x, x, mask=mask",
        ],
        "the second input is missing, `memory`, which is x here: "
        "part.self_attention(x, x, mask)": "x, x, mask → x, mask",
        "x is not added to self-attention": "x + part.self → part.self",
        "the second sum is missing": "x1 + part.feed → part.feed",
        NO_SUM: ("x + part → part", "x1 + part → part"),
        "the second sum adds what the feed-forward network reads": (
            "x1 + part.feed → x + part.feed"
        ),
        "the feed-forward network reads what the first norm has made, not x": (
            "feed_forward(x1) → feed_forward(x)"
        ),
        "what attention has found is lost: the second sub-layer must go on from it": (
            "x1 + part.feed_forward(x1) → x + part.feed_forward(x)"
        ),
        "both sub-layers read x at once: one comes after the other": (
            f"{FEED} → part.norm2(x + {LOOK} + part.feed_forward(x))"
        ),
        NO_NORM: ("part.norm1 →", "part.norm2 →"),
        "the first norm is missing": "part.norm1 →",
        "the last norm is missing": "part.norm2 →",
        "the second sum adds the normed sum, not the one before the norm": (
            "part.norm1( → (",
            f"{FEED} → part.norm2(x1 + part.feed_forward(part.norm1(x1)))",
        ),
        "each sub-layer has a norm of its own: norm1, norm2": "norm2 → norm1",
        "norm1 belongs to the first sum: this takes norm2 twice": "norm1 → norm2",
        "norm1 comes first, then norm2": (
            "norm1 → norm",
            "norm2 → norm1",
            "norm( → norm2(",
        ),
        PRE: (
            f"part.norm1(x + {LOOK}) → x + part.self_attention(part.norm1(x), "
            f"part.norm1(x), mask)",
            f"{FEED} → x1 + part.feed_forward(part.norm2(x1))",
        ),
        "the first half is pre-LN, the second post-LN: the norm comes after each sum": (
            f"part.norm1(x + {LOOK}) → "
            "x + part.self_attention(part.norm1(x), part.norm1(x), mask)"
        ),
        "attention reads x itself, and x is added: norm only the sum": (
            f"x + {LOOK} → part.norm1(x) + "
            "part.self_attention(part.norm1(x), part.norm1(x), mask)"
        ),
        f"{PRE}; and keys and values are not normed": (
            f"part.norm1(x + {LOOK}) → x + part.self_attention(part.norm1(x), x, mask)",
            f"{FEED} → x1 + part.feed_forward(part.norm2(x1))",
        ),
        INSIDE: (
            f"part.norm1(x + {LOOK}) → x + part.norm1({LOOK})",
            f"{FEED} → x1 + part.norm2(part.feed_forward(x1))",
        ),
        "the feed-forward network comes second, self-attention first": (
            f"{LOOK} → part.feed_forward(x)",
            "part.feed_forward(x1) → part.self_attention(x1, x1, mask)",
        ),
        "the feed-forward network is missing": " + part.feed_forward(x1) →",
        "self-attention is missing": f" + {LOOK} →",
        "this is the first half of a layer: go on": f"{FEED} → x1",
    },
    hints=(
        "Two lines of the same form: a norm around the sum of what goes in and what "
        "the sub-layer makes of it. What goes into the second?",
        "`x1 = part.norm1(x + part.self_attention(x, x, mask))` is the first line, "
        "(B, S, D) as all of them.",
    ),
    says="the library's layer gives the same, with and without padding",
    difficulty=2,
    importance=3,
    minutes=4,
    part="encoder_layer",
    fixed=(2,),
)
def encoder_layer(part, x, mask):
    x1 = part.norm1(x + part.self_attention(x, x, mask))  # (B, S, D)
    return part.norm2(x1 + part.feed_forward(x1))  # (B, S, D)
