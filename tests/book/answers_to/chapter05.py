"""Other answers to the exercises of chapter 05."""

import torch
import torch.nn.functional as F


def by_matrices(x, W_1, W_2):
    wide = (x @ W_1.weight.T + W_1.bias).clamp(min=0)
    return (wide @ W_2.weight.T + W_2.bias).numpy()


def keywords(part, x, mask):
    attended = part.self_attention(x, memory=x, mask=mask)
    middle = part.norm1(torch.add(attended, x))
    return part.norm2(part.feed_forward(middle) + middle)


def in_a_loop(part, x, mask):
    steps = (lambda h: part.self_attention(h, h, mask)), part.feed_forward
    for step, norm in zip(steps, (part.norm1, part.norm2), strict=True):
        x = norm(x + step(x))
    return x


RIGHT = {
    "feed_forward": [
        by_matrices,
    ],
    "layer_norm": [
        lambda x, gain, bias, eps=1e-5: F.layer_norm(x, gain.shape, gain, bias, eps),
    ],
    "encoder_layer": [
        keywords,
        in_a_loop,
    ],
}
