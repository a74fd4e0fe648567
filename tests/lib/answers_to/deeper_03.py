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


def by_index(attend, x, hidden):
    words = [i for i, pad in enumerate(hidden.tolist()) if not pad]

    def differs(rows):
        other = x.clone()
        for i in rows:
            other[i] = torch.randn(x.size(1))
        return (attend(other)[words] != attend(x)[words]).any()

    return bool(differs(words)) and not differs(set(range(len(x))) - {*words})


def a_table(attend, x, hidden):
    other = x.clone()
    other[hidden] += 1
    return attend(other)[~hidden] == attend(x)[~hidden]


def means_compared(attend, x, hidden):
    return both_ways(lambda x: attend(x)[~hidden].mean().expand(len(x), 1), x, hidden)


def three_positions(attend, x, hidden):
    other = x.clone()
    other[2] += 1
    same = torch.allclose(attend(other)[:2], attend(x)[:2])
    return same and both_ways(attend, x, hidden)


RIGHT = {"mask_works": [both_ways, by_products, by_index]}
WRONG = {
    "mask_works": [
        a_table,
        means_compared,
        three_positions,
        lambda attend, x, hidden: "yes",
    ]
}
