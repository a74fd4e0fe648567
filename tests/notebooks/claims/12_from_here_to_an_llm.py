"""What the page on language models says of models that it trains for one pass."""

from typing import Any


def test_rotations_learn_fastest_and_added_sines_are_no_help_yet(chapter: Any) -> None:
    losses = dict(chapter.losses)
    first = losses.pop("pre-LN")
    assert losses["rotary"] < first - 0.15
    assert losses["rotary"] == min(losses.values())
    assert losses["no positions"] < first
    assert all(abs(loss - first) < 0.6 for loss in losses.values())
