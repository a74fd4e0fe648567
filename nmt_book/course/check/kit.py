"""What the checks share: calling an answer, comparing its result with the right one,
and saying what is wrong."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from numbers import Real
from typing import Any, NamedTuple, TypeVar

import torch
from torch import Tensor

from ..remote import plain

F = TypeVar("F", bound=Callable[..., Any])
CUT = ".detach(), .item(), .numpy(), torch.tensor(…) and torch.no_grad() stop gradients"
MISFIT = "size of tensor|Sizes of|must match|cannot be multiplied|invalid for input"
SHAPES = ". These shapes do not fit together: are two arguments or two axes swapped?"
# True while hidden tests run: messages then quote neither arguments nor results, since
# an answer could return its arguments to learn what the test passed.
quiet = False


class Hint(AssertionError):
    """A wrong answer, in one sentence. Jupyter shows only this sentence, without a
    traceback."""

    def _render_traceback_(self) -> list[str]:
        return [f"Hint: {self}"]


def expect(condition: Any, hint: str) -> None:
    """Like ``assert``, for checks and hidden tests."""
    if not condition:
        raise Hint(hint)


def done(title: str) -> None:
    print(f"{title}: no mistake found (hidden tests try more)")


def ask(function: Any, *args: Any) -> Any:
    """Calls a student's function, or a helper that calls one. Raises a hint if the
    function is not written yet, raises an error, or returns None."""
    helper = hasattr(function, "__wrapped__")
    answer, *rest = args if helper else (function, *args)
    name = name_of(answer)
    try:
        result = function(*args)
    except NotImplementedError:
        todo = "write it, run its cell, then run this cell again"
        raise Hint(f"this answer is not written yet: {todo}") from None
    except Hint:
        raise
    except Exception as error:
        message = f"{type(error).__name__}: {error}"
        if re.search(MISFIT, str(error)):
            message += SHAPES
        message = "an error in a hidden test" if quiet else message
        raise Hint(f"{name}({_list(rest)}) raises {message}") from error
    expect(result is not None, f"{name} returns None: is the return missing?")
    return result


def name_of(function: Any) -> str:
    return str(getattr(function, "__name__", type(function).__name__))


def _list(args: Iterable[Any]) -> str:
    return "…" if quiet else ", ".join(map(_short, args))[:200]


def _short(argument: Any) -> str:
    """A tensor as its shape, a function or layer as its name, anything else as its
    repr, shortened."""
    if isinstance(argument, Tensor):
        return f"a tensor {tuple(argument.shape)}"
    text = name_of(argument) if callable(argument) else repr(argument)
    return text if len(text) < 70 else f"{text[:60]} …"


def beside_answer(function: F) -> F:
    """Marks a helper that must run in the same process as the student's objects, for
    instance because it back-propagates through them.

    In a notebook this changes nothing. ``make grade`` keeps answers and tests in two
    processes: an answer is represented here by an object whose method ``beside`` runs
    the helper in the other process and returns its result (numbers and tensors).
    """

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        away = next((thing for thing in args if hasattr(thing, "beside")), None)
        if away is None:
            return function(*args, **kwargs)
        return away.beside(function, args, kwargs)

    return call  # type: ignore[return-value]


def spares(function: Any, *args: Any) -> None:
    """Raises a hint if a function changes its arguments."""
    got, before = (
        plain(given, lambda _: 0)  # modules are not compared
        for given in (_given(function, *copy.deepcopy(args)), list(args))
    )
    hint = f"{name_of(function)} changes its arguments: copy them first"
    expect(got == before, hint)


@beside_answer
def _given(function: Any, *args: Any) -> list[Any]:
    """The arguments after the call."""
    result = function(*args)
    if isinstance(result, Iterator):
        list(result)
    return list(args)


@beside_answer
def slopes(function: Any, args: Any, toward: Tensor | None = None) -> dict[str, Tensor]:
    """The gradients of sum(result * toward) with respect to each floating-point
    argument, under its number ("0", …), and to each parameter of a layer, under its
    name. If the result is a pair, its first item counts."""
    args, leaves = list(args), dict[str, Tensor]()
    for i, given in enumerate(args):
        if isinstance(given, Tensor) and given.is_floating_point():
            args[i] = leaves[str(i)] = given.clone().requires_grad_()
    if isinstance(function, torch.nn.Module):
        leaves |= dict(function.named_parameters())
    out = function(*args)
    return slopes_of(out[0] if isinstance(out, (tuple, list)) else out, leaves, toward)


def slopes_of(
    out: Any, leaves: dict[str, Tensor], toward: Tensor | None = None
) -> dict[str, Tensor]:
    """The same for a result; zeros where there is no gradient."""
    none = {name: torch.zeros_like(leaf) for name, leaf in leaves.items()}
    if not isinstance(out, Tensor) or not out.requires_grad:
        return none
    toward = random_numbers(*out.shape) if toward is None else toward
    asked = {name: leaf for name, leaf in leaves.items() if leaf.requires_grad}
    total, wanted = (out * toward).sum(), list(asked.values())
    gradients = torch.autograd.grad(total, wanted, allow_unused=True)
    pairs = zip(asked, gradients, strict=True)
    return none | {name: slope for name, slope in pairs if slope is not None}


# ------------------------------------------------------------------------- results


def near(got: Any, right: Any) -> bool:
    """Whether shapes are equal, and numbers to a thousandth of 1, or of the largest
    right one. A plain number stands for a tensor full of it."""
    full = isinstance(right, (int, float))
    got, right = (torch.as_tensor(x, dtype=torch.float64) for x in (got, right))
    largest = max([1.0, *right.abs().flatten().tolist()])
    alike = full or got.shape == right.shape
    return alike and torch.allclose(got, right, 0, 1e-3 * largest)


def gives(
    function: Any, args: Any, right: Any, hint: str = "", *mistakes: tuple[Any, str]
) -> None:
    """A public example. Prints a line if the result is right; otherwise raises a hint
    with both results and the usual mistake that gives this one, or ``hint``."""
    got = ask(function, *args)
    call = f"{name_of(function)}({_list(args)})"
    if isinstance(right, Tensor):
        tensor(got, call, tuple(right.shape))
        same = right.is_floating_point() or got.dtype == right.dtype
        expect(same, f"{call} should be of type {right.dtype}")
    match(got, right, f"{call} gives", *mistakes, hint=hint)
    print(f"{call}: correct (hidden tests try more)")


def part(function: Any, pick: Callable[[Any], Any], name: str) -> Any:
    """The function that returns a part of this one's result, called ``name``."""

    def get(*args: Any) -> Any:
        got = function(*args)
        try:
            return pick(got)
        except (TypeError, LookupError, AttributeError):
            raise Hint(f"{name} is not possible: the result is {kind(got)}") from None

    get.__name__ = f"{name} of {name_of(function)}"
    return get


def item(function: Any, i: int) -> Any:
    """The function that returns item i of the tuple that this one returns."""

    def pick(got: Any) -> Any:
        expect(isinstance(got, (tuple, list)), f"expected a tuple, got {kind(got)}")
        return got[i]

    return part(function, pick, f"[{i}]")


def match(got: Any, right: Any, title: str, *mistakes: Any, hint: str = "") -> None:
    """Raises a hint if ``got`` is wrong: the title, both values, and an
    explanation. That is the text of the mistake, a pair (result, text), whose result is
    ``got``, or else ``hint``."""
    if not _equal(got, right):
        known = (text for wrong, text in mistakes if _equal(got, wrong))
        shown, wanted = show(got), show(right)
        if shown == wanted:
            shown += f" ({type(got).__name__})"
        message = f"{title} {shown}, not {wanted}"
        if quiet:
            message = f"{title} something else than the text asks for"
        if hint := next(known, hint):
            message += f": {hint}"
        raise Hint(message)


def _equal(got: Any, right: Any) -> bool:
    if isinstance(right, (Tensor, float)):
        return isinstance(got, (Tensor, float, int)) and near(got, right)
    return bool(type(got) is type(right) and got == right)


def tensor(got: Any, name: str, shape: tuple[int, ...], axes: str = "") -> Tensor:
    """Checks that this is a tensor of this shape, whose axes are called ``axes``."""
    expect(isinstance(got, Tensor), f"{name}: expected a tensor, got {kind(got)}")
    wanted = f"{axes} = {shape}" if axes else f"{shape}"
    received = "another shape" if quiet else f"shape {tuple(got.shape)}"
    expect(got.shape == shape, f"{name} has {received}, not {wanted}")
    return got  # type: ignore[no-any-return]


def single(got: Tensor) -> Tensor:
    """float64 as float32, for results whose type is free."""
    return got.float() if got.dtype == torch.float64 else got


def pair(got: Any, names: str) -> Any:
    if isinstance(got, (tuple, list)) and len(got) == 2:
        return got  # before its text is made, which takes longer than the answer
    raise Hint(f"expected two values, {names}, got {kind(got)}")


def two_tensors(got: Any, names: str) -> tuple[Tensor, Tensor]:
    first, second = pair(got, names)
    both = isinstance(first, Tensor) and isinstance(second, Tensor)
    expect(both, f"{names} should be tensors, got {kind(first)} and {kind(second)}")
    return first, second


def number(got: Any, name: str) -> float:
    """A number, or a tensor with one element."""
    is_one = isinstance(got, Real) or (isinstance(got, Tensor) and got.numel() == 1)
    expect(is_one, f"{name}: expected one number, got {kind(got)}")
    return float(got)


def kind(got: Any) -> str:
    if quiet:
        return "something else"
    if isinstance(got, Tensor):
        return f"a tensor of shape {tuple(got.shape)}"
    return f"{type(got).__name__}: {_short(got)}"


def show(value: Any) -> str:
    """Numbers with four significant digits."""
    if isinstance(value, Tensor) and value.dim():
        return "[" + ", ".join(map(show, value)) + "]"
    value = value.item() if isinstance(value, Tensor) else value
    return f"{value:.4g}" if isinstance(value, float) else f"{value!r}"[:200]


# ------------------------------------------------------------------- find the fault


class Culprit(NamedTuple):
    """The function that a case of ``book.plant`` breaks, with its class."""

    function: str

    def is_near(self, suspect: Any) -> None:
        """The public check of an answer: is the fault in this function's file?"""
        from nmt_book.yours.fault import file_of, function_of

        written = suspect is not None
        expect(written, "suspect is not written yet: set it, and run its cell")
        text = 'write the name as a text, such as "Residual.forward"'
        expect(isinstance(suspect, str), text)
        try:
            file = file_of(function_of(suspect))
        except LookupError as error:
            raise Hint(str(error)) from None
        right = file == file_of(function_of(self.function))
        expect(right, f"no, it is not in {file.name}: which paths pass through it?")
        done("the file")


def fault(number: int) -> Culprit:
    """Heals the library, which the page has broken, and says what a case breaks."""
    from nmt_book.yours import fault as faults

    faults.heal()
    return Culprit(faults.PUZZLES[number - 1].function)


# ------------------------------------------------------------------------- layers


def random_numbers(*shape: int, seed: int = 0) -> Tensor:
    """Normal random numbers, the same in each call."""
    draw = torch.Generator().manual_seed(sum(shape) + 1000 * seed)
    return torch.randn(shape, generator=draw)


def state_of(layer: Any) -> dict[str, Tensor]:
    made = "write class …(nn.Module), and call super().__init__() first"
    expect(hasattr(layer, "state_dict"), f"this is not an nn.Module: {made}")
    return dict(layer.state_dict())


@beside_answer
def n_parameters(layer: Any) -> int:
    """The number of trained parameters; shared ones count once."""
    return sum(p.numel() for p in layer.parameters() if p.requires_grad)


def fill(layer: Any, seed: int = 0) -> dict[str, Tensor]:
    """Sets all parameters to random numbers, and returns them by name."""
    new, draw = state_of(layer), torch.Generator().manual_seed(seed)
    for name in new:
        new[name] = 0.5 * torch.randn(new[name].shape, generator=draw)
    layer.load_state_dict(new)
    return new


def linear(x: Tensor, state: dict[str, Tensor], name: str) -> Tensor:
    weight, bias = (state.get(f"{name}.{kind}") for kind in ("weight", "bias"))
    if weight is None:
        raise Hint(f"the layer has no nn.Linear named {name}")
    return torch.nn.functional.linear(x, weight, bias)
