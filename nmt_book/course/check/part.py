"""A part of an assignment as an exercise of the book."""

from __future__ import annotations

import copy
import inspect
import io
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...exercise.exercise import Exercise, _plain
from . import kit
from .kit import Hint, expect, slopes, state_of

SENTENCE = "  it raises Hint: "  # of ``expect``, which quotes nothing where it is quiet


class Part(Exercise):
    """The exercise that a check makes from the rules. Its cases are the public check;
    a hidden test makes the same exercise with more cases.

    Args:
        right: a right answer.
        cases: as in an exercise.
        mistakes: a sentence → the answers that make this mistake.
        view: what a case asks an answer; default: ``answer(*arguments)``.
    """

    name, uses = "part", ()

    def __init__(
        self,
        right: Callable[..., Any],
        cases: Mapping[str, Sequence[Any]],
        mistakes: Mapping[str, Any],
        view: Callable[..., Any] = _plain,
    ) -> None:
        self.right, self.cases, self._call = right, cases, view
        self._printed = io.StringIO()
        self.mistakes = {
            why: several if isinstance(several, list) else [several]
            for why, several in mistakes.items()
        }
        n = f"{len(cases)} case" + "s" * (len(cases) > 1)
        self.says = f"no mistake found in {n} (hidden tests try more)"

    def __call__(self, answer: Any) -> None:
        """Prints that an answer is right.

        Raises:
            Hint: it is wrong. Of a hidden test, the names of the cases are told, or the
                usual mistake, but neither arguments nor results.
        """
        assert not any(isinstance(value, Hint) for value in self._expected), self.name
        message, *more = self.verdict(answer).removeprefix("not yet: ").splitlines()
        message = message.partition(" A hint: ")[0]
        message = (
            re.sub("^right in .*; (?=wrong in)", "", message) if kit.quiet else message
        )
        if message.startswith("right: "):
            return print("\n".join([message, *more]))
        told = [line for line in more if line.startswith(SENTENCE) or not kit.quiet]
        raise Hint("\n".join([message, *told]).replace(SENTENCE, "  "))

    def all_equal(self, outcomes: list[Any], expected: list[Any]) -> bool:
        """An error or a hint says more than the name of a usual mistake."""
        errors = any(isinstance(outcome, Exception) for outcome in outcomes)
        return not errors and super().all_equal(outcomes, expected)

    @property
    def _parameters(self) -> list[str]:
        names = list(inspect.signature(self._call).parameters)[1:]
        own = inspect.signature(self.right).parameters
        return list(own) if "args" in names or "arguments" in names else names


def _first(answer: Any, *args: Any) -> Any:
    out = kit.ask(answer, *args)
    return out[0] if isinstance(out, (tuple, list)) else out


def reached(answer: Any, *args: Any, but: str = "") -> tuple[Any, dict[str, Any]]:
    """The gradients of a sum of the result with random weights; before them, the
    weights.

    Raises:
        Hint: none reaches a number among the arguments, or a parameter of a layer
            (except those whose name ends with ``but``).
    """
    toward = kit.random_numbers(*_first(answer, *args).shape)
    gradients = kit.ask(slopes, answer, args, toward)
    for name, slope in gradients.items():
        which = f"argument {int(name) + 1}" if name.isdigit() else name
        fine = slope.any() or (but and name.endswith(but))
        expect(fine, f"no gradient reaches {which}: {kit.CUT}")
    return toward, gradients


def gradient(answer: Any, *args: Any, but: str = "") -> bool:
    """That gradients reach what they should, and tell how the result changes.

    Raises:
        Hint: they do not.
    """
    toward, gradients = reached(answer, *args, but=but)
    own = [name for name in gradients if not name.isdigit()]
    start, first = copy.deepcopy(state_of(answer)) if own else {}, args
    for seed in (1, 2):
        steps = {
            name: kit.random_numbers(*slope.shape, seed=seed)
            for name, slope in gradients.items()
        }
        ends = []
        for size in (0.001, -0.001):
            args = tuple(
                x + size * steps[str(i)] if str(i) in steps else x
                for i, x in enumerate(first)
            )
            if own:  # not strictly: a parameter may have several names
                moved = {name: start[name] + size * steps[name] for name in own}
                answer.load_state_dict(moved, False)
            ends.append((_first(answer, *args) * toward).sum())
        right = sum((gradients[name] * step).sum() for name, step in steps.items())
        error = abs((ends[0] - ends[1]) / 0.002 - right)
        expect(error < 0.1 + 0.03 * abs(right), "the gradient is not how out changes")
    if own:
        answer.load_state_dict(start)
    return True
