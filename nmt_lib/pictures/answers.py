"""Feedback on a reader's answers and guesses, one line each."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

LINE = 100  # longer lists are not shown whole


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
        print(f"not yet: {_first_difference(given, expected)}")


def compare_guess(guess: Any, measured: Any, unit: str = "") -> None:
    """Prints what was measured beside the reader's guess; None is no guess."""
    said = f"measured: {_show(measured)}{unit}"
    print(said if guess is None else f"{said}   your guess: {_show(guess)}{unit}")


def same(given: Any, expected: Any) -> bool:
    """Whether two answers are equal: kind, shape, and each number to 1e-4."""
    if isinstance(expected, Tensor):
        given = _as_tensor(given, expected)
        if given is None or given.shape != expected.shape:
            return False
        if (given.dtype == torch.bool) != (expected.dtype == torch.bool):
            return False
        return torch.allclose(
            given.double(), expected.double(), atol=1e-4, equal_nan=True
        )
    if isinstance(expected, Sequence) and not isinstance(expected, str):
        given = given.tolist() if hasattr(given, "tolist") else given
        if not isinstance(given, Sequence) or isinstance(given, str):
            return False
        return len(given) == len(expected) and all(map(same, given, expected))
    if isinstance(expected, float | int) and not isinstance(expected, bool):
        if isinstance(given, bool | str):
            return False
        try:
            return math.isclose(float(given), expected, rel_tol=1e-4, abs_tol=1e-4)
        except (TypeError, ValueError, RuntimeError):
            return False
    try:
        return bool(given == expected)
    except (TypeError, ValueError, RuntimeError):  # an array has no single truth
        return False


def _as_tensor(given: Any, expected: Tensor) -> Tensor | None:
    try:
        if isinstance(given, list | tuple) and given and isinstance(given[0], Tensor):
            given = torch.stack(list(given))
        return torch.as_tensor(given).detach().to(expected.device)
    except (TypeError, ValueError, RuntimeError):
        return None


def _all_none(given: Any) -> bool:
    several = isinstance(given, list | tuple) and len(given) > 0
    return several and all(part is None for part in given)


def _first_difference(given: Any, expected: Any) -> str:
    """Expected and got; of what is long, the first part that differs."""
    if isinstance(expected, Tensor):
        tensor = _as_tensor(given, expected)
        if tensor is not None:
            return _tensor_difference(tensor, expected)
    both = _both(expected, given)
    several = isinstance(expected, list | tuple) and isinstance(given, list | tuple)
    if several and len(given) == len(expected) and len(both) > LINE:
        pairs = zip(given, expected, strict=True)
        return _first_difference(*next(pair for pair in pairs if not same(*pair)))
    if len(both) > 3 * LINE:
        return f"expected {_kind(expected)}, got {_kind(given)}"
    return both


def _tensor_difference(given: Tensor, expected: Tensor) -> str:
    if given.shape != expected.shape:
        shapes = tuple(expected.shape), tuple(given.shape)
        return f"expected the shape {shapes[0]}, got {shapes[1]}"
    if (given.dtype == torch.bool) != (expected.dtype == torch.bool):
        return f"expected {expected.dtype}, got {given.dtype}"
    both = _both(expected, given)
    if len(both) <= LINE:
        return both
    numbers = given.double(), expected.double()
    equal = torch.isclose(*numbers, atol=1e-4, equal_nan=True)
    at = tuple((~equal).nonzero()[0].tolist())
    return _both(expected[at].item(), given[at].item(), f" at {list(at)}")


def _both(expected: Any, given: Any, where: str = "") -> str:
    """With few digits, or with all where few show no difference."""
    one, other = _show(expected), _show(given)
    if one == other:
        one, other = repr(expected), repr(given)
    return f"expected {one}{where}, got {other}"


def _kind(value: Any) -> str:
    """What is too long to be shown."""
    length = f" of {len(value)}" if isinstance(value, list | tuple) else ""
    return f"a {type(value).__name__}{length}"


def _show(value: Any) -> str:
    """A value with few digits."""
    if isinstance(value, Tensor):
        value = value.tolist()
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list | tuple):
        ends = "()" if isinstance(value, tuple) else "[]"
        parts = (repr(v) if isinstance(v, str) else _show(v) for v in value)
        return ends[0] + ", ".join(parts) + ends[1]
    return value if isinstance(value, str) else repr(value)
