"""Other answers to the exercise of the deeper page on real French."""

import torch


def rest_later(margins):
    if not margins:
        return 0
    first, second, *rest = margins
    return int(first > 0 < second) + rest_later(rest)


RIGHT = {
    "couples_won": [
        rest_later,
        lambda margins: (torch.tensor(margins).view(-1, 2) > 0).all(1).sum(),
    ]
}
