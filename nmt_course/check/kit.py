"""What the checks share: asking an answer, comparing what it gives with what is right,
and saying what is wrong."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from numbers import Real
from typing import Any, TypeVar

import torch
from torch import Tensor

F = TypeVar("F", bound=Callable[..., Any])
CUT = ".detach(), .item(), .numpy(), torch.tensor(…) and torch.no_grad() stop gradients"
FITS = ("size of tensor", "Sizes of tensors", "must match", "cannot be multiplied")
quiet = False  # while hidden tests run: messages hold nothing that an answer gave


class Hint(AssertionError):
    """A wrong answer, in one sentence. Jupyter shows the sentence alone, without the
    traceback."""

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
        _standard(function)
        with float32():
            result = function(*args, **kwargs)
    except NotImplementedError:
        written = "fill in its cell, run that cell, then this one again"
        raise Hint(f"this answer is not written yet: {written}") from None
    except Exception as error:
        given = ", ".join(map(_short, [*args, *kwargs.values()]))[:200]
        given = "…" if quiet else given
        said = f"{type(error).__name__}: {error}"
        if any(text in str(error) for text in FITS):
            said += ". Tensors meet whose shapes do not fit: is an argument or an axis"
            said += " in another's position?"
        raise Hint(f"{name}({given}) raises {said}") from error
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


def beside_answer(function: F) -> F:
    """Marks a helper that must run in the process of the student's objects: it may
    back-propagate through them.

    In a notebook it runs as it is. ``make grade`` keeps answers in another process than
    the tests: what represents them here has a method ``beside``, by which the call
    travels to them, and its result, plain numbers and tensors, travels back.
    """

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        away = next((thing for thing in args if hasattr(thing, "beside")), None)
        if away is None:
            return function(*args, **kwargs)
        return away.beside(function, args, kwargs)

    return call  # type: ignore[return-value]


@contextlib.contextmanager
def float32() -> Iterator[None]:
    """A notebook that has chosen another default type is checked with float32, and
    keeps its choice."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float32)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


def _standard(function: Any) -> None:
    """The same in the process of the answer, where it stays so."""
    if hasattr(function, "beside"):
        _set_standard(function)


@beside_answer
def _set_standard(function: Any) -> None:
    torch.set_default_dtype(torch.float32)
    torch.set_grad_enabled(True)


def spares(function: Any, *args: Any) -> None:
    """A hint if a function changes its arguments."""

    def call() -> list[Any]:
        return _given(function, *copy.deepcopy(args))

    call.__name__ = name_of(function)
    got, copied = ask(call), "make a copy of them first"
    hint = f"{name_of(function)} changes its arguments: {copied}"
    expect(_same(got, list(args)), hint)


@beside_answer
def _given(function: Any, *args: Any) -> list[Any]:
    """What the arguments are after the call."""
    result = function(*args)
    if isinstance(result, Iterator):
        list(result)
    return list(args)


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, Tensor):
        same = isinstance(other, Tensor) and one.dtype == other.dtype
        return same and one.equal(other)
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_same(one[k], other[k]) for k in one)
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(_same, one, other))
    plain = isinstance(other, (int, float, str, type(None)))
    return not plain or bool(one == other)  # modules are not looked into


@beside_answer
def slopes(
    function: Any, inputs: list[Tensor], toward: Tensor, *others: Any, first: Any = ()
) -> list[Tensor]:
    """How ``(function(*first, *inputs, *others) * toward).sum()`` changes with the
    inputs."""
    leaves = {str(i): x.clone().requires_grad_() for i, x in enumerate(inputs)}
    out = function(*first, *leaves.values(), *others)
    return list(slopes_of(out, leaves, toward).values())


# ------------------------------------------------------------------------ what comes
# back


def near(got: Any, right: Any, within: float = 1e-3) -> bool:
    """Numbers of the same shape that differ by a thousandth at most; for large ones, of
    the largest that is right.

    A plain number on the right means a tensor full of it.
    """
    full = isinstance(right, (int, float))
    got, right = (torch.as_tensor(x, dtype=torch.float64) for x in (got, right))
    right = right.expand_as(got) if full else right
    if got.shape != right.shape:
        return False
    scale = max(1.0, right.abs().max().item()) if right.numel() else 1.0
    return bool(((got - right).abs() <= within * scale).all())


def alike(got: Any, right: Any) -> bool:
    """Near, however small all the numbers are: a thousandth is one of the largest."""
    right = torch.as_tensor(right, dtype=torch.float64)
    top = right.abs().max().clamp(min=1e-4)
    return near(torch.as_tensor(got, dtype=torch.float64) / top, right / top)


def gives(
    function: Any, args: Any, right: Any, hint: str = "", *mistakes: tuple[Any, str]
) -> None:
    """A public example: nothing but a line of praise if the function gives what is
    right; else what it gives, and the usual mistake, or ``hint``."""
    got = ask(function, *args)
    said = f"{name_of(function)}({', '.join(map(_short, args))})"
    if isinstance(right, Tensor):
        tensor(got, said, tuple(right.shape))
        whole = not right.is_floating_point()
        same = not whole or got.dtype == right.dtype
        expect(same, f"{said} should be of type {right.dtype}, not {got.dtype}")
    match(got, right, f"{said} gives", *mistakes, hint=hint)
    print(f"{said}: as it should be (hidden tests look at more)")


def item(function: Any, i: int) -> Any:
    """The function that gives item i of what this one returns."""

    def get(*args: Any) -> Any:
        got = function(*args)
        expect(isinstance(got, (tuple, list)), f"a pair comes back, not {kind(got)}")
        return got[i]

    get.__name__ = f"[{i}] of {name_of(function)}"
    return get


def match(got: Any, right: Any, what: str, *mistakes: Any, hint: str = "") -> None:
    """Nothing happens if ``got`` is right; else a hint that says ``what`` is wrong,
    shows both, and names the usual mistake, a pair of what it gives and a text, or
    ``hint``."""
    if not _equal(got, right):
        known = (text for wrong, text in mistakes if _equal(got, wrong))
        raise Hint(f"{what} {show(got)}, not {show(right)}: {next(known, hint)}")


def _equal(got: Any, right: Any) -> bool:
    if isinstance(right, (Tensor, float)):
        return isinstance(got, (Tensor, float, int)) and near(got, right)
    return bool(type(got) is type(right) and got == right)


def tensor(got: Any, name: str, shape: tuple[int, ...], axes: str = "") -> Tensor:
    """A tensor of this shape, whose axes are called ``axes``."""
    tell = f"{name} should be one tensor; here it is {kind(got)}"
    expect(isinstance(got, Tensor), tell)
    wanted = f"{axes} = {shape}" if axes else f"{shape}"
    expect(got.shape == shape, f"{name} has shape {tuple(got.shape)}, not {wanted}")
    return got  # type: ignore[no-any-return]


def single(got: Tensor) -> Tensor:
    """float64 as float32, where the text leaves the type open."""
    return got.float() if got.dtype == torch.float64 else got


def two_tensors(got: Any, names: str) -> tuple[Tensor, Tensor]:
    two = isinstance(got, (tuple, list)) and len(got) == 2
    two = two and all(isinstance(item, Tensor) for item in got)
    expect(two, f"two tensors come back, {names}; here it is {kind(got)}")
    return got[0], got[1]


def number(got: Any, name: str) -> float:
    """A plain number, or a tensor that holds one."""
    one = isinstance(got, Real) or (isinstance(got, Tensor) and got.numel() == 1)
    expect(
        one and not isinstance(got, bool),
        f"{name} should be one number; here it is {kind(got)}",
    )
    return float(got)


def kind(got: Any) -> str:
    if isinstance(got, Tensor):
        return f"a tensor of shape {tuple(got.shape)}"
    return type(got).__name__ if quiet else f"{type(got).__name__}: {got!r}"[:80]


def show(value: Any) -> str:
    """Numbers with four digits."""
    if isinstance(value, Tensor) and value.dim():
        return "[" + ", ".join(map(show, value)) + "]"
    real = isinstance(value, float) or getattr(value, "is_floating_point", bool)()
    value = value.item() if isinstance(value, Tensor) else value
    return f"{float(value):.4g}" if real else f"{value!r}"[:200]


# ---------------------------------------------------------------------------------
# layers


def random_numbers(*shape: int) -> Tensor:
    """The same ones each time."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape)))


def state_of(layer: Any) -> dict[str, Tensor]:
    made = "class …(nn.Module), and super().__init__() first"
    expect(hasattr(layer, "state_dict"), f"this is no nn.Module: {made}")
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
    bias = state.get(f"{name}.bias")
    return torch.nn.functional.linear(x, state[f"{name}.weight"], bias)


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
    total, wanted = (out * toward).sum(), list(asked.values())
    found = torch.autograd.grad(total, wanted, allow_unused=True)
    pairs = zip(asked, found, strict=True)
    return none | {name: slope for name, slope in pairs if slope is not None}
