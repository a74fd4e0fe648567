"""Draws lots: which letter is what in the pictures of the written questions."""

from __future__ import annotations

import random
from typing import Any


def order(seed: Any, letters: Any, *things: Any) -> dict[str, Any]:
    """Draws which letter each thing gets."""
    drawn = random.Random(str(seed)).sample(things, len(things))
    return dict(zip(letters, drawn, strict=False))


def answer(seed: Any, letters: Any, *things: str) -> str:
    """The same in words, for a marking scheme."""
    drawn = order(seed, letters, *things)
    return "; ".join(f"**{letter}**: {thing}" for letter, thing in drawn.items())
