"""Other answers to the exercises of chapter 10."""

import math
from collections import Counter

import torch

from nmt_lib.exercises import chapter10


def by_counter(output, reference, n):
    lists = output, reference
    grams = [
        Counter(zip(*(words[i:] for i in range(n)), strict=False)) for words in lists
    ]
    return (grams[0] & grams[1]).total() / grams[0].total()


def joined(output, reference, n):
    lists = output, reference
    o, r = (
        ["\t".join(words[i : i + n]) for i in range(len(words) - n + 1)]
        for words in lists
    )
    return sum(min(o.count(gram), r.count(gram)) for gram in set(o)) / len(o)


def in_place(output, reference, n):
    found = 0
    for i in range(len(output) - n + 1):
        for j in range(len(reference) - n + 1):
            if reference[j : j + n] == output[i : i + n]:
                reference[j : j + n] = [None] * n
                found += 1
                break
    return found / (len(output) - n + 1)


def by_math(counts):
    *k, c, r = counts.tolist()
    logs = [math.log(k[i] / k[i + 4]) / 4 for i in range(4)]
    return 100 * math.exp(min(0, 1 - r / c) + sum(logs))


def by_product(counts):
    c, r = counts[8:]
    p = counts[:4].double() / counts[4:8]
    return 100 * p.prod() ** 0.25 * (1 if c > r else torch.exp(1 - r / c))


def at_once(a, b, draws):
    scores = [[bleu_of(rows) for rows in x[draws].sum(1)] for x in (a, b)]
    wins = torch.tensor(scores[0]) > torch.tensor(scores[1])
    return wins.double().mean()


def by_means(a, b, draws):
    """A mean of the counts gives the same BLEU as their sum."""
    wins = 0
    for rows in draws.tolist():
        first, second = a[rows].double().mean(0), b[rows].double().mean(0)
        wins += bleu_of(first) > bleu_of(second) + 1e-9
    return wins / len(draws)


precision, bleu_of = chapter10.my_precision.right, chapter10.bleu_of
paired = chapter10.my_paired.right

RIGHT = {
    "my_precision": [
        by_counter,
        joined,
        lambda output, reference, n: torch.tensor(by_counter(output, reference, n)),
    ],
    "my_bleu": [by_math, by_product, lambda counts: torch.tensor([by_math(counts)])],
    "my_paired": [at_once, by_means],
}
WRONG = {
    "my_precision": [
        in_place,
        lambda output, reference, n: round(precision(output, reference, n), 1),
        lambda output, reference, n: min(0.4, precision(output, reference, n)),
        lambda output, reference, n: output.index(reference[n]),
        lambda output, reference, n: precision(output[::-1], reference, n),
        lambda output, reference, n: precision(output, reference, 2),
        lambda output, reference, n: (
            sum(a == b for a, b in zip(output, reference, strict=False)) / len(output)
        ),
        lambda output, reference, n: (
            2 * precision(output, reference, n) * precision(reference, output, n)
        ),
    ],
    "my_bleu": [
        lambda counts: round(by_math(counts)),
        lambda counts: by_math(counts) ** 2 / 100,
        lambda counts: min(60, by_math(counts)),
        lambda counts: math.log(counts[:4].sum() / counts[4:8].sum()),
        lambda counts: by_math(counts[:9]),
        lambda counts: 100 * (counts[:4].sum() / counts[4:8].sum()),
    ],
    "my_paired": [
        lambda a, b, draws: paired(a, b, draws[:-1]),
        lambda a, b, draws: paired(a, b, draws) > 0.5,
        lambda a, b, draws: bleu_of(a[draws[0]].sum(0)) / bleu_of(b[draws[0]].sum(0)),
        lambda a, b, draws: bleu_of(a[draws]) > bleu_of(b[draws]),
        lambda a, b, draws: paired(a.flip(0), b, draws),
        lambda a, b, draws: paired(a, b, torch.randint(len(a), draws.shape)),
    ],
}
