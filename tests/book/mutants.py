"""Mutants: right answers with one small change. A check must not call them right.

``python -m tests.book.mutants [chapter04 …]`` changes the syntax tree of an exercise's
answer in thousands of ways: an operator, a number, an argument that is left out. Most
mutants are refused, and some are equal to the answer. One that passes the check, but
differs from the answer on larger random inputs, shows that a case is missing: it is
printed, and the run fails. It also prints which answers of ``WRONG`` (``answers_to/``)
mutants reproduce, by number: these need not be kept.
"""

from __future__ import annotations

import ast
import copy
import difflib
import importlib
import random
import resource
import signal
import sys
from collections.abc import Iterator
from typing import Any

import torch

from nmt_book.exercise.exercise import Exercise, unfilled
from nmt_book.exercise.progress import exercises, modules
from nmt_book.exercise.values import difference, show

SECONDS, BYTES = 1.0, 8 * 2**30  # for one mutant: some never end
INPUTS = 24  # larger random ones, for each case
# Names of functions and of operators; each may stand for the others of its group.
RELATIVES = """Add Sub Mult, Mult Div FloorDiv Pow, FloorDiv Mod, Mult MatMult, BitAnd
BitOr, And Or, Lt LtE Gt GtE, Eq NotEq Lt LtE Gt GtE, Is IsNot, In NotIn, tril triu,
softmax log_softmax, max min, argmax argmin, amax amin, sum mean, sin cos, log log2
log10, ceil floor, zeros ones, any all, append extend, add discard, transpose reshape,
norm1 norm2 norm3, self_attention cross_attention, src_mask tgt_mask, W_q W_k W_v"""
RESULTS = [  # what is returned, changed a little, or of another kind
    "{} + 0.01",
    "1.01 * {}",
    "{} + 7",
    "round({}, 1)",
    "{}.round(decimals=2)",
    "{}.long()",
    "-{}",
    "~{}",
    "{}[0]",
    "{}[None]",
]
SIZES = 3, 4, 5  # such as an example on the page may have
Slot = tuple[Any, Any]  # a list or a node's fields, and the place in it


def relatives(name: str) -> Iterator[str]:
    for group in map(str.split, RELATIVES.split(",")):
        if name in group:
            yield from (other for other in group if other != name)


def slots(tree: ast.AST) -> list[Slot]:
    """Where the nodes of a tree are: each can be exchanged there."""
    places: list[Slot] = []
    for parent in ast.walk(tree):
        for field, value in ast.iter_fields(parent):
            if isinstance(value, list):
                places += [(value, i) for i in range(len(value))]
            else:
                places.append((vars(parent), field))
    return places


def numbers(value: Any) -> set[Any]:
    if isinstance(value, bool):
        return {not value}
    if isinstance(value, int):
        return {value + 1, value - 1, 0, 1, -value} - {value}
    return {0.0, 1.0, value + 1, -value, 2 * value} - {value}


def expressions(node: ast.AST, names: list[str]) -> Iterator[ast.AST]:
    """What may stand in the place of an expression or of a part of it."""
    yield from (getattr(ast, other)() for other in relatives(type(node).__name__))
    match node:
        case ast.Constant(value=bool() | int() | float() as value):
            yield from map(ast.Constant, sorted(numbers(value)))
        case ast.Name(id=name, ctx=ast.Load()):
            others = [n for n in names if n != name] if name in names else []
            yield from (ast.Name(n) for n in (*relatives(name), *others))
            yield from map(ast.Constant, SIZES if name in names else ())
        case ast.Attribute(value=value, attr=name, ctx=ast.Load()):
            yield from (ast.Attribute(value, other) for other in relatives(name))
        case ast.BinOp(left=left, op=op, right=right):
            yield ast.BinOp(right, op, left)
        case ast.Compare():
            yield from map(ast.Constant, (True, False))
        case ast.Slice(lower=lower, upper=upper):
            yield from (ast.Slice(lower), ast.Slice(None, upper))
        case ast.Call(func=ast.Attribute(value=value)):
            yield value  # x.f() → x
    if isinstance(node, ast.expr):  # a part of it: f(x) → x, x[0] → x, not x → x
        yield from (p for p in ast.iter_child_nodes(node) if isinstance(p, ast.expr))


def statements(node: ast.AST, names: list[str]) -> Iterator[ast.AST]:
    """What may stand in the place of a statement."""
    if not isinstance(node, ast.stmt):
        return
    match node:
        case ast.If(body=body, orelse=orelse):
            yield from (
                ast.If(ast.Constant(True), branch or [ast.Pass()], [])
                for branch in (body, orelse)
            )
        case ast.Break():
            yield ast.Continue()
        case ast.AugAssign(target=target, value=value):
            yield ast.Assign([target], value, lineno=1)
        case ast.Return(value=ast.expr() as value):
            for changed in RESULTS:
                text = changed.format(f"({ast.unparse(value)})")
                yield ast.Return(ast.parse(text, mode="eval").body)
            for name in map(ast.Name, names):
                yield ast.Return(name)
                yield ast.Return(ast.BinOp(name, ast.Add(), value))
        case ast.FunctionDef(body=[*rest, ast.For() | ast.While() as loop, last]):
            early = copy.copy(loop)
            early.body = [*loop.body, last]  # a return inside the loop before it
            shorter = copy.copy(node)
            shorter.body = [*rest, early]
            yield shorter


def mutants(source: str) -> Iterator[str]:
    """Texts of an answer, each with one change."""
    tree = ast.parse(source)
    nodes = list(ast.walk(tree))
    made = {n.id for n in nodes if isinstance(n, ast.Name) and type(n.ctx) is ast.Store}
    names = sorted(made | {n.arg for n in nodes if isinstance(n, ast.arg)} - {"self"})
    seen = {ast.unparse(tree)}
    for home, key in slots(tree):
        node = home[key]
        if not isinstance(node, ast.AST):
            continue
        texts = []
        for new in (*expressions(node, names), *statements(node, names)):
            home[key] = new
            texts.append(ast.unparse(tree))
        home[key] = node
        if isinstance(home, list):
            before, pair, after = home[:key], home[key : key + 2], home[key + 2 :]
            for some in (pair[1:], pair[::-1]):  # without it; after the next one
                home[:] = before + some + after
                texts.append(ast.unparse(tree))
            home[:] = before + pair + after
        yield from dict.fromkeys(text for text in texts if text not in seen)
        seen.update(texts)


class Grower:
    """Makes larger random inputs of cases; what had one size in a case keeps one."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.factors: dict[int, int] = {}
        kinds = (torch.Tensor, bool, int, float, str, list)
        self.kinds = tuple(kind for kind in kinds if self.draw.random() < 0.6)

    def size(self, n: int) -> int:
        return n * self.factors.setdefault(n, self.draw.choice([1, 1, 2, 3]))

    def __call__(self, value: Any) -> Any:
        draw = self.draw
        if isinstance(value, list) and list not in self.kinds:
            return [self(part) for part in value]
        if not isinstance(value, (*self.kinds, tuple, dict)):
            return copy.deepcopy(value)
        match value:
            case torch.Tensor():
                return self.tensor(value)
            case bool():
                return draw.choice([True, False])
            case int():
                return draw.choice([value + 1, self.size(value), self.size(value)])
            case float():
                return value * draw.uniform(0.5, 2)
            case str():
                words = value.split(" ") if " " in value else [*value]
                mixed = draw.choices(words, k=len(words) * draw.choice([1, 2]))
                return (" " * (" " in value)).join(mixed)
            case list() if value:
                mixed = draw.choices(value, k=self.size(len(value)))
                return [self(part) for part in mixed]
            case tuple():
                return tuple(self(part) for part in value)
            case dict():
                return {key: self(part) for key, part in value.items()}
        return copy.deepcopy(value)

    def tensor(self, value: torch.Tensor) -> torch.Tensor:
        sizes = [self.size(n) if n > 1 else n for n in value.shape]
        pairs = zip(sizes, value.shape, strict=True)
        value = value.detach().repeat([new // max(1, old) for new, old in pairs])
        mixed = value.flatten()[torch.randperm(value.numel())].view(value.shape)
        value = self.draw.choice([value, mixed])
        if value.is_floating_point() and self.draw.random() < 0.5:
            value = value + 0.3 * value.std(correction=0) * torch.randn_like(value)
        return value


def larger_inputs(exercise: Exercise) -> Iterator[tuple[Any, Any]]:
    """Inputs that the answer takes, and what it gives for them."""
    for seed in range(INPUTS):
        for case in exercise.cases.values():
            torch.manual_seed(seed)
            given = [*map(Grower(seed), case)]
            value = timed(exercise, exercise.right, given)
            if not isinstance(value, BaseException) and not unfilled(value):
                yield given, value


class TooLong(BaseException):
    """A mutant that does not end; a check would catch an ``Exception``."""


def stop(*_: Any) -> None:
    raise TooLong


def timed(exercise: Exercise, answer: Any, case: Any) -> Any:
    """What an answer gives for a case, or an error."""
    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        return exercise._outcome(answer, case)
    except BaseException as error:  # also SystemExit, TooLong, MemoryError
        if isinstance(error, KeyboardInterrupt):
            raise
        return error
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def change(source: str, mutant: str) -> str:
    """The lines that differ."""
    lines = ast.unparse(ast.parse(source)).splitlines(), mutant.splitlines()
    diff = list(difflib.unified_diff(*lines, lineterm="", n=0))[3:]
    return "\n".join(f"    {line}" for line in diff if not line.startswith("@@"))


def missing_cases(exercise: Exercise, wrong: list[Any]) -> tuple[list[str], set[int]]:
    """The reports on mutants that pass, and which of the wrong answers mutants give."""
    reports, reproduced, inputs = list[str](), set[int](), list[tuple[Any, Any]]()
    expected, cases = exercise._expected, list(exercise.cases.values())
    known = [exercise.outcomes(answer) for answer in wrong]
    count = passed = 0
    for text in mutants(exercise.source):
        try:
            answer = exercise._compile(text)
        except Exception:
            continue
        count += 1
        given: list[Any] = []
        for case in cases:
            given.append(timed(exercise, answer, case))
            if type(given[-1]) is TooLong:
                break
        if len(given) < len(cases):
            continue
        reproduced |= {
            i for i, old in enumerate(known) if exercise.all_equal(given, old)
        }
        if not exercise.all_equal(given, expected):
            continue
        passed += 1
        inputs = inputs or list(larger_inputs(exercise))
        for case, right in inputs:
            value = timed(exercise, answer, case)
            if not exercise.all_equal([value], [right]):
                why = repr(value) if isinstance(value, BaseException) else ""
                shown = ", ".join(map(show, case))[:200]
                where = f"    for {shown}\n    {why or difference(value, right)[:200]}"
                reports.append(f"{change(exercise.source, text)}\n{where}")
                break
    print(f"{exercise.module}.{exercise.name}: {count} mutants, {passed} pass", end="")
    print(f" ({len(inputs)} larger inputs)" if passed else "", flush=True)
    return reports, reproduced


def main(chapters: list[str]) -> int:
    torch.set_num_threads(1)
    resource.setrlimit(resource.RLIMIT_DATA, (BYTES, BYTES))
    missing = 0
    for exercise in (e for module in modules() for e in exercises(module)):
        if chapters and exercise.module not in chapters:
            continue
        table = importlib.import_module(f"tests.book.answers_to.{exercise.module}")
        wrong = getattr(table, "WRONG", {}).get(exercise.name, [])
        reports, reproduced = missing_cases(exercise, wrong)
        for report in reports:
            print(f"  a case is missing: this passes as right\n{report}")
        if reproduced:
            print(f"  mutants reproduce WRONG {sorted(reproduced)}")
        missing += len(reports)
    print(f"{missing} missing cases")
    return bool(missing)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
