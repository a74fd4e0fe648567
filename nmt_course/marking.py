"""Marks one submission: the student's cells run in a process of their own, the tests run here.

Only *calls* cross over, and only plain data comes back (``remote.py``). So a student's code never meets a test, and
whatever it does to its own interpreter (other ``assert``, other ``torch.allclose``, objects that equal everything, an
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
from contextlib import ExitStack, redirect_stdout, suppress
from multiprocessing import Pipe, get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from . import sandbox
from .assignment import Assignment
from .remote import Answer, Gone, Wire, within
from .report import Marks
from .sandbox import PROCESSES, Limits
from .student import WRITE_IT, serve
from .submissions import Cell

MAX_NOTES = 30
MAX_CELL = 1 << 20
# Without a sandbox, students' processes are copies of one that has loaded what they need, but no test.
COPIES = get_context("forkserver")
COPIES.set_forkserver_preload([f"{__package__}.student", "torch._dynamo"])
Private = (
    Iterable[Path] | None
)  # what a sandbox must not show, though it may lie among Python's packages; None: no sandbox


def mark(assignment: Assignment, cells: list[Cell], limits: Limits, private: Private = None) -> Marks:
    """Runs the cells, then the tests of each part. A part counts when its tests have ended without an error."""
    began, marks = time.monotonic(), Marks(assignment.parts())
    if large := sum(len(cell.source) > MAX_CELL for cell in cells):
        marks.notes.append(f"{large} cells of more than {MAX_CELL >> 20} MB were left out")
        cells = [cell for cell in cells if len(cell.source) <= MAX_CELL]
    with within(limits.seconds):
        program = assignment.program(cells, marks.notes)
        marks.notes += assignment.of_another_seed(cells)
    sitting = Sitting(assignment, program, limits, private, marks.notes)
    try:
        for part, cell in zip(marks.parts, assignment.graded, strict=True):
            if part.by_hand:
                assignment.written(part, cells)
            else:
                part.says = sitting.part(cell.source)
                part.score = 0.0 if part.says else part.points
    finally:
        sitting.leave()
    refused = [said for said in (*marks.notes, *(part.says for part in marks.parts)) if WRITE_IT in said]
    marks.notes += [f"PLEASE LOOK: {said}" for said in refused[:1]]
    marks.notes[:] = list(dict.fromkeys(marks.notes))[:MAX_NOTES]
    marks.seconds = time.monotonic() - began
    return marks


class Sitting:
    """A submission's cells, run in a student's process, and in another one where that ends or hangs.

    Args:
        program: the cells to run.
        notes: where it writes what it notices.
    """

    def __init__(
        self, assignment: Assignment, program: list[Any], limits: Limits, private: Private, notes: list[str]
    ) -> None:
        self.assignment, self.program, self.limits, self.private = assignment, program, limits, private
        self.notes, self.left_out, self.tested = notes, set[int](), False
        self.end_by = time.monotonic() + limits.all
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
            return f"{error}" if isinstance(error, Gone) else "the result takes too much memory"

    def enter(self) -> Wire:
        """A fresh process, with the student's cells run. A cell that ends the process is left out in the next try.

        Once tests have run, notes tell no more what cells say: they could have heard of the tests.
        """
        while len(self.left_out) <= self.limits.restarts:
            before = time.monotonic()
            self.wire = start(self.assignment, self.limits, self.private)
            self.end_by += time.monotonic() - before  # loading Python and torch is not the submission's time
            if self._run_cells(self.wire):
                return self.wire
            self.leave()
        raise Gone("too many cells end the process")

    def _run_cells(self, wire: Wire) -> bool:
        """Whether the process has outlived them."""
        for i, (source, takes) in enumerate(self.program):
            if i in self.left_out:
                continue
            seconds, line = self._seconds(), next(iter(source.strip().splitlines()), "")[:60]
            try:
                with within(seconds):
                    error = wire.ask("cell", source, takes)
            except Gone as gone:
                self.left_out.add(i)
                self.notes.append(f"a cell was left out ({line}): {gone}")
                return False
            if error and error[0] != "NotImplementedError" and not self.tested:
                self.notes.append(f"a cell ends with {error[0]} ({line}): {error[1]}"[:400])
        return True

    def _seconds(self) -> float:
        left = self.end_by - time.monotonic()
        if left <= 0:
            raise Gone("no time is left: other parts took too long")
        return min(self.limits.seconds, left)

    def leave(self) -> None:
        if self.wire is not None:
            self.wire.close()
            self.wire = None


def start(assignment: Assignment, limits: Limits, private: Private) -> Wire:
    """A fresh process for a student's cells, in a sandbox of its own.

    Raises:
        RuntimeError: there is none.
    """
    job = {"blocked": assignment.blocked, "helpers": assignment.helpers, "warm": assignment.warm, "folder": "/tmp",
           "memory": limits.memory, "seconds": 1.5 * limits.all, "processes": PROCESSES}  # fmt: skip
    ours, theirs = Pipe()
    with theirs, ExitStack() as inside, ExitStack() as at_the_end:
        if private is None:
            job |= {"folder": at_the_end.enter_context(TemporaryDirectory(ignore_cleanup_errors=True)), "processes": 0}
            process: Any = COPIES.Process(target=serve, args=(theirs, job))
            process.start()
            at_the_end.callback(process.join)
        else:
            rules = inside.enter_context(sandbox.filters())
            shut_in = sandbox.command(assignment.blocked, private, rules)
            process = subprocess.Popen(
                [*shut_in, sys.executable, "-m", f"{__package__}.student", str(theirs.fileno()), json.dumps(job)],
                pass_fds=(theirs.fileno(), rules.fileno()), env={"PATH": os.environ["PATH"]}, start_new_session=True,
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )  # fmt: skip
            at_the_end.callback(process.wait)
        at_the_end.callback(_kill, process)
        at_the_end.callback(ours.close)
        wire = Wire(ours, at_the_end.pop_all().close)
    try:
        with within(300):
            wire.ask("call", len, ("",))  # the first answer says that everything is loaded
    except Gone:
        wire.close()
        raise RuntimeError("no process for the student's cells can be started") from None
    return wire


def _kill(process: Any) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)  # and what it has started
    process.kill()


def run_tests(assignment: Assignment, source: str, wire: Wire) -> str:
    """Executes a test cell with the student's answers; what the student is told when it fails.

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
