"""Other answers to the exercises of chapter 08."""

import torch

from nmt_book.chapter08 import check as chapter08

from .chapter07 import made


def by_tuples(next_log_probs, limit):
    written = ()
    for _ in range(limit):
        token = next_log_probs(written).topk(1).indices
        if token.item() == 3:
            return list(written)
        written += tuple(token.tolist())
    return torch.tensor(written)


def one_table(beam, next_log_probs, K):
    table = torch.stack([total + next_log_probs(ids) for ids, total in beam])
    top, where = table.flatten().topk(2 * K)
    new = [
        ((*beam[i // table.size(1)][0], i % table.size(1)), t)
        for i, t in zip(where.tolist(), top.tolist(), strict=True)
    ]
    ends = [c for c in new if c[0][-1] == 3]
    return [c for c in new if c not in ends][:K], ends


RIGHT = {
    "my_greedy": [
        by_tuples,
        made(chapter08.my_greedy, "break → return written"),
    ],
    "my_beam_step": [
        one_table,
        made(
            chapter08.my_beam_step, "total + log_prob → torch.tensor(total) + log_prob"
        ),
    ],
}
WRONG = {
    "my_greedy": [
        made(
            chapter08.my_greedy,
            "break → continue",
            "while len(written) < limit → for _ in range(limit)",
        ),
    ],
}
