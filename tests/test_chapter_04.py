"""What chapter 04 says about weights that training made, and that it only draws."""

from itertools import combinations

import torch

import nmt_lib as nmt


def test_the_trained_heads_look_at_different_words() -> None:
    """Two heads would look at the same words if their weights differed by 0; at no common word, by 1."""
    translation = nmt.load_or_train("tiny")("The table was wet and it was very old.")
    first, second = torch.tensor(list(combinations(range(4), 2))).T
    heads = translation.attention.encoder[0][0]  # (H, S, S)
    apart = 0.5 * (heads[first] - heads[second]).abs().sum(-1).mean(-1)  # of each pair of heads
    assert apart.min() > 0.3
