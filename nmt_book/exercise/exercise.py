"""One exercise of a chapter: its cases, the right answer, the usual mistakes, hints."""

from __future__ import annotations

import copy
import difflib
import dis
import inspect
import io
import linecache
import re
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from functools import cached_property, partial, wraps
from typing import Any

import torch

from . import values
from .saved import remember
from .shown import show_printed, show_verdict

Answer = Callable[..., Any]
Mistake = Answer | str | tuple[str, ...] | list[Any]
USUAL = {  # what an exception says, and what to do about it
    "Boolean value of Tensor|truth value of an array": "`if`, `and`, `or` and `not` "
    "ask for a single truth value: write `mask is not None`, and & | ~ for tensors; "
    "max(0, x) is x.clamp(min=0)",
    "math range error": "math.exp ends at 709: subtract the largest number first",
    "view size is not compatible": "`view` cannot follow a swap: use `reshape`, or "
    "think about whether the numbers are still in this order",
    "must match the size of tensor": "two shapes do not fit: print them; a sum or mean "
    "keeps its axis with keepdim=True",
    "bitwise": "& | ~ join booleans, and one of these is none: .bool()",
    "cannot be multiplied": "two shapes do not fit: print them before this line",
    "either a floating point or complex": "booleans and ids have no mean: .float()",
    "attribute '(append|insert|extend|sort)'": "`append`, `insert` and `sort` change "
    "a list and return None: write them on a line of their own",
    "NoneType": "something in it is None: an argument that is left out, such as "
    "`mask`, or what a function without `return` gives",
    "unhashable|not hashable": "sets and dicts compare tensors as objects: use .item()",
    "must be Tensor, not": "PyTorch's functions take tensors, `math` has those for a "
    "number; a module such as nn.ReLU is made first, nn.ReLU()(x)",
    "'Tensor' and 'Linear'": "a layer is not a matrix: call it, W(x)",
}
STEPS: list[tuple[str, tuple[Any, ...]]] = []  # recorded parts and their arguments
VERDICTS: dict[str, tuple[Any, bool]] = {}  # part → the latest answer, is it right?


def chapter_of(name: str) -> str:
    """The folder of a module with exercises: "chapter04" of "nmt_book.chapter04.check".

    A module of its own, as a test may have, goes by its own name.
    """
    parts = name.split(".")
    return parts[-2] if parts[-1] == "check" else parts[-1]


def exercise(task: str, **about: Any) -> Callable[[Answer], Exercise]:
    """Makes the exercise of the function or class below it, which is the answer."""
    return lambda answer: Exercise(answer, task, **about)


def _converted(make: Answer, answer: Answer, *arguments: Any, **keywords: Any) -> Any:
    result = answer(*arguments, **keywords)
    trains = any(getattr(value, "requires_grad", False) for value in arguments)
    return result if trains and hasattr(result, "backward") else make(result)


def _plain(answer: Answer, *arguments: Any) -> Any:
    return answer(*arguments)


class Exercise:
    """A stub's check, hints and answer; ``nmt_book/exercise/__init__.py`` says how.

    Args:
        answer: the right one; the text of its definition is the printed answer.
        task: in one sentence.
        cases: what makes a case special → its arguments. Each call gets fresh copies.
        mistakes: a sentence → the function that makes this mistake; or what it
            returns, as a text; or a change of the answer, "piece → other piece" (a
            tuple: one after the other); a list for several ways to the same mistake.
        hints: two; where to look, and the shape or the first line.
        says: what is right about a right answer.
        difficulty, importance: 1 to 3.
        minutes: for a first reader.
        part: the keyword of ``book.try_it``, if it can run in a translator.
        uses: earlier exercises whose functions the answer calls.
        call: how a case asks an answer; default: ``answer(*arguments)``.
        fixed: numbers of arguments that are meant to have one size in all cases.
    """

    def __init__(
        self,
        answer: Answer,
        task: str,
        *,
        cases: Mapping[str, Sequence[Any]],
        mistakes: Mapping[str, Mistake],
        hints: tuple[str, str],
        says: str,
        difficulty: int,
        importance: int,
        minutes: int,
        part: str = "",
        uses: Sequence[Exercise] = (),
        call: Callable[..., Any] = _plain,
        fixed: Sequence[int] = (),
    ) -> None:
        self.name, self.task, self.cases, self.says = answer.__name__, task, cases, says
        self.hints, self.part, self.uses, self._call = hints, part, uses, call
        self.fixed = fixed
        self.module = chapter_of(answer.__module__)
        dots = ("●" * n + "○" * (3 - n) for n in (difficulty, importance))
        self.rating = "{} difficulty · {} importance · {} minutes".format(
            *dots, minutes
        )
        definition = re.search(r"(?ms)^(?:def|class) .*", inspect.getsource(answer))
        assert definition, f"{self.name} has no definition of its own"
        self.source = definition[0]  # without the decorator
        self._names = {
            **vars(sys.modules[answer.__module__]),
            **{earlier.name: earlier.right for earlier in uses},
        }
        self.right: Answer = self._compile(self.source)
        self.mistakes = {why: list(self._variants(m)) for why, m in mistakes.items()}
        self._hints_given, self._printed = 0, io.StringIO()

    def __call__(self, answer: Any) -> None:
        """Shows what is right or wrong about an answer, then what it printed."""
        self._printed = io.StringIO()
        message = self.verdict(answer)
        is_right = message.startswith("right")
        if is_right or message.startswith("not yet"):
            show_verdict(message)
        else:
            print(message)
        show_printed(self._printed.getvalue())
        VERDICTS[self.part] = answer, is_right
        if is_right:
            remember(solved=f"{self.module}.{self.name}")

    def __repr__(self) -> str:
        return f"{self.name}: {self.task}\n{self.rating}"

    def hint(self) -> None:
        """Prints the first hint, when asked again the second one."""
        self._hints_given += 1
        if self._hints_given <= 2:
            hint = self.hints[self._hints_given - 1]
            return print(f"hint {self._hints_given} of 2: {hint}")
        self._hints_given = 0
        print("both hints were given; the answer is folded below the check")

    def answer(self) -> None:
        """Prints the answer, which is also folded below the check."""
        print(self.source)

    def use(self, answer: Answer) -> Answer:
        """The reader's function if its check calls it right, else the printed answer.

        Its results are converted to tensors, floats, tuples or lists as expected.
        """
        if not self.verdict(answer).startswith("right"):
            return self.right
        print(f"from here on, {self.name} is yours")
        for kind in (torch.Tensor, float, tuple, list):
            if isinstance(self._expected[0], kind):
                make = values.as_tensor if kind is torch.Tensor else kind
                return wraps(answer)(partial(_converted, make, answer))
        return answer

    def verdict(self, answer: Any) -> str:
        """What the check says; it starts with "right" if all cases are right."""
        if self._call is _plain and not callable(answer):
            return f"not yet: give the function itself, check.{self.name}({self.name})"
        outcomes, expected = self.outcomes(answer), self._expected
        if all(map(unfilled, outcomes)):
            return (
                "not written yet, or nothing is returned. "
                f"A hint: check.{self.name}.hint()"
            )
        equal = list(map(_equal, outcomes, expected))
        if all(equal):
            changed = self._changed_arguments(answer)
            changes = sorted(changed and changed - self._changed_arguments(self.right))
            but = "\n  but it changes {}, which belongs to the caller: work on a copy"
            return f"right: {self.says}{but.format(', '.join(changes)) * bool(changes)}"
        for earlier in self.uses:
            function = _names_used(answer).get(earlier.name)
            if not callable(function) or function is earlier.right:
                continue
            if not earlier.verdict(function).startswith("right"):
                return f"not yet: it calls {earlier.name}, which is not right so far"
        for why, mistake_outcomes in self._mistake_outcomes:
            if self.all_equal(outcomes, mistake_outcomes):
                return f"not yet: {why}"
        return f"not yet: {self._first_difference(answer, outcomes, expected, equal)}"

    def outcomes(self, answer: Answer) -> list[Any]:
        """What an answer gives in each case: its value, or the error that it raises."""
        return [self._outcome(answer, case) for case in self.cases.values()]

    @cached_property
    def _expected(self) -> list[Any]:
        return self.outcomes(self.right)

    @cached_property
    def _mistake_outcomes(self) -> list[tuple[str, list[Any]]]:
        """Each mistake's sentence and outcomes; the mistakes run when first needed."""
        return [
            (why, self.outcomes(mistake))
            for why, functions in self.mistakes.items()
            for mistake in functions
        ]

    def all_equal(self, outcomes: list[Any], expected: list[Any]) -> bool:
        """Whether two lists of outcomes are equal in every case."""
        return all(map(_equal, outcomes, expected))

    def _changed_arguments(self, answer: Answer) -> set[str]:
        """The names of the comparable arguments that an answer changes."""
        names = set()
        for case in self.cases.values():
            self._outcome(answer, case, arguments := copy.deepcopy(case))
            names |= {
                name
                for name, after, before in zip(
                    self._parameters, arguments, case, strict=False
                )
                if isinstance(before, torch.Tensor | list | dict | set)
                and not values.same(after, before)
            }
        return names

    @property
    def _parameters(self) -> list[str]:
        if self._call is _plain:
            return list(inspect.signature(self.right).parameters)
        return list(inspect.signature(self._call).parameters)[1:]

    def _outcome(
        self, answer: Answer, case: Sequence[Any], arguments: Sequence[Any] = ()
    ) -> Any:
        arguments = arguments or copy.deepcopy(case)
        STEPS.clear()
        with (
            warnings.catch_warnings(),
            torch.random.fork_rng(devices=[]),
            redirect_stdout(self._printed),
        ):
            warnings.simplefilter("ignore")
            torch.default_generator.manual_seed(0)  # no other device: that is slow
            try:
                return values.as_list(self._call(answer, *arguments))
            except Exception as error:  # the reader's own code
                return error

    def _compile(self, source: str) -> Answer:
        names = dict(self._names)
        exec(compile(source, f"<{self.name}>", "exec"), names)
        answer: Answer = names[self.name]
        return answer

    def _variants(self, mistake: Mistake) -> Iterator[Answer]:
        if isinstance(mistake, list):
            for variant in mistake:
                yield from self._variants(variant)
        elif callable(mistake):
            yield mistake
        elif isinstance(mistake, str) and "→" not in mistake:
            head = self.source[: self.source.index(":\n") + 2]
            yield self._compile(f"{head}    return {mistake}")
        else:
            source = self.source
            changes = [mistake] if isinstance(mistake, str) else mistake
            for change in changes:
                piece, _, replacement = change.partition("→")
                piece = piece.removesuffix(" ")
                assert piece in source, f"the answer has no {piece!r}"
                source = source.replace(piece, replacement.removeprefix(" "))
            yield self._compile(source)

    def _first_difference(
        self, answer: Any, outcomes: list[Any], expected: list[Any], equal: list[bool]
    ) -> str:
        """The first case that differs, its input if short, and where it differs."""
        names = [f"“{name}”" for name in self.cases]
        inputs = list(map(self._input, self.cases.values()))
        errors = [isinstance(value, Exception) for value in outcomes]
        i = equal.index(False)
        if not (errors[i] or inputs[i]):  # a later case may have a short input
            later = (
                j for j, ok in enumerate(equal) if not (ok or errors[j]) and inputs[j]
            )
            i = next(later, i)
        fine = [name for name, ok in zip(names, equal, strict=True) if ok]
        message = f"wrong in the case {names[i]}{inputs[i]}"
        if fine:
            message = f"right in {', '.join(fine)}; {message}"
        if isinstance(outcomes[i], Exception):
            return f"{message}\n  it raises {explain(outcomes[i], answer)}"
        if outcomes[i] is None:
            return f"{message}\n  nothing is returned there: it gives None"
        if isinstance(outcomes[i], tuple) and _equal(outcomes[i][:1], [expected[i]]):
            n = len(outcomes[i])
            return f"{message}\n  return the first of your {n} results alone"
        steps = self._first_step(answer, list(self.cases.values())[i])
        return f"{message}{steps}\n  {values.difference(outcomes[i], expected[i])}"

    def _first_step(self, answer: Answer, case: Sequence[Any]) -> str:
        """A line about the first recorded part that the answer uses differently."""
        ran: list[dict[str, list[Any]]] = []
        for function in (self.right, answer):
            self._outcome(function, case)
            ran.append({name: [] for name, _ in STEPS})
            for name, arguments in STEPS:
                ran[-1][name].append(arguments)
        fine = ""
        for name, expected in ran[0].items():
            calls = ran[1].get(name, [])
            if len(calls) != len(expected):
                times = f"{len(calls)} times, not {len(expected)}"
                return f"\n  {fine}{name} is used {times}"
            if not values.same(calls, expected):
                return f"\n  {fine}{name} reads something else than it should"
            fine = f"right up to what {name} reads; "
        return f"\n  {fine}what is made of it differs" if fine else ""

    def _input(self, case: Sequence[Any]) -> str:
        """A line with the arguments, if it is short."""
        pairs = list(zip(self._parameters, case, strict=False))
        text = ", ".join(f"{name} = {values.show(value)}" for name, value in pairs)
        return f"\n  {text}" if len(text) <= 2 * values.LINE else ""


def record_step(name: str, arguments: tuple[Any, ...]) -> None:
    """Records what a part of an answer reads, so that a check can mention it."""
    STEPS.append((name, copy.deepcopy(arguments)))


def record_steps(name: str, part: Answer) -> Answer:
    """The same function, which also records what it reads."""

    def step(*arguments: Any, **keywords: Any) -> Any:
        record_step(name, (*arguments, *keywords.values()))
        return part(*arguments, **keywords)

    return step


def unfilled(value: Any) -> bool:
    """Whether a stub returned this: None, ``...``, a tuple of them, or its error."""
    if isinstance(value, tuple) and value:
        return all(map(unfilled, value))
    if isinstance(value, NotImplementedError):  # torch raises it for types, too
        return "not implemented for" not in str(value)
    return value is None or value is ...


def _equal(outcome: Any, expected: Any) -> bool:
    if isinstance(outcome, Exception) or isinstance(expected, Exception):
        equal = type(outcome) is type(expected)
        if isinstance(outcome, RuntimeError | TypeError | AttributeError):  # the text
            equal = equal and str(outcome) == str(expected)
        return equal
    return values.same(outcome, expected)


def _code(answer: Any) -> list[Any]:
    """The functions that an answer consists of: itself, or the methods of a class."""
    parts = vars(answer).values() if inspect.isclass(answer) else [answer]
    return [part for part in parts if inspect.isfunction(part)]


def _names_used(answer: Any) -> dict[str, Any]:
    """The global names that an answer's code reads, with what they are."""
    return {
        step.argval: part.__globals__.get(step.argval)
        for part in _code(answer)
        for step in dis.get_instructions(part)
        if step.opname == "LOAD_GLOBAL"
    }


def explain(error: Exception, *answers: Any) -> str:
    """The error in one line, the reader's line of code, and the usual cause."""
    first_line = str(error).splitlines()[0] if str(error) else ""
    message = f"{type(error).__name__}: {first_line}"
    code = [part for answer in answers for part in _code(answer)]
    files = {part.__code__.co_filename for part in code}
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if frame.filename in files:
            line = linecache.getline(frame.filename, frame.lineno or 0).strip()
            message += f"\n  in the line: {line}" if line else ""
            break
    if isinstance(error, AttributeError) and error.obj is not None:
        close = difflib.get_close_matches(error.name or "", dir(error.obj), cutoff=0.4)
        message += f"\n  it has {', '.join(close)}" if close else ""
    for pattern, hint in USUAL.items():
        if re.search(pattern, str(error)):
            return f"{message}\n  {hint}"
    return message
