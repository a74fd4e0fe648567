"""Runs the tests of one part with the student's answers, and words what the student is told."""

from __future__ import annotations

import ast
import builtins
import contextlib
import io
import random
import traceback
from collections.abc import Iterator

import torch

from .assignment import Assignment
from .remote import Answer, Wire


def run_tests(assignment: Assignment, source: str, wire: Wire) -> str:
    """Executes a test cell with the student's answers; what it says when it fails.

    Raises:
        Gone: the student's process is no more.
    """
    tree = ast.parse(source)
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    namespace = {**assignment.namespace, "__builtins__": builtins}
    random.seed(0)
    torch.manual_seed(0)
    try:
        for part, names in assignment.answers.items():
            for name in used.intersection(names):
                namespace[name] = wire.ask("take", part, name)
                if isinstance(namespace[name], Answer):
                    namespace[name].__dict__["__name__"] = name
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(tree, "tests", "exec"), namespace)
    except Exception as error:
        return says(error, source)
    return ""


def says(error: Exception, source: str) -> str:
    """What the student is told. What a hidden test gave to an answer is not: a message of the answer could hold it."""
    public = source.partition("### BEGIN HIDDEN TESTS")[0].count("\n")
    lines = [frame.lineno or 0 for frame in traceback.extract_tb(error.__traceback__) if frame.filename == "tests"]
    hidden = bool(lines) and lines[-1] > public
    raised = next((kind for e in _chain(error) if (kind := getattr(e, "by_student", ""))), "")
    if isinstance(error, (NameError, NotImplementedError)):
        return "not written yet, or its cell does not run" + ("" if hidden else f" ({error})")
    if hidden and raised:
        return f"raises {raised} where a hidden test calls it"
    if hidden and not isinstance(error, AssertionError):
        return f"what comes back is of another kind than the text asks for ({type(error).__name__})"
    told = str(error) or "an assertion fails"
    return (told if isinstance(error, AssertionError) else f"{type(error).__name__}: {told}")[:500]


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """An error, and those from which it came."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
