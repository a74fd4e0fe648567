"""Marks one submission: the student's cells run in a process of their own, the tests
run here.

Only *calls* cross over, and only plain data comes back (``remote.py``). So a student's
code never meets a test, and
whatever it does to its own interpreter (other ``assert``, other ``torch.allclose``,
objects that equal everything, an
exit) a part is passed only if the values that come back are right.
"""

from __future__ import annotations

import ast
import builtins
import io
import json
import os
import random
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, redirect_stdout, suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from . import sandbox
from .assignment import Assignment, Step
from .remote import Answer, Gone, Wire, within
from .report import Marks
from .sandbox import PROCESSES
from .student import WRITE_IT
from .submissions import Cell

MAX_NOTES, MAX_RESTARTS = 30, 5
Private = (
    Iterable[Path] | None
)  # what a sandbox must not show, wherever it lies; None: there is no sandbox


def mark(
    assignment: Assignment, cells: list[Cell], seconds: float, private: Private = None
) -> Marks:
    """Runs the cells, then the tests of each part. A part counts when its tests have
    ended without an error.

    Args:
        seconds: for a cell, and for the tests of a part; six times as many for all.
    """
    began, marks = time.monotonic(), Marks(assignment.parts())
    with within(seconds):
        program = assignment.program(cells, marks.notes)
        marks.notes += assignment.of_another_seed(cells)
    sitting = Sitting(assignment, program, seconds, private, marks.notes)
    try:
        for part, cell in zip(marks.parts, assignment.graded, strict=True):
            if part.by_hand:
                assignment.written(part, cells)
            else:
                part.says = sitting.part(cell.source)
                part.score = 0.0 if part.says else part.points
    finally:
        sitting.leave()
    refused = [
        said
        for said in (*marks.notes, *(part.says for part in marks.parts))
        if WRITE_IT in said
    ]
    marks.notes += [f"PLEASE LOOK: {said}" for said in refused[:1]]
    marks.notes[:] = list(dict.fromkeys(marks.notes))[:MAX_NOTES]
    marks.seconds = time.monotonic() - began
    return marks


class Sitting:
    """A submission's cells, run in a student's process, and in another one where that
    ends or hangs."""

    def __init__(
        self,
        assignment: Assignment,
        program: list[Step],
        seconds: float,
        private: Private,
        notes: list[str],
    ) -> None:
        self.assignment, self.program, self.seconds, self.private = (
            assignment,
            program,
            seconds,
            private,
        )
        self.notes, self.left_out, self.tested = notes, set[int](), False
        self.end_by = time.monotonic() + 6 * seconds
        self.process = ExitStack()
        self.wire: Wire | None = None

    def part(self, source: str) -> str:
        """Runs the tests of one part; what is wrong, or nothing."""
        try:
            wire = self.wire or self.enter()
            self.tested = True
            with within(self._seconds()):
                return run_tests(self.assignment, source, wire)
        except (Gone, MemoryError) as error:
            self.leave()
            return (
                f"{error}"
                if isinstance(error, Gone)
                else "the result takes too much memory"
            )

    def enter(self) -> Wire:
        """A fresh process, with the student's cells run. A cell that ends the process
        is left out in the next try.

        Once tests have run, notes tell no more what cells say: they could have heard of
        the tests.
        """
        while len(self.left_out) <= MAX_RESTARTS:
            before = time.monotonic()
            self.wire = self.process.enter_context(
                started(self.assignment, self.seconds, self.private)
            )
            self.end_by += (
                time.monotonic() - before
            )  # loading Python and torch is not the submission's time
            for i, step in enumerate(self.program):
                seconds, line = (
                    self._seconds(),
                    next(iter(step[0].strip().splitlines()), "")[:60],
                )
                try:
                    with within(seconds):
                        error = (
                            [] if i in self.left_out else self.wire.ask("cell", *step)
                        )
                except Gone as gone:
                    self.left_out.add(i)
                    self.notes.append(f"a cell was left out ({line}): {gone}")
                    self.leave()
                    break
                if error and error[0] != "NotImplementedError" and not self.tested:
                    self.notes.append(
                        f"a cell ends with {error[0]} ({line}): {error[1]}"[:400]
                    )
            else:
                return self.wire
        raise Gone("too many cells end the process")

    def _seconds(self) -> float:
        left = self.end_by - time.monotonic()
        if left <= 0:
            raise Gone("no time is left: other parts took too long")
        return min(self.seconds, left)

    def leave(self) -> None:
        self.wire = None
        self.process.close()


@contextmanager
def started(assignment: Assignment, seconds: float, private: Private) -> Iterator[Wire]:
    """A fresh process for a student's cells, in a sandbox of its own; at the end it is
    gone, with all it has started.

    Raises:
        RuntimeError: there is none.
    """
    job = {
        name: getattr(assignment, name)
        for name in ("answers", "blocked", "helpers", "warm")
    }
    ours, theirs = Pipe()
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder, ours:
        with theirs:
            process = launch(
                theirs, job | {"seconds": 9 * seconds, "folder": folder}, private
            )
        try:
            wire = Wire(ours)
            with within(300):
                wire.ask(
                    "call", len, ("",)
                )  # the first answer says that everything is loaded
            yield wire
        except Gone:
            raise RuntimeError(
                "no process for the student's cells can be started"
            ) from None
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.kill()
            process.wait()


def launch(
    wire: Connection, job: dict[str, Any], private: Private
) -> subprocess.Popen[bytes]:
    """Starts ``student.py``, in a sandbox unless there is none."""
    with ExitStack() as open_files:
        handles, shut_in, variables = [wire.fileno()], list[str](), None
        if private is not None:
            rules = open_files.enter_context(sandbox.filters())
            shut_in, variables = (
                sandbox.command(job["blocked"], private, rules),
                {"PATH": os.environ["PATH"]},
            )
            handles, job = (
                [*handles, rules.fileno()],
                job | {"folder": "/tmp", "processes": PROCESSES},
            )
        return subprocess.Popen(
            [
                *shut_in,
                sys.executable,
                "-m",
                f"{__package__}.student",
                str(wire.fileno()),
                json.dumps(job),
            ],
            pass_fds=handles,
            env=variables,
            start_new_session=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )


def run_tests(assignment: Assignment, source: str, wire: Wire) -> str:
    """Executes a test cell with the student's answers; what the student is told when it
    fails.

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
        with redirect_stdout(io.StringIO()):
            exec(compile(tree, "tests", "exec"), namespace)
    except Exception as error:
        return says(error, source)
    return ""


def says(error: Exception, source: str) -> str:
    """What the student is told. What a hidden test gave to an answer is not: a message
    of the answer could hold it."""
    public = source.partition("### BEGIN HIDDEN TESTS")[0].count("\n")
    lines = [
        frame.lineno or 0
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename == "tests"
    ]
    hidden = bool(lines) and lines[-1] > public
    raised = next(
        (kind for e in _chain(error) if (kind := getattr(e, "by_student", ""))), ""
    )
    if isinstance(error, (NameError, NotImplementedError)):
        return "not written yet, or its cell does not run" + (
            "" if hidden else f" ({error})"
        )
    if hidden and raised:
        return f"raises {raised} where a hidden test calls it"
    if hidden and not isinstance(error, AssertionError):
        return (
            "what comes back is of another kind than the text asks for "
            f"({type(error).__name__})"
        )
    told = str(error) or "an assertion fails"
    return (
        told if isinstance(error, AssertionError) else f"{type(error).__name__}: {told}"
    )[:500]


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """An error, and those from which it came."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
