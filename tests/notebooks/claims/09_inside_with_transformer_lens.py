"""What the page on TransformerLens says of patches, with room for another processor."""

from typing import Any

import torch


def test_in_our_run_the_gender_stays_with_the_noun(chapter: Any) -> None:
    assert chapter.of_encoder[:, 2].min() > 0.8
    rest = torch.cat([chapter.of_encoder[:, :2], chapter.of_encoder[:, 3:]], 1)
    assert rest.abs().max() < 0.1 and chapter.of_decoder[:2].abs().max() < 0.15


def test_the_last_cell_decides(chapter: Any) -> None:
    assert abs(float(chapter.of_decoder[-1, -1]) - 1) < 1e-4
    assert chapter.of_decoder[-1, :-1].abs().max() < 1e-4


def test_in_our_run_one_head_carries_it_in_both_directions(chapter: Any) -> None:
    for grid in chapter.panels.values():
        assert grid.argmax() == 6 and grid[1, 2] > 0.7
        others = torch.cat([grid.flatten()[:6], grid.flatten()[7:]])
        assert others.abs().max() < 0.15
