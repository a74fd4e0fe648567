"""Public checks of the assignments: ``from nmt_course.check import a1 as check``, then ``check.tokenize(tokenize, …)``.

They need neither nbgrader nor a teacher: each runs one small example, and says the first thing that is wrong: what,
where, what to do. They are not the whole test, and they hold no solution. One file an assignment; what all of them
share stands here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


class Hint(AssertionError):
    """A wrong answer, in one sentence. Jupyter shows the sentence alone, without the way it came."""

    def _render_traceback_(self) -> list[str]:
        return [f"Hint: {self}"]


def expect(condition: Any, hint: str) -> None:
    """Like ``assert``, for checks and hidden tests.

    Raises:
        Hint: the condition is false.
    """
    if not condition:
        raise Hint(hint)


def ask(function: Any, *args: Any, **kwargs: Any) -> Any:
    """The result of a student's function.

    Raises:
        Hint: it is not written yet, raises an error, or returns nothing.
    """
    name = getattr(function, "__name__", "the layer")
    try:
        result = function(*args, **kwargs)
    except NotImplementedError:
        raise Hint("this answer is not written yet: fill in its cell, run that cell, then this one again") from None
    except Exception as error:
        shown = ", ".join([_short(a) for a in args] + [f"{k}={_short(v)}" for k, v in kwargs.items()])
        raise Hint(f"{name}({shown[:200]}) raises {type(error).__name__}: {error}") from error
    expect(result is not None, f"{name} returns None: is a return missing?")
    return result


def _short(argument: Any) -> str:
    """A tensor by its shape, a function or layer by its name, everything else as Python writes it."""
    if callable(argument):
        return str(getattr(argument, "__name__", "the layer"))
    if hasattr(argument, "shape") and hasattr(argument, "dtype"):
        return f"a {type(argument).__name__.lower()} {tuple(argument.shape)}"
    if isinstance(argument, (list, tuple)) and any(hasattr(item, "shape") for item in argument):
        return f"[{', '.join(map(_short, argument))}]"
    if isinstance(argument, dict) and any(hasattr(item, "shape") for item in argument.values()):
        return f"a dictionary of {len(argument)}"
    return repr(argument)


def between(value: Any, low: float, high: float, name: str) -> None:
    """A number that the student gives as an answer."""
    expect(value is not None, f"{name} is not written yet: give its value in the cell above, and run that cell")
    expect(isinstance(value, (int, float)) and not isinstance(value, bool), f"{name} is {value!r}, which is no number")
    expect(low <= value <= high, f"{name} is {value}, but it lies between {low} and {high}")
    done(name)


def done(what: str) -> None:
    """Says that a check has found nothing wrong."""
    print(f"{what}: nothing wrong so far (hidden tests look at more)")


def beside_answer(function: F) -> F:
    """Marks a helper that must run in the process of the student's objects: it may back-propagate through them.

    In a notebook, and under nbgrader, it runs as it stands. ``make grade`` keeps answers in another process than the
    tests; there the call travels to them, and the result, plain numbers and tensors, travels back.
    """

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        away = next((a for a in args if hasattr(a, "beside")), None)
        return function(*args, **kwargs) if away is None else away.beside(function, args, kwargs)

    return call  # type: ignore[return-value]
