"""Other answers to the exercises of the deeper page on large language models."""

import torch
import torch.nn.functional as F

from nmt_lib.exercises.deeper_12 import angles


def by_norm(x, weight, eps=1e-6):
    return weight * x / (x.norm(dim=-1)[..., None] ** 2 / x.size(-1) + eps) ** 0.5


def width_of_8(x, weight, eps=1e-6):
    return weight * x / (x.norm(dim=-1)[..., None] ** 2 / 8 + eps) ** 0.5


def complex_numbers(x):
    theta = angles(x.size(-2), x.size(-1))
    pairs = torch.complex(x[..., 0::2], x[..., 1::2])
    turned = pairs * torch.polar(torch.ones(()), theta)
    return torch.view_as_real(turned).flatten(-2)


def in_place(x):
    theta, y = angles(x.size(-2), x.size(-1)), torch.empty_like(x)
    a, b = x[..., 0::2], x[..., 1::2]
    y[..., 0::2] = a * theta.cos() - b * theta.sin()
    y[..., 1::2] = a * theta.sin() + b * theta.cos()
    return y


def with_a_turned_copy(x):
    theta = angles(x.size(-2), x.size(-1)).repeat_interleave(2, -1)
    other = torch.stack([-x[..., 1::2], x[..., 0::2]], dim=-1).flatten(-2)
    return x * theta.cos() + other * theta.sin()


RIGHT = {
    "rms_norm": [
        by_norm,
        lambda x, weight, eps=1e-6: F.rms_norm(x, weight.shape, weight, eps),
        lambda x, weight, eps=1e-6: (
            x * (x.square().mean(-1, keepdim=True) + eps).rsqrt() * weight
        ),
    ],
    "my_rotate": [complex_numbers, in_place, with_a_turned_copy],
    "cache_bytes": [
        lambda layers, heads, d_k, tokens: 2 * 2 * tokens * d_k * heads * layers,
        lambda *sizes: torch.tensor([4, *sizes]).prod(),
    ],
}
WRONG = {
    "rms_norm": [
        width_of_8,
        lambda x, weight, eps=1e-6: x.softmax(-1) * weight,
        lambda x, weight, eps=1e-6: weight * x / x.square().mean(-1).sqrt(),
        lambda x, weight, eps=1e-6: F.normalize(x, dim=-1) + weight,
    ],
    "my_rotate": [
        lambda x: x,
        lambda x: complex_numbers(complex_numbers(x)),
        lambda x: complex_numbers(x.flip(-2)),
        lambda x: 2 * complex_numbers(x),
    ],
    "cache_bytes": [
        lambda layers, heads, d_k, tokens: 4 * layers * tokens,
        lambda layers, heads, d_k, tokens: 4 * layers * heads * d_k * (tokens - 1),
    ],
}
