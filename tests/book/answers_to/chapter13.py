"""Other answers to the exercises of chapter 13."""

import numpy as np


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


def with_numpy(gains, groups, draws):
    gains, groups, draws = (np.asarray(x) for x in (gains, groups, draws))
    total, size = np.bincount(groups, gains), np.bincount(groups)
    return np.percentile(total[draws].sum(1) / size[draws].sum(1), [2.5, 97.5])


def with_pairs(src, tgt):
    rows = range(len(src))

    def r(offset):
        pairs = [(src[i], tgt[i + offset]) for i in rows if i + offset in rows]
        return np.nan_to_num(np.corrcoef(np.array(pairs).T)[0, 1])

    best = max((0, 1, -1, 2, -2), key=r)
    return best if r(best) > 0 else 0


RIGHT = {
    "my_groups": [
        union_find,
    ],
    "my_offset": [
        with_pairs,
    ],
    "my_interval": [
        with_numpy,
    ],
}
