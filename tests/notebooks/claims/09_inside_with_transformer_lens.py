"""What the page on TransformerLens says of patches, with room for another processor."""

from typing import Any

import torch

from nmt_book.chapter09.lab import SIDES

TABLE = {  # seed → how far the patched English noun moves the answer, and Le or La
    0: (0.93, 0.02, 2),  # and the head that looks at the noun
    1: (0.04, 0.93, None),
    2: (0.15, 0.42, None),
    3: (0.71, 0.22, 1),
    4: (0.08, 0.92, None),
    5: (0.68, 0.34, 3),
}


def test_patching_takes_the_side_that_the_exchange_takes(chapter: Any) -> None:
    noun, article = chapter.of_encoder[0, 2], chapter.of_decoder[0, 1]
    expected = TABLE.get(chapter.tiny.config.train.seed)
    if expected:
        assert abs(noun - expected[0]) < 0.1 and abs(article - expected[1]) < 0.1
        english, french = SIDES[chapter.tiny.config.train.seed][0]
        assert (noun > article) == (english > french)
        if expected[2] is not None:
            assert all(
                int(g.argmax()) == 4 + expected[2] for g in chapter.panels.values()
            )


def test_the_model_is_sure_of_each_pronoun(chapter: Any) -> None:
    assert chapter.usual["il"].min() > 1 and chapter.usual["elle"].max() < -1


def test_in_our_run_elle_is_what_is_left_without_the_head(chapter: Any) -> None:
    for noun in chapter.pronouns.NOUNS["elle"]:
        scene = chapter.pronouns.scene(chapter.tiny, noun)
        assert chapter.pronouns.p_il(chapter.tiny, scene, scene, closed=(-1, 2)) < 0.1


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
