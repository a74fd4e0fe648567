"""Other answers to the exercises of chapter 01."""

from functools import reduce
from itertools import pairwise

import torch

import nmt_lib as nmt
from nmt_lib.exercises.chapter01 import merge


def by_loop(words, stoi):
    ids = [2]
    for word in words:
        index = stoi.get(word, 1)
        ids.append(1 if index in (0, 1, 2, 3) else index)
    return torch.tensor([*ids, 3])


def appended(subwords, pair):
    merged = []
    for part in subwords:
        if merged and (merged[-1], part) == pair:
            merged[-1] += part
        else:
            merged.append(part)
    return merged


def recursive(subwords, pair):
    if subwords[:2] == pair:
        return ("".join(pair), *recursive(subwords[2:], pair))
    return subwords[:1] + recursive(subwords[1:], pair) if subwords else ()


def by_rank(word, merges):
    parts = list("▁" + word)
    while found := [pair for pair in pairwise(parts) if pair in merges]:
        parts = list(merge(parts, min(found, key=merges.index)))
    return parts


RIGHT = {
    "my_encode": [
        by_loop,
        lambda words, stoi: (
            2,
            *(1 if w in nmt.SPECIALS else stoi.get(w, 1) for w in words),
            3,
        ),
        lambda words, stoi: (n for n in by_loop(words, stoi)),
    ],
    "my_merge": [
        appended,
        recursive,
        lambda subwords, pair: (
            "".join(f" {s} " for s in subwords)
            .replace(" {}  {} ".format(*pair), " {}{} ".format(*pair))
            .split()
        ),
    ],
    "my_cut": [
        by_rank,
        lambda word, merges: reduce(merge, merges, ("▁", *word)),
        lambda word, merges: (s for s in by_rank(word, merges)),
    ],
}
WRONG = {
    "my_encode": [
        lambda words, stoi: [2, *({"a": 4, "dog": 5}.get(w, 1) for w in words), 3],
        lambda words, stoi: [2, *(1 if w[:1] == "<" else stoi[w] for w in words), 3],
        lambda words, stoi: [2, *sorted(by_loop(words, stoi).tolist()[1:-1]), 3],
        lambda words, stoi: " ".join(map(str, by_loop(words, stoi).tolist())),
        lambda words, stoi: [2, 4, 1, 5, 3],
    ],
    "my_merge": [
        lambda subwords, pair: tuple("".join(subwords).replace("".join(pair), "*")),
        lambda subwords, pair: appended(subwords[::-1], pair[::-1])[::-1],
        lambda subwords, pair: appended(subwords, pair)[1:],
        lambda subwords, pair: subwords.remove(pair),
    ],
    "my_cut": [
        lambda word, merges: reduce(merge, merges[:6:2], ("▁", *word)),
        lambda word, merges: reduce(merge, merges[:6], ("▁", *word)),
        lambda word, merges: reduce(merge, merges, ("▁", *word.lower())),
        lambda word, merges: by_rank(word, merges)[1:],
        lambda word, merges: merge(tuple("▁" + word), merges),
        lambda word, merges: [f"▁{word}"],
    ],
}
