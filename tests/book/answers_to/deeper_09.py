"""Other answers to the exercise of the deeper page on TransformerLens."""

import torch


def by_where(x, other, at):
    here = torch.zeros(x.size(1), dtype=torch.bool)
    here[at] = True
    return torch.where(here[:, None], other, x)


RIGHT = {
    "patch": [
        by_where,
        lambda x, other, at: x.index_copy(
            1, torch.tensor([at % x.size(1)]), other[:, [at]]
        ),
    ]
}
