"""What the checks share: asking an answer, comparing what it gives with what is right,
and saying what is wrong."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from numbers import Real
from operator import attrgetter
from typing import Any, TypeVar

import torch
from torch import Tensor

from ..remote import plain

F = TypeVar("F", bound=Callable[..., Any])
CUT = ".detach(), .item(), .numpy(), torch.tensor(…) and torch.no_grad() stop gradients"
MISFIT = "size of tensor|Sizes of|must match|cannot be multiplied|invalid for input"
HALF = ". These numbers are of type float16, which ends at 65504"
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


def ask(function: Any, *args: Any) -> Any:
    """The result of a student's function, or of a helper that calls one; a hint if it
    is not written yet, raises an error, or returns nothing."""
    helper = hasattr(function, "__wrapped__")
    answer, *rest = args if helper else (function, *args)
    name = name_of(answer)
    try:
        result = function(*args)
    except NotImplementedError:
        written = "fill in its cell, run that cell, then this one again"
        raise Hint(f"this answer is not written yet: {written}") from None
    except Hint:
        raise
    except Exception as error:
        given = "…" if quiet else _list(rest)
        said = f"{type(error).__name__}: {error}"
        if re.search(MISFIT, str(error)):
            said += ". Tensors meet whose shapes do not fit: is an argument or an axis"
            said += " in another's position?"
        said += HALF * ("Half" in said)
        raise Hint(f"{name}({given}) raises {said}") from error
    expect(result is not None, f"{name} returns None: is a return missing?")
    return result


def name_of(function: Any) -> str:
    return str(getattr(function, "__name__", type(function).__name__))


def _list(args: Iterable[Any]) -> str:
    return ", ".join(map(_short, args))[:200]


def _short(argument: Any) -> str:
    """A tensor by its shape, a function or layer by its name, everything else as Python
    writes it, but not at length."""
    if isinstance(argument, Tensor):
        return f"a tensor {tuple(argument.shape)}"
    said = name_of(argument) if callable(argument) else repr(argument)
    if "tensor(" in said:
        return f"a {type(argument).__name__} of tensors"
    return said if len(said) < 70 else f"{said[:60]} …"


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


def spares(function: Any, *args: Any) -> None:
    """A hint if a function changes its arguments."""
    got, before = (
        plain(given, lambda _: 0)  # modules are not looked into
        for given in (_given(function, *copy.deepcopy(args)), list(args))
    )
    hint = f"{name_of(function)} changes its arguments: make a copy of them first"
    expect(got == before, hint)


@beside_answer
def _given(function: Any, *args: Any) -> list[Any]:
    """What the arguments are after the call."""
    result = function(*args)
    if isinstance(result, Iterator):
        list(result)
    return list(args)


@beside_answer
def slopes(
    function: Any, args: Any, toward: Tensor | None = None, names: Iterable[str] = ()
) -> dict[str, Tensor]:
    """How the sum of what comes out (of a pair: first), times ``toward``, changes with
    each argument that is a tensor of reals, by its number ("0" …), and with each
    parameter of a layer, by its name (all, or ``names``)."""
    args, leaves = list(args), dict[str, Tensor]()
    for i, given in enumerate(args):
        if isinstance(given, Tensor) and given.is_floating_point():
            args[i] = leaves[str(i)] = given.clone().requires_grad_()
    if names:
        leaves |= {name: attrgetter(name)(function) for name in names}
    elif isinstance(function, torch.nn.Module):
        leaves |= dict(function.named_parameters())
    out = function(*args)
    return slopes_of(out[0] if isinstance(out, (tuple, list)) else out, leaves, toward)


def slopes_of(
    out: Any, leaves: dict[str, Tensor], toward: Tensor | None = None
) -> dict[str, Tensor]:
    """The same for what has come out; zeros where no gradient comes back."""
    none = {name: torch.zeros_like(leaf) for name, leaf in leaves.items()}
    if not isinstance(out, Tensor) or not out.requires_grad:
        return none
    toward = random_numbers(*out.shape) if toward is None else toward
    asked = {name: leaf for name, leaf in leaves.items() if leaf.requires_grad}
    total, wanted = (out * toward).sum(), list(asked.values())
    found = torch.autograd.grad(total, wanted, allow_unused=True)
    pairs = zip(asked, found, strict=True)
    return none | {name: slope for name, slope in pairs if slope is not None}


def learns(function: Any, args: list[Any], given: str, own: Iterable[str] = ()) -> None:
    """A hint if no gradient reaches an argument (``given`` has their names) or a
    parameter."""
    for name, slope in ask(slopes, function, args, None, own).items():
        name = given.split()[int(name)] if name.isdigit() else name
        expect(slope.abs().max() > 0, f"no gradient reaches {name}: {CUT}")
    done("the gradient")


# ------------------------------------------------------------------ what comes back


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


def gives(
    function: Any, args: Any, right: Any, hint: str = "", *mistakes: tuple[Any, str]
) -> None:
    """A public example: nothing but a line of praise if the function gives what is
    right; else what it gives, and the usual mistake, or ``hint``."""
    got = ask(function, *args)
    said = f"{name_of(function)}({_list(args)})"
    if isinstance(right, Tensor):
        tensor(got, said, tuple(right.shape))
        same = right.is_floating_point() or got.dtype == right.dtype
        expect(same, f"{said} should be of type {right.dtype}, not {got.dtype}")
    match(got, right, f"{said} gives", *mistakes, hint=hint)
    print(f"{said}: as it should be (hidden tests look at more)")


def part(function: Any, pick: Callable[[Any], Any], name: str) -> Any:
    """The function that gives a part of what this one returns, and its name."""

    def get(*args: Any) -> Any:
        got = function(*args)
        try:
            return pick(got)
        except (TypeError, LookupError, AttributeError):
            raise Hint(f"no {name} can be taken from {kind(got)}") from None

    get.__name__ = f"{name} of {name_of(function)}"
    return get


def item(function: Any, i: int) -> Any:
    """The function that gives item i of the pair (or three) that this one returns."""

    def pick(got: Any) -> Any:
        expect(isinstance(got, (tuple, list)), f"a pair comes back, not {kind(got)}")
        return got[i]

    return part(function, pick, f"[{i}]")


def match(got: Any, right: Any, what: str, *mistakes: Any, hint: str = "") -> None:
    """Nothing happens if ``got`` is right; else a hint that says ``what`` is wrong,
    shows both, and names the usual mistake, a pair of what it gives and a text, or
    ``hint``."""
    if not _equal(got, right):
        known = (text for wrong, text in mistakes if _equal(got, wrong))
        if isinstance(got, Tensor) and got.is_floating_point() and got.isnan().any():
            nan = "nan comes from 0 / 0, inf / inf or inf − inf; exp(100) is inf"
            hint = f"{hint} ({nan})" if hint else nan
        said, wanted = show(got), show(right)
        said += f" ({type(got).__name__})" * (said == wanted)
        hint = next(known, hint)
        raise Hint(f"{what} {said}, not {wanted}" + f": {hint}" * bool(hint))


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


def pair(got: Any, names: str) -> Any:
    two = isinstance(got, (tuple, list)) and len(got) == 2
    expect(two, f"two values come back, {names}; here it is {kind(got)}")
    return got


def two_tensors(got: Any, names: str) -> tuple[Tensor, Tensor]:
    one, two = pair(got, names)
    both = isinstance(one, Tensor) and isinstance(two, Tensor)
    expect(both, f"{names} are tensors; here they are {kind(one)}; {kind(two)}")
    return one, two


def number(got: Any, name: str) -> float:
    """A plain number, or a tensor that holds one."""
    one = isinstance(got, Real) or (isinstance(got, Tensor) and got.numel() == 1)
    expect(one, f"{name} should be one number; here it is {kind(got)}")
    return float(got)


def kind(got: Any) -> str:
    if isinstance(got, Tensor):
        return f"a tensor of shape {tuple(got.shape)}"
    return type(got).__name__ if quiet else f"{type(got).__name__}: {_short(got)}"


def show(value: Any) -> str:
    """Numbers with four digits."""
    if isinstance(value, Tensor) and value.dim():
        return "[" + ", ".join(map(show, value)) + "]"
    value = value.item() if isinstance(value, Tensor) else value
    return f"{value:.4g}" if isinstance(value, float) else f"{value!r}"[:200]


# ------------------------------------------------------------------------- layers


def random_numbers(*shape: int) -> Tensor:
    """The same ones each time."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape)))


def state_of(layer: Any) -> dict[str, Tensor]:
    made = "class …(nn.Module), and super().__init__() first"
    expect(hasattr(layer, "state_dict"), f"this is no nn.Module: {made}")
    return dict(layer.state_dict())


@beside_answer
def n_parameters(layer: Any) -> int:
    """How many numbers are trained; what is shared counts once."""
    return sum(p.numel() for p in layer.parameters() if p.requires_grad)


def fill(layer: Any, seed: int = 0, only: Iterable[str] = ()) -> dict[str, Tensor]:
    """Gives parameters random numbers, all or those of the named parts, and returns
    these by name."""
    whole, draw = state_of(layer), torch.Generator().manual_seed(seed)
    names = [name for name in whole if not only or name.split(".")[0] in only]
    new = {name: 0.5 * torch.randn(whole[name].shape, generator=draw) for name in names}
    layer.load_state_dict({**whole, **new})
    return new


def linear(x: Tensor, state: dict[str, Tensor], name: str) -> Tensor:
    weight, bias = (state.get(f"{name}.{kind}") for kind in ("weight", "bias"))
    if weight is None:
        raise Hint(f"the layer has no nn.Linear named {name}")
    return torch.nn.functional.linear(x, weight, bias)
