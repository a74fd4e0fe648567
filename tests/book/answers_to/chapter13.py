"""Other answers to the exercises of chapter 13."""

import numpy as np
import torch


def with_a_dict(pairs):
    tidy = [tuple(" ".join(text.split()) for text in pair) for pair in pairs]
    return list(dict.fromkeys((a, b) for a, b in tidy if a and b and a != b))


def one_by_one(pairs):
    seen = set()
    for src, tgt in pairs:
        src, tgt = " ".join(src.split()), " ".join(tgt.split())
        if not src or not tgt or src == tgt or (src, tgt) in seen:
            continue
        seen.add((src, tgt))
        yield src, tgt


def union_find(sources, targets):
    parent = {}

    def root(x):
        while parent.setdefault(x, x) != x:
            x = parent[x]
        return x

    for src, tgt in zip(sources, targets, strict=True):
        parent[root((1, tgt))] = root((0, src))
    first = {}
    return [first.setdefault(root((0, src)), i) for i, src in enumerate(sources)]


def by_search(sources, targets):
    group = [None] * len(sources)
    for start in range(len(sources)):
        waiting = [start]
        while waiting:
            i = waiting.pop()
            if group[i] is None:
                group[i] = start
                for j in range(len(sources)):
                    if sources[i] == sources[j] or targets[i] == targets[j]:
                        waiting.append(j)
    return group


def with_numpy(a, b, draws):
    gains = (np.asarray(a) - np.asarray(b))[np.asarray(draws)].mean(1)
    return np.percentile(gains, [2.5, 97.5])


def in_a_loop(a, b, draws):
    gains = [float(a[rows].mean() - b[rows].mean()) for rows in draws]
    ends = torch.tensor([0.025, 0.975])
    return tuple(torch.quantile(torch.tensor(gains), ends).tolist())


def cut_off(a, b, draws):
    gains = (a - b)[draws].mean(1).sort().values
    return gains[int(0.025 * len(gains))], gains[int(0.975 * len(gains))]


RIGHT = {
    "my_clean": [
        with_a_dict,
        one_by_one,
    ],
    "my_groups": [
        union_find,
        by_search,
    ],
    "my_interval": [
        with_numpy,
        in_a_loop,
        cut_off,
    ],
}
