"""Other answers to the exercise of the deeper page on real French."""

import torch


def counted(margins):
    won = 0
    for i in range(0, len(margins), 2):
        if margins[i] > 0 and margins[i + 1] > 0:
            won += 1
    return won


def rest_later(margins):
    if not margins:
        return 0
    first, second, *rest = margins
    return int(first > 0 < second) + rest_later(rest)


RIGHT = {
    "couples_won": [
        counted,
        rest_later,
        lambda margins: (torch.tensor(margins).view(-1, 2) > 0).all(1).sum(),
    ]
}
WRONG = {
    "couples_won": [
        lambda margins: counted(margins[:4]),
        lambda margins: len(margins) // 2,
        lambda margins: sum(m > 1 for m in margins[::2]),
    ]
}
