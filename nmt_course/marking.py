"""Marks one submission: the student's cells run in a process of their own, the tests
run here.

Only *calls* cross over, and only plain data comes back (``remote.py``). So a student's
code never meets a test, and whatever it does to its own interpreter (other ``assert``,
other ``torch.allclose``, objects that equal everything, an exit), a part is passed only
if the values that come back are right. All public checks run before the first hidden
test: so nothing that a hidden test gave to an answer can come back where it is shown.
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
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, redirect_stdout, suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psutil
import torch
from nbformat import NotebookNode

from . import sandbox
from .assignment import LOOK, Assignment, Step
from .check import kit
from .remote import Answer, Gone, Wire, within
from .sandbox import PROCESSES
from .student import WRITE_IT

HIDDEN = "### BEGIN HIDDEN TESTS"
MAX_NOTES, MAX_RESTARTS = 30, 5
# What a sandbox must not show, wherever it is; None: there is no sandbox.
Private = Iterable[Path] | None
# For each part, the share of its points, and what its tests say.
Results = dict[str, tuple[float, str]]


def mark(
    assignment: Assignment, notebook: NotebookNode, seconds: float, private: Private
) -> tuple[Results, list[str]]:
    """Runs the cells of a restored notebook, then the tests of each part. Half of a
    part's points are for its public check, the other half for its hidden tests.

    Args:
        seconds: processor time for a cell, and for the tests of a part; six times as
            much for all.
    """
    notes, results = list[str](), Results()
    sitting = Sitting(assignment, assignment.program(notebook), seconds, private, notes)
    try:
        for part, source in assignment.tests.items():
            said = sitting.part(source.partition(HIDDEN)[0], hidden=False)
            results[part] = (0.0 if said else 0.5), said
        if assignment.given:
            sitting.leave()  # what was given must not be there for other parts
        for part, source in assignment.tests.items():
            if results[part][0]:
                public, _, hidden = source.partition(HIDDEN)
                said = sitting.part("\n" * public.count("\n") + hidden, hidden=True)
                results[part] = (0.5, said) if said else (1.0, "")
    finally:
        sitting.leave()
    if any(WRITE_IT in said for said in (*notes, *(s for _, s in results.values()))):
        notes.append(f"{LOOK}a cell or an answer uses what this assignment asks for")
    return results, list(dict.fromkeys(notes))[:MAX_NOTES]


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
        self.assignment, self.program, self.seconds = assignment, program, seconds
        self.private, self.notes = private, notes
        self.left_out, self.hidden = set[int](), False
        self.left = 6 * seconds
        self.process = ExitStack()
        self.wire: Wire | None = None
        self.used: Callable[[], float] = time.process_time

    def part(self, source: str, hidden: bool) -> str:
        """Runs the tests of one part; what is wrong, or nothing."""
        try:
            if self.wire is None:
                self.enter()
            self.hidden = kit.quiet = hidden
            with self.limit():
                return run_tests(self.assignment, source, self.wire, hidden)
        except (Gone, MemoryError) as error:
            self.leave()
            large = "the result takes too much memory"
            return f"{error}" if isinstance(error, Gone) else large
        finally:
            kit.quiet = False

    def enter(self) -> None:
        """A fresh process, with the student's cells run. A cell that ends the process
        is left out in the next try.

        Once hidden tests have run, notes tell no more what cells say: they could have
        heard of the tests.
        """
        while len(self.left_out) <= MAX_RESTARTS:
            self.wire, self.used = self.process.enter_context(
                started(self.assignment, self.seconds, self.private)
            )
            for i, step in enumerate(self.program):
                line = next(iter(step[0].strip().splitlines()), "")[:60]
                error: list[str] = []
                try:
                    with self.limit():
                        if i not in self.left_out:
                            error = self.wire.ask("cell", *step)
                except Gone as gone:
                    self.left_out.add(i)
                    self.notes.append(f"a cell was left out ({quoted(line)}): {gone}")
                    self.leave()
                    break
                if error and error[0] != "NotImplementedError" and not self.hidden:
                    name, said = map(quoted, error)
                    self.notes.append(
                        f"a cell ends with {name} ({quoted(line)}): {said}"
                    )
            else:
                return
        raise Gone("too many cells end the process")

    @contextmanager
    def limit(self) -> Iterator[None]:
        """Processor time, of the student's processes and of ours."""
        if self.left <= 0:
            raise Gone("no time is left: other parts took too long")
        before = self.used()
        try:
            with within(min(self.seconds, self.left), self.used):
                yield
        finally:
            self.left -= self.used() - before

    def leave(self) -> None:
        self.wire, self.used = None, time.process_time
        self.process.close()


def quoted(said: str) -> str:
    """What a student's code says, in one line that cannot be taken for ours."""
    return repr(said[:300])


@contextmanager
def started(
    assignment: Assignment, seconds: float, private: Private
) -> Iterator[tuple[Wire, Callable[[], float]]]:
    """A fresh process for a student's cells, in a sandbox of its own, and what tells
    the processor time that it has used; at the end it is gone, with all it has started.

    Raises:
        RuntimeError: there is none.
    """
    names = ("answers", "blocked", "helpers", "warm")
    job: dict[str, Any] = {name: getattr(assignment, name) for name in names}
    ours, theirs = Pipe()
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder, ours:
        with theirs:
            job |= {"seconds": 9 * seconds, "folder": folder}
            process = launch(theirs, job, private)

        def used() -> float:
            n, total = 0, time.process_time()
            with suppress(psutil.Error):
                parent = psutil.Process(process.pid)
                for one in (parent, *parent.children(recursive=True)):
                    n += 1
                    with suppress(psutil.Error):
                        total += sum(one.cpu_times()[:4])
            if n > PROCESSES:
                raise Gone(f"it starts more than {PROCESSES} processes")
            return total

        try:
            wire = Wire(ours)
            with within(60):  # the first answer says that everything is loaded
                wire.ask("call", len, ("",))
            yield wire, used
        except Gone as gone:
            raise RuntimeError(f"no process for the student's cells: {gone}") from None
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.kill()
            process.wait()


def launch(
    wire: Connection, job: dict[str, Any], private: Private
) -> subprocess.Popen[bytes]:
    """Starts ``student.py``, in a sandbox unless there is none."""
    before, variables = list[str](), {**os.environ, **sandbox.PACKAGES}
    if private is not None:
        before = sandbox.command(job["blocked"], private)
        job = job | {"folder": "/tmp", "processes": PROCESSES}
        # What bubblewrap itself has can be read in the sandbox.
        names = ("PATH", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS")
        variables = {name: os.environ[name] for name in names if name in os.environ}
    student = [sys.executable, "-m", f"{__package__}.student", str(wire.fileno())]
    return subprocess.Popen(
        [*before, *student, json.dumps(job)],
        pass_fds=[wire.fileno()],
        env=variables,
        start_new_session=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def run_tests(assignment: Assignment, source: str, wire: Any, hidden: bool) -> str:
    """Executes tests with the student's answers; what the student is told when they
    fail.

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
                for helper in assignment.given.get(part, []):
                    wire.ask("give", assignment.solutions[helper])
                namespace[name] = wire.ask("take", part, name)
                if isinstance(namespace[name], Answer):
                    namespace[name].__dict__["__name__"] = name
        with redirect_stdout(io.StringIO()):
            exec(compile(tree, "tests", "exec"), namespace)
    except Exception as error:
        return says(error, hidden)
    return ""


def says(error: Exception, hidden: bool) -> str:
    """What the student is told. What a hidden test gave to an answer is not: a message
    of the answer could hold it."""
    raised = next((e for e in _chain(error) if getattr(e, "by_student", "")), None)
    told = str(error) or "an assertion fails"
    if isinstance(error, (NameError, NotImplementedError)):
        return "not written yet, or its cell does not run" + f" ({told})" * (not hidden)
    if hidden and raised:
        half = " (with numbers of type float16)" if "Half" in str(raised) else ""
        where = getattr(raised, "by_student", "")
        return f"raises {where} where a hidden test calls it{half}"
    if isinstance(error, AssertionError):
        return told[:500]
    if hidden or not raised:
        kind = type(error).__name__
        return f"what comes back is not what the text asks for ({kind})"
    return f"{type(error).__name__}: {told}"[:500]


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """An error, and those from which it came."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
