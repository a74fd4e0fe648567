"""Other answers to the exercises of the deeper page on large language models."""

import torch
import torch.nn.functional as F

from nmt_book.deeper_12.check import angles


def complex_numbers(x):
    theta = angles(x.size(-2), x.size(-1))
    pairs = torch.complex(x[..., 0::2], x[..., 1::2])
    turned = pairs * torch.polar(torch.ones(()), theta)
    return torch.view_as_real(turned).flatten(-2)


RIGHT = {
    "rms_norm": [
        lambda x, weight, eps=1e-6: F.rms_norm(x, weight.shape, weight, eps),
    ],
    "my_rotate": [
        complex_numbers,
    ],
    "cache_bytes": [
        lambda layers, heads, d_k, tokens: 2 * 2 * tokens * d_k * heads * layers,
    ],
}
WRONG = {
    "cache_bytes": [
        lambda layers, heads, d_k, tokens: 4 * layers * heads * d_k * (tokens - 1),
    ],
}
