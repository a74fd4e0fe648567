"""Other answers to the exercises of chapter 13."""

import numpy as np
import torch


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


def with_numpy(gains, groups, draws):
    gains, groups, draws = (np.asarray(x) for x in (gains, groups, draws))
    total, size = np.bincount(groups, gains), np.bincount(groups)
    return np.percentile(total[draws].sum(1) / size[draws].sum(1), [2.5, 97.5])


def in_a_loop(gains, groups, draws):
    means = []
    for row in draws:
        sample = [gain for g in row for gain in gains[groups == g].tolist()]
        means.append(sum(sample) / len(sample))
    ends = torch.tensor([0.025, 0.975])
    return tuple(torch.quantile(torch.tensor(means), ends).tolist())


def with_pairs(src, tgt):
    rows = range(len(src))

    def r(offset):
        pairs = [(src[i], tgt[i + offset]) for i in rows if i + offset in rows]
        return np.nan_to_num(np.corrcoef(np.array(pairs).T)[0, 1])

    best = max((0, 1, -1, 2, -2), key=r)
    return best if r(best) > 0 else 0


def by_cutting(src, tgt):
    cuts = {0: (src, tgt), 1: (src[:-1], tgt[1:]), -1: (src[1:], tgt[:-1])}
    cuts |= {2: (src[:-2], tgt[2:]), -2: (src[2:], tgt[:-2])}
    values = {o: torch.corrcoef(torch.stack(ab))[0, 1] for o, ab in cuts.items()}
    if torch.isnan(values[0]):
        return 0
    return max(values, key=lambda o: float(values[o].nan_to_num()))


RIGHT = {
    "my_groups": [
        union_find,
        by_search,
    ],
    "my_offset": [
        with_pairs,
        by_cutting,
    ],
    "my_interval": [
        with_numpy,
        in_a_loop,
    ],
}
