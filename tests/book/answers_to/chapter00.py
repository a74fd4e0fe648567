"""Other answers to the exercises of chapter 00."""

import math

RIGHT = {
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
