"""What chapter 04 says about weights that training made, and what it draws."""

from itertools import combinations
from typing import Any

import torch


def test_the_trained_heads_look_at_different_words(chapter: Any) -> None:
    """Two heads with the same weights differ by 0; with no common word, by 1."""
    heads = chapter.translation.attention.encoder[-1][0]  # (H, S, S)
    first, second = torch.tensor(list(combinations(range(4), 2))).T
    apart = 0.5 * (heads[first] - heads[second]).abs().sum(-1).mean(-1)  # (pairs,)
    assert apart.min() > 0.3


def test_the_pronoun_fetches_its_gender_in_the_decoder(chapter: Any) -> None:
    """Which head does it differs from training to training."""
    shown = chapter.translation
    it, elle = shown.src_labels.index("it"), shown.tokens.index("elle")
    assert shown.src_labels[2] == "table" and shown.tokens[:2] == ("La", "table")
    maps = shown.attention
    assert maps.encoder[-1][0, :, it, 2].max() < 0.35
    french = maps.decoder[-1][0, :, elle, 1:3]  # La table
    assert max(maps.cross[-1][0, :, elle, 2].max(), french.max()) > 0.6


def test_undivided_scores_let_little_gradient_through(chapter: Any) -> None:
    divided, undivided = chapter.curves.values()
    assert 0.25 < divided[-1] < 0.35 and undivided[-1] < 0.001
    assert 0.2 < undivided[4] / divided[4] < 0.4  # d_k is 64
