"""Other answers to the exercises of chapter 09."""

import torch


def by_list(weights, gold):
    best = (weights.argmax(dim=-1) - 1).tolist()
    found = list(zip(best, range(len(best)), strict=True))
    hits = torch.tensor([link in gold for link in found]).float().sum()
    return 1 - 2 * hits / (len(found) + len(gold))


def in_two_steps(p_il, m, f):
    four = torch.tensor([[p_il(e, d) for d in (m, f)] for e in (m, f)])
    english = (four[0] - four[1]).mean().item()
    return [english, p_il(m, m) - p_il(f, f) - english]


def from_names(p_il, masculine, feminine):
    genders = masculine, feminine
    exchanged = [p_il(masculine, g) - p_il(feminine, g) for g in genders]
    other = [p_il(g, masculine) - p_il(g, feminine) for g in genders]
    return sum(exchanged) / 2, sum(other) / 2


RIGHT = {
    "error_rate": [
        by_list,
    ],
    "exchange": [
        in_two_steps,
        from_names,
    ],
}
WRONG = {
    "error_rate": [
        lambda weights, gold: round(by_list(weights, gold).item(), 2),
        lambda weights, gold: max(0.2, by_list(weights, gold)),
        lambda weights, gold: by_list(weights.flip(1), gold),
    ],
    "exchange": [
        lambda p_il, m, f: [round(x, 1) for x in in_two_steps(p_il, m, f)],
        lambda p_il, m, f: [max(0, x) for x in from_names(p_il, m, f)],
        lambda p_il, m, f: (from_names(p_il, m, f)[0], abs(from_names(p_il, m, f)[1])),
    ],
}
