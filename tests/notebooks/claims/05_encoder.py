"""What chapter 05 draws of twelve layers, with random weights."""

from typing import Any

import pytest


def test_only_sum_and_norm_together_keep_words_apart_and_lengths_bounded(
    chapter: Any,
) -> None:
    shares, lengths = chapter.curves.values()
    for name in ("sub-layers only", "norm only"):
        assert shares[name][4] < 1e-6
    for name in ("sum only", "sum and norm"):
        assert shares[name][4] > 0.3
    assert lengths["sub-layers only"][12] < 0.01
    assert 1_000 < lengths["sum only"][12] < 10_000
    assert lengths["sum and norm"][12] == pytest.approx(8, abs=0.01)
