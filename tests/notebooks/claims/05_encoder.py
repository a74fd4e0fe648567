"""What chapter 05 draws of twelve layers with random weights; ranges of 45 seeds."""

from typing import Any

import pytest


def last(table: Any, name: str) -> list[float]:
    """After the last layer, for each of five seeds."""
    return [run[-1] for run in table[name]]


def test_sub_layers_collapse_with_and_without_a_norm(chapter: Any) -> None:
    for name in ("sub-layers only", "norm only"):
        for table in (chapter.shares, chapter.halved):
            assert max(last(table, name)) < 1e-5
    assert max(run[3] for run in chapter.shares["sub-layers only"]) < 1e-5


def test_pre_ln_keeps_words_apart_and_post_ln_a_few_hundredths(chapter: Any) -> None:
    post, pre = (last(chapter.shares, name) for name in ("post-LN", "pre-LN"))
    assert min(post) > 0.005 and max(post) < 0.1
    summed = last(chapter.shares, "sum only")  # 47 of 50 seeds
    assert sum(map(float.__lt__, post, summed)) >= 3
    assert min(pre) > 0.25 and max(pre) < 0.6 and 0.33 < sum(pre) / 5 < 0.5


def test_with_weights_half_as_large_both_orders_keep_as_much(chapter: Any) -> None:
    post, pre = (last(chapter.halved, name) for name in ("post-LN", "pre-LN"))
    assert min(post + pre) > 0.6 and 0.95 < sum(post) / sum(pre) < 1.05


def test_only_in_pre_ln_late_layers_change_less(chapter: Any) -> None:
    post, pre = chapter.by_layer["post-LN"], chapter.by_layer["pre-LN"]  # (5, 12) each
    # 155 seeds: 0.69 to 1.40, on average over five 0.90 to 1.20; pre-LN 0.31 to 0.70
    assert 0.8 < post[:, 11].mean() / post[:, 0].mean() < 1.3
    assert (pre[:, 11] < 0.8 * pre[:, 0]).all()


def test_the_sum_explodes_and_the_norms_bound_the_length(chapter: Any) -> None:
    lengths = chapter.lengths
    assert max(last(lengths, "sub-layers only")) < 0.05
    assert min(last(lengths, "sum only")) > 500
    tripled = sum(run[-1] / run[0] for run in lengths["pre-LN"]) / 5
    assert 2.4 < tripled < 3.5  # 50 seeds: 2.2 to 3.4, on average 2.7 to 3.2
    assert last(lengths, "post-LN") == pytest.approx(5 * [8], abs=0.01)


def test_with_a_norm_the_gradient_stays_within_a_factor_of_ten(chapter: Any) -> None:
    """100 draws: 0.085 to 4; with the sum only 900 to 18 million."""
    for name in ("post-LN", "pre-LN"):
        sizes = chapter.arrived[name]  # (5, 13)
        assert sizes.min() > 0.05 and sizes.max() < 10
    assert chapter.arrived["sub-layers only"][:, 0].max() < 0.002
    assert chapter.arrived["sum only"][:, 0].median() > 300
