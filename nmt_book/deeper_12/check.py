"""The exercises of the deeper page on large language models."""

import math

import torch
import torch.nn.functional as F

from ..cases import numbers
from ..exercise.exercise import exercise

MEAN = "x.mean(-1, keepdim=True)"
DEVIATIONS = [  # three places for ε
    text.format(unbiased)
    for unbiased in (False, True)
    for text in (
        "x.std(-1, keepdim=True, unbiased={})",
        "(x.std(-1, keepdim=True, unbiased={}) + eps)",
        "(x.var(-1, keepdim=True, unbiased={}) + eps).sqrt()",
    )
]


WIDE, NARROW = numbers(0, (2, 3, 8), (8,)), numbers(1, (3, 4, 5), (5,))


@exercise(
    "RMSNorm: divide by the root of the mean square.",
    cases={
        "two vectors": (torch.tensor([[[3.0, 4], [0, 2]]]), torch.tensor([1.0, 2])),
        "D = 8": (3 * WIDE[0] + 1, WIDE[1]),
        "D = 5, T = 4": (NARROW[0] - 2, NARROW[1]),
        "a vector of zeros": (torch.zeros(1, 1, 8), torch.ones(8)),
        "eps = 0.5": (*NARROW, 0.5),
    },
    mistakes={
        "that is layer norm: RMSNorm does not subtract the mean": [
            "F.layer_norm(x, weight.shape, weight, eps=eps)",
            "F.layer_norm(x, weight.shape, weight)",
            *(f"weight * (x - {MEAN}) / {size}" for size in DEVIATIONS),
        ],
        "that is layer norm, and the weight is missing": [
            "F.layer_norm(x, weight.shape, eps=eps)",
            "F.layer_norm(x, weight.shape)",
        ],
        "that is the standard deviation, from which the mean is subtracted; here it is "
        "the mean square": [f"weight * x / {size}" for size in DEVIATIONS],
        "divide by the root of the mean square": ".sqrt() →",
        "the mean of the squares, not their sum": [
            "mean( → sum(",
            "weight * x / x.norm(dim=-1, keepdim=True)",
            "weight * x / (x.norm(dim=-1, keepdim=True) + eps)",
            "weight * F.normalize(x, dim=-1)",
        ],
        "the mean *square*, not the mean of absolute values": [
            "weight * x / x.abs().mean(-1, keepdim=True)",
            "weight * x / (x.abs().mean(-1, keepdim=True) + eps)",
        ],
        "square each number first, then take the mean": [
            ("x.square().mean(-1, keepdim=True) → x.mean(-1, keepdim=True).square()"),
            "x.square() → x",
        ],
        "multiply by the weight": ["weight *  →", "weight *  → 1 / weight * "],
        "multiply by the weight, do not add it": (
            "weight * x / (size + eps).sqrt() → x / (size + eps).sqrt() + weight"
        ),
        "multiply by the weight itself: here 1 is not added to it": (
            "weight * → (1 + weight) *"
        ),
        "multiply by the root? divide by it": "/ (size → * (size",
        "the mean is over the last axis only": [
            "-1, keepdim=True →",
            "mean(-1 → mean((1, 2)",
        ],
        "the mean is over the last axis, not over the positions": "(-1 → (1",
        "add eps, or a vector of zeros gives nan": " + eps →",
        "eps is an argument: take the one that is given": [
            f"+ eps → + {eps}" for eps in (1e-5, 1e-6, 1e-8)
        ],
        "eps belongs under the root, to the mean square": (
            "(size + eps).sqrt() → (size.sqrt() + eps)"
        ),
    },
    hints=(
        "Three steps: the mean of the squares of each vector, the division by its "
        "root, the weight. Which axis is a vector?",
        "`x.square().mean(-1, keepdim=True)` has the shape (B, T, 1).",
    ),
    says="PyTorch's F.rms_norm gives the same",
    difficulty=1,
    importance=2,
    minutes=4,
)
def rms_norm(x, weight, eps=1e-6):
    size = x.square().mean(-1, keepdim=True)  # (B, T, 1)
    return weight * x / (size + eps).sqrt()


def angles(n_positions, d):
    rate = 10000.0 ** (-torch.arange(0, d, 2) / d)  # (d/2,)
    return torch.arange(n_positions)[:, None] * rate  # (T, d/2)


STACK = "torch.stack([first, second], dim=-1).flatten(-2)"
SIDE_BY_SIDE = "torch.cat([first, second], dim=-1)"


@exercise(
    "Turn each pair of neighbours by the angle of its position.",
    cases={
        "three positions, d = 2": [torch.tensor([[[[1.0, 0], [1, 0], [0, 2]]]])],
        "two heads, d = 6": numbers(2, (1, 2, 5, 6)),
        "two sentences, three positions, d = 4": numbers(3, (2, 1, 3, 4)),
        "a single position, which is not turned": numbers(4, (1, 3, 1, 8)),
    },
    mistakes={
        "turned the other way: check the signs": (
            "- b → + b",
            "second = a → second = -a",
        ),
        "the two halves are paired: here pairs are neighbours": [
            (
                "x[..., 0::2], x[..., 1::2] → x.chunk(2, -1)",
                f"{STACK} → {SIDE_BY_SIDE}",
            ),
            (
                "x.size(-1)) → x.size(-1)).repeat_interleave(2, -1)",
                "x[..., 0::2], x[..., 1::2] → x.chunk(2, -1)",
                "a * theta.cos() - b * theta.sin() → x * theta.cos()",
                "a * theta.sin() + b * theta.cos() → torch.cat([-b, a], -1)",
                f"{STACK} → (first + second * theta.sin())",
            ),
        ],
        "right numbers, but all first ones come before all second ones": (
            f"{STACK} → {SIDE_BY_SIDE}"
        ),
        "each number is multiplied by its cosine only": (
            f"{STACK} → (x * theta.cos().repeat_interleave(2, -1))"
        ),
        "each number needs both the cosine and the sine": (
            " - b * theta.sin() →",
            "a * theta.sin() + b * theta.cos() → b * theta.sin()",
        ),
        "both sine terms have a minus: the second one needs a plus": (
            "second = a → second = -a"
        ),
        "both sine terms have a plus: the first one needs a minus": "- b → + b",
        "sine and cosine are exchanged: position 0 must stay as it is": (
            "a * theta.cos() - b * theta.sin() → a * theta.sin() - b * theta.cos()",
            "a * theta.sin() + b * theta.cos() → a * theta.cos() + b * theta.sin()",
        ),
        "first and second are exchanged: position 0 must stay as it is": (
            "[first, second] → [second, first]"
        ),
        "compute both from the old a and b: you used the new first number": (
            "second = a → second = first"
        ),
        "that is chapter 02: angles are added, here they turn": [
            (
                "a * theta.cos() - b * theta.sin() → a + theta.sin()",
                "a * theta.sin() + b * theta.cos() → b + theta.cos()",
            ),
            (
                "a * theta.cos() - b * theta.sin() → a + theta.cos()",
                "a * theta.sin() + b * theta.cos() → b + theta.sin()",
            ),
        ],
        "the T positions are axis −2; axis 1 are the heads": "size(-2) → size(1)",
        "row t is position t: position 0 is not turned": (
            "angles(x.size(-2), x.size(-1)) → angles(x.size(-2) + 1, x.size(-1))[1:]"
        ),
        "the pairs are still apart, (…, d/2, 2): put them in a row, .flatten(-2)": (
            ".flatten(-2) →"
        ),
        "this is the first number of each pair only": f"{STACK} → first",
    },
    hints=(
        "Two lines of the matrix, for all pairs at once: one for every a′, one for "
        "every b′. Then the pairs must be put together again, as neighbours.",
        "`theta = angles(x.size(-2), x.size(-1))` is (T, d/2), as are all a of a head, "
        "`x[..., 0::2]`.",
    ),
    says="each pair is turned",
    difficulty=2,
    importance=3,
    minutes=7,
)
def my_rotate(x):
    theta = angles(x.size(-2), x.size(-1))  # (T, d/2)
    a, b = x[..., 0::2], x[..., 1::2]  # (B, H, T, d/2)
    first = a * theta.cos() - b * theta.sin()
    second = a * theta.sin() + b * theta.cos()
    return torch.stack([first, second], dim=-1).flatten(-2)  # (B, H, T, d)


@exercise(
    "The size of the KV cache of one text, in bytes.",
    cases={
        "two layers, four heads": (2, 4, 16, 10),
        "three layers, one head": (3, 1, 5, 7),
        "a large model": (80, 8, 128, 4096),
    },
    mistakes={
        "half of it: keys *and* values, and 2 bytes for each number": (
            "return 2 * → return"
        ),
        "a quarter of it: keys *and* values, and 2 bytes for each number": (
            lambda *sizes: math.prod(sizes)
        ),
        "each layer has a cache of its own": "n_layers *  →",
        "bytes are asked for, not bits": "n_tokens * 2 → n_tokens * 16",
        "bytes are asked for, not gigabytes": "2  # → 2 / 1e9  #",
        "each head of keys has its own": "n_kv_heads *  →",
        "twice as much: 2 bytes per number, keys and values once each": "2  # → 4  #",
        "keys and values are kept, queries are not": "return 2 → return 3",
        "weights are T × T, but keys and values are T rows": (
            "n_tokens * → n_tokens**2 *"
        ),
        "each key has d_k numbers": "d_k *  →",
        "each token has its key and its value": "n_tokens *  →",
    },
    hints=(
        "A product of six numbers. What is kept twice, and what takes two bytes?",
        "One layer keeps `2 * n_kv_heads * d_k` numbers for each token.",
    ),
    says="keys and values, 2 bytes per number",
    difficulty=1,
    importance=3,
    minutes=3,
)
def cache_bytes(n_layers, n_kv_heads, d_k, n_tokens):
    return 2 * n_layers * n_kv_heads * d_k * n_tokens * 2  # keys and values, 2 bytes
