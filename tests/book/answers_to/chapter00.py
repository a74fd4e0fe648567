"""Other answers to the exercises of chapter 00."""

import math

from nmt_book.chapter00.check import known, tokenizer


def tokens(text):
    return tokenizer.tokenize(text)


RIGHT = {
    "unknown_words": [
        lambda text: filter(lambda token: token not in known, tokens(text)),
    ],
    "next_word": [
        lambda z: z[:, -1].softmax(-1).max(-1)[::-1],
    ],
    "sentence_probability": [
        math.prod,
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
