"""Whether two values are equal, and where they differ, in words."""

from __future__ import annotations

import math
from collections.abc import Iterator, KeysView, Mapping, Sequence, ValuesView
from typing import Any

import torch
from torch import Tensor

LINE = 100  # longer lists are not shown whole


def same(actual: Any, expected: Any) -> bool:
    """Whether two answers are equal: kind, shape, and each number to 1e-4.

    A whole number is expected exactly. Lists, tuples, NumPy and generators may stand
    for each other and for tensors.
    """
    actual = as_list(actual)
    if isinstance(expected, Tensor):
        tensor = as_tensor(actual)
        if tensor is None or tensor.shape != expected.shape:
            return False
        if (tensor.dtype == torch.bool) != (expected.dtype == torch.bool):
            return False
        return bool(_close(tensor, expected).all())
    if isinstance(expected, Mapping):
        if not isinstance(actual, Mapping) or set(actual) != set(expected):
            return False
        return all(same(actual[key], value) for key, value in expected.items())
    if isinstance(expected, Sequence) and not isinstance(expected, str):
        actual = actual.tolist() if hasattr(actual, "tolist") else actual
        if not isinstance(actual, Sequence) or isinstance(actual, str):
            return False
        return len(actual) == len(expected) and all(map(same, actual, expected))
    if isinstance(expected, float | int) and not isinstance(expected, bool):
        if isinstance(actual, bool | str):
            return False
        try:
            if isinstance(expected, int):
                return (
                    actual if isinstance(actual, int) else float(actual)
                ) == expected
            close = math.isclose(float(actual), expected, rel_tol=1e-4, abs_tol=1e-4)
            return close or (math.isnan(expected) and math.isnan(float(actual)))
        except (TypeError, ValueError, RuntimeError, OverflowError):
            return False
    try:
        return bool(actual == expected)
    except (TypeError, ValueError, RuntimeError):  # an array has no single truth
        return False


def as_list(value: Any) -> Any:
    """A list of what can be read only once, such as a generator; else the value."""
    return list(value) if isinstance(value, Iterator | KeysView | ValuesView) else value


def difference(actual: Any, expected: Any) -> str:
    """A text "expected …, got …"; of long values, the first part that differs."""
    actual = as_list(actual)
    if isinstance(expected, Tensor):
        tensor = as_tensor(actual)
        if tensor is not None:
            return _tensor_difference(tensor, expected)
    text = _expected_and_got(expected, actual)
    are_lists = isinstance(expected, list | tuple) and isinstance(actual, list | tuple)
    if are_lists and len(actual) == len(expected) and len(text) > LINE:
        pairs = zip(actual, expected, strict=True)
        return difference(*next(pair for pair in pairs if not same(*pair)))
    if len(text) > 3 * LINE:
        return f"expected {_kind(expected)}, got {_kind(actual)}"
    return text


def show(value: Any) -> str:
    """A value as text, with few digits."""
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
    """A tensor from numbers or nested lists, also of tensors; None if impossible."""
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


def _close(actual: Tensor, expected: Tensor) -> Tensor:
    if not expected.is_floating_point():
        return actual == expected.detach().cpu()
    half = actual.dtype in (torch.float16, torch.bfloat16)
    exact = actual.double(), expected.detach().cpu().double()
    return torch.isclose(*exact, rtol=1e-5, atol=1e-2 if half else 1e-4, equal_nan=True)


def _tensor_difference(actual: Tensor, expected: Tensor) -> str:
    if actual.shape != expected.shape:
        shapes = tuple(expected.shape), tuple(actual.shape)
        return f"expected the shape {shapes[0]}, got {shapes[1]}"
    if (actual.dtype == torch.bool) != (expected.dtype == torch.bool):
        return f"expected {expected.dtype}, got {actual.dtype}"
    text = _expected_and_got(expected, actual)
    wrong = ~_close(actual, expected)
    if actual.isnan().any() and not expected.isnan().any():
        text += ": nan comes from 0 / 0, from ∞ − ∞ or from ∞ / ∞"
    elif len(text) > LINE:
        at = tuple(wrong.nonzero()[0].tolist())
        text = _expected_and_got(
            expected[at].item(), actual[at].item(), f" at {list(at)}"
        )
        text += f"; {int(wrong.sum())} of {wrong.numel()} numbers differ"
    return text


def _expected_and_got(expected: Any, actual: Any, where: str = "") -> str:
    """A text "expected …, got …", with all digits if few show no difference."""
    left, right = show(expected), show(actual)
    if left == right:
        left, right = repr(expected), repr(actual)
    return f"expected {left}{where}, got {right}"


def _kind(value: Any) -> str:
    """The type and length of a value that is too long to be shown."""
    length = f" of {len(value)}" if isinstance(value, list | tuple) else ""
    return f"a {type(value).__name__}{length}"
