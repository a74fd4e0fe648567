"""What the page on language models says of models that it trains for one pass."""

from typing import Any


def test_the_gate_learns_fastest_and_added_sines_are_no_help_yet(chapter: Any) -> None:
    losses = dict(chapter.losses)
    first = losses.pop("pre-LN")
    assert losses["gated"] < first - 0.15
    assert losses["gated"] == min(losses.values())
    assert max(losses["rotary"], losses["no positions"]) < first + 0.05
    assert min(losses["RMSNorm"], losses["one group"]) > first - 0.05
    assert all(abs(loss - first) < 0.6 for loss in losses.values())
