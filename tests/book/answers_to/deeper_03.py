"""Other answers to the exercise of the deeper page on masks."""

import torch


def both_ways(attend, x, hidden):
    def results(where):
        new = x.clone()
        new[where] = torch.rand_like(new[where])
        return attend(new)[~hidden]

    before = attend(x)[~hidden]
    changed = [not torch.allclose(results(w), before) for w in (hidden, ~hidden)]
    return changed == [False, True]


def by_products(attend, x, hidden):
    noise = torch.randn_like(x)
    pads, words = hidden[:, None].float(), (~hidden)[:, None].float()
    off = [
        ((attend(x + noise * m) - attend(x)) * words).abs().max() > 1e-6
        for m in (pads, words)
    ]
    return not off[0] and off[1]


def three_positions(attend, x, hidden):
    other = x.clone()
    other[2] += 1
    same = torch.allclose(attend(other)[:2], attend(x)[:2])
    return same and both_ways(attend, x, hidden)


def means_compared(attend, x, hidden):
    return both_ways(lambda x: attend(x)[~hidden].mean().expand(len(x), 1), x, hidden)


RIGHT = {
    "mask_works": [
        both_ways,
        by_products,
    ]
}
WRONG = {
    "mask_works": [
        three_positions,
        means_compared,
    ]
}
