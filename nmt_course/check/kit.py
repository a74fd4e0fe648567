"""What the checks share: asking an answer, comparing what it gives with what is right,
and saying what is wrong."""

from __future__ import annotations

import contextlib
import copy
import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from numbers import Real
from typing import Any, TypeVar

import torch
from torch import Tensor

F = TypeVar("F", bound=Callable[..., Any])
CUT = (
    ".detach(), .data, .item(), .numpy(), torch.tensor(…) and torch.no_grad() cut "
    "its way"
)


quiet = False  # while hidden tests run: messages hold nothing that an answer gave


class Hint(AssertionError):
    """A wrong answer, in one sentence. Jupyter shows the sentence alone, without the
    way it came."""

    def _render_traceback_(self) -> list[str]:
        return [f"Hint: {self}"]


def expect(condition: Any, hint: str) -> None:
    """Like ``assert``, for checks and hidden tests."""
    if not condition:
        raise Hint(hint)


def done(what: str) -> None:
    print(f"{what}: nothing wrong so far (hidden tests look at more)")


def ask(function: Any, *args: Any, **kwargs: Any) -> Any:
    """The result of a student's function; a hint if it is not written yet, raises an
    error, or returns nothing."""
    name = name_of(function)
    try:
        standard(function)
        with usual():
            result = function(*args, **kwargs)
    except NotImplementedError:
        raise Hint(
            "this answer is not written yet: fill in its cell, run that cell, "
            "then this one again"
        ) from None
    except Exception as error:
        given = ", ".join(
            [_short(a) for a in args] + [f"{k}={_short(v)}" for k, v in kwargs.items()]
        )
        given = (
            given[:200] if _away(function, *args) is None else "…"
        )  # while grading: hidden tests ask, too
        raise Hint(f"{name}({given}) raises {type(error).__name__}: {error}") from error
    expect(result is not None, f"{name} returns None: is a return missing?")
    return result


def name_of(function: Any) -> str:
    return str(getattr(function, "__name__", "the layer"))


def _short(argument: Any) -> str:
    """A tensor by its shape, a function or layer by its name, everything else as Python
    writes it."""
    if isinstance(argument, Tensor):
        return f"a tensor {tuple(argument.shape)}"
    said = name_of(argument) if callable(argument) else repr(argument)
    return f"a {type(argument).__name__} of tensors" if "tensor(" in said else said


def _away(*things: Any) -> Any:
    """The first of these that lives in another process, if any."""
    return next((thing for thing in things if hasattr(thing, "beside")), None)


def beside_answer(function: F) -> F:
    """Marks a helper that must run in the process of the student's objects: it may
    back-propagate through them.

    In a notebook, and under nbgrader, it runs as it stands. ``make grade`` keeps
    answers in another process than the
    tests: what stands for them here has a method ``beside``, by which the call travels
    to them, and its result, plain
    numbers and tensors, travels back.
    """

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        away = _away(*args)
        return (
            function(*args, **kwargs)
            if away is None
            else away.beside(function, args, kwargs)
        )

    return call  # type: ignore[return-value]


@contextlib.contextmanager
def usual() -> Iterator[None]:
    """A notebook that has chosen another default type is checked with float32, and
    keeps its choice."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float32)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


def standard(function: Any) -> None:
    """The same in the process of the answer, where it stays so: all that is checked
    there comes after this."""
    if _away(function) is not None:
        _standard(function)


@beside_answer
def _standard(function: Any) -> None:
    torch.set_default_dtype(torch.float32)
    torch.set_grad_enabled(True)


def forbid(answer: Any, operators: Iterable[str]) -> None:
    """PyTorch's own operators that an answer must not use, by whatever name it comes to
    them: in the process of the
    answer (not in a notebook, whose checks use them) they are taken away where all
    names meet, in the dispatcher."""
    if _away(answer) is not None:
        _forbid(answer, list(operators))


@beside_answer
def _forbid(answer: Any, operators: list[str]) -> None:
    for name in set(operators) - set(_forbidden):
        _forbidden[name] = torch.library.Library("aten", "IMPL")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it says that there was one before
            _forbidden[name].impl(name, _refuse, "CPU")


def _refuse(*args: Any, **kwargs: Any) -> Any:
    raise ImportError(
        "this operator of PyTorch does what this assignment asks you to write"
    )


_forbidden: dict[str, torch.library.Library] = {}


def spares(function: Any, *args: Any) -> None:
    """A hint if a function changes its arguments."""

    def call() -> list[Any]:
        return _given(function, *copy.deepcopy(args))

    call.__name__ = name_of(function)
    got = ask(call)
    expect(
        _same(got, list(args)),
        f"{name_of(function)} changes its arguments: make a copy of them first",
    )


@beside_answer
def _given(function: Any, *args: Any) -> list[Any]:
    """What the arguments are after the call."""
    result = function(*args)
    if isinstance(result, Iterator):
        list(result)
    return list(args)


@beside_answer
def slopes(
    function: Any, inputs: list[Tensor], toward: Tensor, *others: Any, first: Any = ()
) -> list[Tensor]:
    """How ``(function(*first, *inputs, *others) * toward).sum()`` changes with the
    inputs."""
    leaves = {str(i): x.clone().requires_grad_() for i, x in enumerate(inputs)}
    return list(
        slopes_of(function(*first, *leaves.values(), *others), leaves, toward).values()
    )


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, Tensor):
        return (
            isinstance(other, Tensor) and one.dtype == other.dtype and one.equal(other)
        )
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(
            _same(one[key], other[key]) for key in one
        )
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(_same, one, other))
    plain = isinstance(other, (int, float, str, type(None)))
    return not plain or bool(one == other)  # modules and the like are not looked into


# ------------------------------------------------------------------------- what comes
# back


def near(got: Any, right: Any, within: float = 1e-3) -> bool:
    """Numbers of the same shape that differ by a thousandth at most; for large ones, of
    the largest that is right.

    A plain number on the right stands for a tensor full of it.
    """
    full = isinstance(right, (int, float))
    got, right = (torch.as_tensor(x, dtype=torch.float64) for x in (got, right))
    right = right.expand_as(got) if full else right
    if got.shape != right.shape:
        return False
    return not got.numel() or bool(
        ((got - right).abs() <= within * max(1.0, right.abs().max().item())).all()
    )


def alike(got: Any, right: Any) -> bool:
    """Near, however small all the numbers are: a thousandth is one of the largest."""
    right = torch.as_tensor(right, dtype=torch.float64)
    top = right.abs().max().clamp(min=1e-4)
    return near(torch.as_tensor(got, dtype=torch.float64) / top, right / top)


def match(
    got: Any,
    right: Any,
    shown: str,
    mistakes: Iterable[tuple[Any, str]] = (),
    otherwise: str = "",
    same: Callable[[Any, Any], bool] = near,
) -> None:
    """Nothing happens if ``got`` is right; else the hint is ``shown`` and the usual
    mistake that gives it, or
    ``otherwise``."""
    if not same(got, right):
        known = (hint for wrong, hint in mistakes if same(got, wrong))
        raise Hint(f"{shown}: {next(known, otherwise)}")


def tensor(got: Any, name: str, shape: tuple[int, ...], axes: str = "") -> Tensor:
    """A tensor of this shape, whose axes are called ``axes``."""
    expect(
        isinstance(got, Tensor), f"{name} should be one tensor; here it is {kind(got)}"
    )
    wanted = f"{axes} = {shape}" if axes else f"{shape}"
    expect(got.shape == shape, f"{name} has shape {tuple(got.shape)}, not {wanted}")
    return got  # type: ignore[no-any-return]


def single(got: Tensor) -> Tensor:
    """float64 as float32, where the text leaves the type open."""
    return got.float() if got.dtype == torch.float64 else got


def two_tensors(got: Any, names: str) -> tuple[Tensor, Tensor]:
    two = (
        isinstance(got, (tuple, list))
        and len(got) == 2
        and all(isinstance(item, Tensor) for item in got)
    )
    expect(
        two, f"two tensors come back, {names}, in this order; here it is {kind(got)}"
    )
    return got[0], got[1]


def number(got: Any, name: str) -> float:
    """A plain number, or a tensor that holds one."""
    one = isinstance(got, Real) or (isinstance(got, Tensor) and got.numel() == 1)
    expect(
        one and not isinstance(got, bool),
        f"{name} should be one number; here it is {kind(got)}",
    )
    return float(got)


def between(value: Any, low: float, high: float, name: str) -> None:
    """A number that the student gives as an answer."""
    expect(
        value is not None,
        (
            f"{name} is not written yet: give its value in the cell above, and run "
            "that cell"
        ),
    )
    expect(
        low <= number(value, name) <= high,
        f"{name} is {value}, but it lies between {low} and {high}",
    )
    done(name)


def kind(got: Any) -> str:
    return (
        f"a tensor of shape {tuple(got.shape)}"
        if isinstance(got, Tensor)
        else f"{type(got).__name__}: {got!r}"[:80]
    )


def show(numbers: Tensor) -> str:
    return (
        "["
        + ", ".join(show(row) if row.dim() else f"{row.item():.4g}" for row in numbers)
        + "]"
    )


# ------------------------------------------------------------------------------- layers


def random_numbers(*shape: int) -> Tensor:
    """The same ones each time."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape)))


def state_of(layer: Any) -> dict[str, Tensor]:
    expect(
        hasattr(layer, "state_dict"),
        "this is no nn.Module: class …(nn.Module), and super().__init__() first",
    )
    return dict(layer.state_dict())


def fill(layer: Any, seed: int = 0, only: Iterable[str] = ()) -> dict[str, Tensor]:
    """Gives parameters random numbers, all or those of the named parts, and returns
    these by name."""
    whole, draw = state_of(layer), torch.Generator().manual_seed(seed)
    names = [name for name in whole if not only or name.split(".")[0] in only]
    new = {name: 0.5 * torch.randn(whole[name].shape, generator=draw) for name in names}
    layer.load_state_dict({**whole, **new})
    return new


def linear(x: Tensor, state: dict[str, Tensor], name: str) -> Tensor:
    return torch.nn.functional.linear(
        x, state[f"{name}.weight"], state.get(f"{name}.bias")
    )


def slopes_of(
    out: Any, leaves: dict[str, Tensor], toward: Tensor | None = None
) -> dict[str, Tensor]:
    """How ``(out * toward).sum()`` changes with each leaf; zeros where no gradient
    comes back."""
    none = {name: torch.zeros_like(leaf) for name, leaf in leaves.items()}
    if not isinstance(out, Tensor) or not out.requires_grad:
        return none
    toward = random_numbers(*out.shape) if toward is None else toward
    asked = {name: leaf for name, leaf in leaves.items() if leaf.requires_grad}
    found = torch.autograd.grad(
        (out * toward).sum(), list(asked.values()), allow_unused=True
    )
    return none | {
        name: slope
        for name, slope in zip(asked, found, strict=True)
        if slope is not None
    }
