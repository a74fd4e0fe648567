"""What chapter 04 says about weights that training made, and what it draws."""

from itertools import combinations
from typing import Any

import torch


def test_the_trained_heads_look_at_different_words(chapter: Any) -> None:
    """Two heads with the same weights differ by 0; with no common word, by 1."""
    translation = chapter.translator("The table was wet and it was very old.")
    heads = translation.attention.encoder[0][0]  # (H, S, S)
    first, second = torch.tensor(list(combinations(range(4), 2))).T
    apart = 0.5 * (heads[first] - heads[second]).abs().sum(-1).mean(-1)  # (pairs,)
    assert apart.min() > 0.3


def test_undivided_scores_let_no_gradient_through(chapter: Any) -> None:
    divided, undivided = (sizes[-1] for sizes in chapter.curves.values())
    assert 0.25 < divided < 0.35 and undivided < 0.001
