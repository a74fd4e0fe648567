"""Other answers to the exercises of chapter 09."""

import torch


def by_list(weights, gold):
    best = (weights.argmax(dim=-1) - 1).tolist()
    found = list(zip(best, range(len(best)), strict=True))
    hits = torch.tensor([link in gold for link in found]).float().sum()
    return 1 - 2 * hits / (len(found) + len(gold))


def by_half(weights, gold):
    both = 0
    for t in range(weights.size(0)):
        if (weights[t].max(0).indices.item() - 1, t) in gold:
            both = both + 1
    return 1 - both / ((weights.shape[0] + len(gold)) / 2)


def by_einsum(x, attention, h):
    layers = attention.W_q, attention.W_k
    Q, K = (W(x).chunk(attention.n_heads, dim=-1)[h] for W in layers)
    e = (torch.einsum("td,sd->ts", Q, K) * Q.size(-1) ** -0.5).exp()
    return e / e.sum(-1, keepdim=True)


def as_table(weights, gold):
    table = torch.zeros(weights.T.shape)
    for link in gold:
        table[link] = 1
    return table[weights.argmax(-1), torch.arange(len(weights))].mean()


def closed_in_zeros(H, T, S, head, t, s):
    closed = torch.zeros(H, T, S, dtype=torch.bool)
    closed[head][t][s] = True
    return ~closed.unsqueeze(0)


RIGHT = {
    "error_rate": [
        by_list,
        by_half,
    ],
    "head_map": [
        by_einsum,
    ],
    "cut_head": [
        closed_in_zeros,
    ],
    "link_accuracy": [
        as_table,
    ],
}
WRONG = {
    "error_rate": [
        lambda weights, gold: round(by_list(weights, gold).item(), 2),
        lambda weights, gold: max(0.2, by_list(weights, gold)),
        lambda weights, gold: by_list(weights.flip(1), gold),
    ],
}
