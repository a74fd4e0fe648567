"""Other answers to the exercise of the deeper page on real French."""

import torch

RIGHT = {
    "couples_won": [
        lambda margins: (torch.tensor(margins).view(-1, 2) > 0).all(1).sum(),
    ]
}
