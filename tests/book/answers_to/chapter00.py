"""Other answers to the exercises of chapter 00."""

import math

import torch

from nmt_book.chapter00.check import known, tokenizer


def tokens(text):
    return tokenizer.tokenize(text)


RIGHT = {
    "unknown_words": [
        lambda text: filter(lambda token: token not in known, tokens(text)),
        lambda text: tuple(
            dict(enumerate(t for t in tokens(text) if t not in known)).values()
        ),
    ],
    "next_word": [
        lambda z: z[:, -1].softmax(-1).max(-1)[::-1],
        lambda z: (
            z[0][-1].topk(1)[1].item(),
            (z[0, -1].max().exp() / z[0, -1].exp().sum()).numpy(),
        ),
    ],
    "sentence_probability": [
        math.prod,
        lambda steps: torch.tensor(steps).prod(),
    ],
}
WRONG = {
    "next_word": [
        lambda z: (z[0, 2].argmax(), z[0, 2].softmax(-1).max()),
    ],
    "sentence_probability": [
        lambda steps: math.prod(steps[:4]),
        lambda steps: 0.63,
    ],
}
