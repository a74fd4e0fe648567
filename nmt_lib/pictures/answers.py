"""Feedback on a reader's answers and guesses, one line each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..exercises.values import difference, same, show


def check_answer(
    answer: Callable[[], Any],
    expected: Any,
    mistakes: Mapping[str, Any] | None = None,
    right: str = "the library gives the same",
) -> None:
    """Prints whether ``answer()`` equals ``expected``, or which mistake it equals.

    ``mistakes`` maps a sentence to the value that the mistake gives. Values are
    tensors, numbers, texts, or sequences of these; with several cases in a sequence, a
    mistake is named only if all of its cases match. An answer that matches nothing is
    shown.
    """
    try:
        given = answer()
    except Exception as error:  # the reader's own code
        print(f"not yet: it raises {type(error).__name__}: {error}")
        return
    if given is None or _all_none(given):
        print("not written yet, or nothing is returned: it gives None")
    elif same(given, expected):
        print(f"right: {right}")
    else:
        for why, value in (mistakes or {}).items():
            if same(given, value):
                print(f"not yet: {why}")
                return
        print(f"not yet: {difference(given, expected)}")


def compare_guess(guess: Any, measured: Any, unit: str = "") -> None:
    """Prints what was measured beside the reader's guess; None is no guess."""
    said = f"measured: {show(measured)}{unit}"
    print(said if guess is None else f"{said}   your guess: {show(guess)}{unit}")


def _all_none(given: Any) -> bool:
    several = isinstance(given, list | tuple) and len(given) > 0
    return several and all(part is None for part in given)
