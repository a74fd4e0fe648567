"""Other answers to the exercises of chapter 10."""

import math
from collections import Counter

import torch

from nmt_book.chapter10 import check as chapter10


def by_counter(output, reference, n):
    lists = output, reference
    grams = [
        Counter(zip(*(words[i:] for i in range(n)), strict=False)) for words in lists
    ]
    return (grams[0] & grams[1]).total() / grams[0].total()


def by_math(counts):
    *k, c, r = counts.tolist()
    logs = [math.log(k[i] / k[i + 4]) / 4 for i in range(4)]
    return 100 * math.exp(min(0, 1 - r / c) + sum(logs))


def at_once(a, b, draws):
    scores = [[bleu_of(rows) for rows in x[draws].sum(1)] for x in (a, b)]
    wins = torch.tensor(scores[0]) > torch.tensor(scores[1])
    return wins.double().mean()


bleu_of = chapter10.bleu_of

RIGHT = {
    "my_precision": [
        by_counter,
        lambda output, reference, n: torch.tensor(by_counter(output, reference, n)),
    ],
    "my_bleu": [
        by_math,
    ],
    "my_paired": [
        at_once,
    ],
}
WRONG = {
    "my_bleu": [
        lambda counts: round(by_math(counts)),
        lambda counts: min(60, by_math(counts)),
    ],
}
