"""Whether two values are equal, and where they differ, in words."""

from __future__ import annotations

import math
from collections.abc import Iterator, KeysView, Mapping, Sequence, ValuesView
from typing import Any

import torch
from torch import Tensor

LINE = 100  # longer lists are not shown whole


def same(given: Any, expected: Any) -> bool:
    """Whether two answers are equal: kind, shape, and each number to 1e-4.

    A whole number is expected exactly. Lists, tuples, NumPy and generators may stand
    for each other and for tensors.
    """
    given = listed(given)
    if isinstance(expected, Tensor):
        tensor = as_tensor(given)
        if tensor is None or tensor.shape != expected.shape:
            return False
        if (tensor.dtype == torch.bool) != (expected.dtype == torch.bool):
            return False
        return bool(_close(tensor, expected).all())
    if isinstance(expected, Mapping):
        if not isinstance(given, Mapping) or set(given) != set(expected):
            return False
        return all(same(given[key], value) for key, value in expected.items())
    if isinstance(expected, Sequence) and not isinstance(expected, str):
        given = given.tolist() if hasattr(given, "tolist") else given
        if not isinstance(given, Sequence) or isinstance(given, str):
            return False
        return len(given) == len(expected) and all(map(same, given, expected))
    if isinstance(expected, float | int) and not isinstance(expected, bool):
        if isinstance(given, bool | str):
            return False
        try:
            if isinstance(expected, int):
                return float(given) == expected
            close = math.isclose(float(given), expected, rel_tol=1e-4, abs_tol=1e-4)
            return close or (math.isnan(expected) and math.isnan(float(given)))
        except (TypeError, ValueError, RuntimeError, OverflowError):
            return False
    try:
        return bool(given == expected)
    except (TypeError, ValueError, RuntimeError):  # an array has no single truth
        return False


def listed(value: Any) -> Any:
    """A generator, or what else can be read only once, as a list."""
    return list(value) if isinstance(value, Iterator | KeysView | ValuesView) else value


def difference(given: Any, expected: Any) -> str:
    """Expected and got; of what is long, the first part that differs."""
    given = listed(given)
    if isinstance(expected, Tensor):
        tensor = as_tensor(given)
        if tensor is not None:
            return _tensor_difference(tensor, expected)
    both = _both(expected, given)
    several = isinstance(expected, list | tuple) and isinstance(given, list | tuple)
    if several and len(given) == len(expected) and len(both) > LINE:
        pairs = zip(given, expected, strict=True)
        return difference(*next(pair for pair in pairs if not same(*pair)))
    if len(both) > 3 * LINE:
        return f"expected {_kind(expected)}, got {_kind(given)}"
    return both


def show(value: Any) -> str:
    """A value with few digits."""
    if isinstance(value, Tensor):
        value = value.tolist()
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list | tuple):
        ends = "()" if isinstance(value, tuple) else "[]"
        parts = (repr(v) if isinstance(v, str) else show(v) for v in value)
        comma = "," if ends == "()" and len(value) == 1 else ""
        return ends[0] + ", ".join(parts) + comma + ends[1]
    return value if isinstance(value, str) else getattr(value, "__name__", repr(value))


def as_tensor(value: Any) -> Tensor | None:
    """Also of lists of tensors, and of lists of such lists."""
    if isinstance(value, list | tuple) and any(
        isinstance(part, Tensor | list | tuple) for part in value
    ):
        parts = [as_tensor(part) for part in value]
        try:
            return torch.stack([part for part in parts if part is not None])
        except RuntimeError:  # rows of unequal length
            return None
    try:
        return torch.as_tensor(value).detach().cpu()
    except (TypeError, ValueError, RuntimeError):
        return None


def _close(given: Tensor, expected: Tensor) -> Tensor:
    half = given.dtype in (torch.float16, torch.bfloat16)
    exact = given.double(), expected.detach().cpu().double()
    return torch.isclose(*exact, rtol=1e-5, atol=1e-2 if half else 1e-4, equal_nan=True)


def _tensor_difference(given: Tensor, expected: Tensor) -> str:
    if given.shape != expected.shape:
        shapes = tuple(expected.shape), tuple(given.shape)
        return f"expected the shape {shapes[0]}, got {shapes[1]}"
    if (given.dtype == torch.bool) != (expected.dtype == torch.bool):
        return f"expected {expected.dtype}, got {given.dtype}"
    both = _both(expected, given)
    wrong = ~_close(given, expected)
    if given.isnan().any() and not expected.isnan().any():
        both += ": nan comes from 0 / 0, from ∞ − ∞ or from ∞ / ∞"
    elif len(both) > LINE:
        at = tuple(wrong.nonzero()[0].tolist())
        both = _both(expected[at].item(), given[at].item(), f" at {list(at)}")
        both += f"; {int(wrong.sum())} of {wrong.numel()} numbers differ"
    return both


def _both(expected: Any, given: Any, where: str = "") -> str:
    """With few digits, or with all where few show no difference."""
    one, other = show(expected), show(given)
    if one == other:
        one, other = repr(expected), repr(given)
    return f"expected {one}{where}, got {other}"


def _kind(value: Any) -> str:
    """What is too long to be shown."""
    length = f" of {len(value)}" if isinstance(value, list | tuple) else ""
    return f"a {type(value).__name__}{length}"
