"""Other answers to the exercises of the deeper page on more pairs."""

from itertools import accumulate


def by_minima(losses, patience):
    lowest = list(accumulate(losses, min))
    for last in range(len(losses)):
        best = losses.index(lowest[last])
        if last - best >= patience:
            return [best, last]
    return [losses.index(lowest[-1]), len(losses) - 1]


def in_a_loop(real, sources, targets, tag):
    pairs = list(real)
    for i, target in enumerate(targets):
        if not sources[i].isspace() and sources[i]:
            pairs.append((f"{tag}{sources[i]}", target))
    return pairs


RIGHT = {"my_stop": [by_minima], "mix": [in_a_loop]}
