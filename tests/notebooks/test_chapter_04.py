"""What chapter 04 says about weights that training made, and that it only draws."""

from itertools import combinations

import torch

import nmt_lib as nmt


def test_the_trained_heads_look_at_different_words() -> None:
    """Two heads would look at the same words if their weights differed by 0; at no common word, by 1."""
    translation = nmt.load_or_train("tiny")("The table was wet and it was very old.")
    first, second = torch.tensor(list(combinations(range(4), 2))).T
    heads = translation.attention.encoder[0][0]  # (H, S, S)
    apart = 0.5 * (heads[first] - heads[second]).abs().sum(-1).mean(
        -1
    )  # of each pair of heads
    assert apart.min() > 0.3


def test_a_softmax_of_undivided_scores_lets_no_gradient_through() -> None:
    """The size of the Jacobian diag(w) − w wᵀ of random rows, 16 keys of width 512; in the median."""
    torch.manual_seed(0)
    queries, keys = torch.randn(1000, 1, 512), torch.randn(1000, 16, 512)
    sizes = []
    for divisor in (512**0.5, 1.0):
        weights = (queries @ keys.transpose(1, 2) / divisor).softmax(
            -1
        )  # (1000, 1, 16)
        jacobian = (
            torch.diag_embed(weights[:, 0]) - weights.transpose(1, 2) * weights
        )  # (1000, 16, 16)
        sizes.append(jacobian.norm(dim=(1, 2)).median().item())
    assert 0.25 < sizes[0] < 0.35 and sizes[1] < 0.001
