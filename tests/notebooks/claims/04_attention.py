"""What chapter 04 says about weights that training made, and what it draws."""

from typing import Any

import torch

import nmt_lib as nmt


def best_heads(chapter: Any) -> list[int]:
    """For each route: in how many of 37 sentences its best head looks at the noun."""
    routes = chapter.counts.values()
    return [max(int(head.split(" of ")[0]) for head in heads) for heads in routes]


def test_the_decoder_looks_back_at_the_french_noun(chapter: Any) -> None:
    assert best_heads(chapter)[2] >= 30  # five seeds: 35 to 37


def test_in_our_run_cross_attention_does_too_and_the_encoder_does_not(
    chapter: Any,
) -> None:
    encoder, cross, _ = best_heads(chapter)
    assert encoder < 37 / 2 and cross > 30


def test_undivided_scores_let_little_gradient_through(chapter: Any) -> None:
    for divided, undivided in zip(*chapter.curves.values(), strict=True):
        assert 0.25 < divided[-1] < 0.35
        assert 0.25 < undivided[4] / divided[4] < 0.55  # d_k is 64
        assert undivided[7] / divided[7] < 1 / 200  # d_k is 512


def test_a_wrong_view_leaks_and_two_cut_attention_into_blocks(chapter: Any) -> None:
    def moved(layer: Any, position: int, seed: int) -> list[int]:
        torch.manual_seed(seed)
        text, mask, part = torch.randn(1, 6, 12), nmt.causal_mask(6), layer(12, 3)
        other = text + (torch.arange(6) == position)[None, :, None]
        change = part(other, other, mask) - part(text, text, mask)  # (B, T, D)
        return (change.abs().amax((0, 2)) > 1e-4).nonzero().flatten().tolist()

    for seed in range(5):
        assert moved(chapter.SplitByView, 4, seed) == list(range(6))
        assert moved(chapter.BothByView, 4, seed) == [4, 5]
        assert moved(chapter.BothByView, 0, seed) == [0, 1]
