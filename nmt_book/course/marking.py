"""Marks one submission: the student's cells run in a process of their own, the tests
run here.

Only *calls* travel to that process, and only plain data comes back (``remote.py``), so
a student's code never meets a test. Whatever it does to its own interpreter (redefines
``assert`` or ``torch.allclose``, returns objects that equal everything, exits), a part
passes only if the values that come back are right. All public checks run before the
first hidden test, so that no public message can show what a hidden test passed.
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
# The folders that a sandbox must hide, wherever they are; None: there is no sandbox.
Private = Iterable[Path] | None
# For each part, the fraction of its points, and what its tests say.
Results = dict[str, tuple[float, str]]


def mark(
    assignment: Assignment, notebook: NotebookNode, seconds: float, private: Private
) -> tuple[Results, list[str]]:
    """Runs the cells of a restored notebook, then the tests of each part. Half of a
    part's points are for its public check, the other half for its hidden tests.

    Args:
        seconds: processor time for a cell, and for the tests of a part; the whole
            submission gets six times as much.
    """
    notes, results = list[str](), Results()
    sitting = Sitting(assignment, assignment.program(notebook), seconds, private, notes)
    try:
        for part, source in assignment.tests.items():
            hint = sitting.part(source.partition(HIDDEN)[0])
            results[part] = (0.0 if hint else 0.5), hint
        if assignment.given:
            sitting.leave()  # helpers given to one part must not serve another
        for part, source in assignment.tests.items():
            if results[part][0]:
                hint = sitting.part(source.partition(HIDDEN)[2], hidden=part)
                results[part] = (0.5, hint) if hint else (1.0, "")
    finally:
        sitting.leave()
    if any(WRITE_IT in hint for hint in (*notes, *(s for _, s in results.values()))):
        notes.append(f"{LOOK}a cell or an answer uses what this assignment asks for")
    return results, list(dict.fromkeys(notes))[:MAX_NOTES]


class Sitting:
    """A submission's cells, run in a student's process; if that process ends or hangs,
    they run again in a fresh one."""

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
        self.left_out, self.hidden = set[int](), ""
        self.left = 6 * seconds
        self.process = ExitStack()
        self.wire: Wire | None = None
        self.used: Callable[[], float] = time.process_time

    def part(self, source: str, hidden: str = "") -> str:
        """Runs tests; returns what is wrong, or nothing.

        Args:
            hidden: the name of the part whose hidden tests these are.
        """
        try:
            if self.wire is None:
                self.enter()
            self.hidden, kit.quiet = hidden, bool(hidden)
            with self.limit():
                return run_tests(self.assignment, source, self.wire, hidden)
        except (Gone, MemoryError) as error:
            self.leave()
            if isinstance(error, MemoryError):
                return "the result takes too much memory"
            return str(error)
        finally:
            kit.quiet = False

    def enter(self) -> None:
        """Starts a process and runs the student's cells in it. A cell that ends the
        process is left out of the next try.

        After a hidden test has run, notes no longer quote the student's output, which
        could leak the tests.
        """
        while self.left > 0 and len(self.left_out) <= MAX_RESTARTS:
            self.wire, self.used = self.process.enter_context(
                started(self.assignment, self.seconds, self.private)
            )
            for i, step in enumerate(self.program):
                line = next(iter(step[0].strip().splitlines()), "")[:60]
                if i in self.left_out:
                    continue
                try:
                    with self.limit():
                        self.wire.ask("cell", *step)
                except Gone as gone:
                    self.left_out.add(i)
                    self.notes.append(f"a cell was left out ({quoted(line)}): {gone}")
                    self.leave()
                    break
                except NotImplementedError:
                    pass  # a stub
                except Exception as error:
                    message = quoted(f"{type(error).__name__}: {error}")
                    if not self.hidden:
                        self.notes.append(
                            f"a cell ({quoted(line)}) ends with {message}"
                        )
            else:
                return
        raise Gone("too many cells end the process, or no time is left for them")

    @contextmanager
    def limit(self) -> Iterator[None]:
        """Limits the processor time of the student's processes and of this one."""
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


def quoted(text: str) -> str:
    """What a student's code says, in one line that cannot pass for one of ours."""
    return repr(text[:300])


@contextmanager
def started(
    assignment: Assignment, seconds: float, private: Private
) -> Iterator[tuple[Wire, Callable[[], float]]]:
    """A fresh process for a student's cells, in a sandbox of its own, and a function
    that returns the processor time it has used. At the end, the process and all that it
    started are killed.

    Raises:
        RuntimeError: it cannot be started.
    """
    names = ("answers", "blocked", "helpers", "warm")
    job: dict[str, Any] = {name: getattr(assignment, name) for name in names}
    near, far = Pipe()
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder, near:
        with far:
            job |= {"seconds": 9 * seconds, "folder": folder}
            process = launch(far, job, private)

        def used() -> float:
            n, total = 0, time.process_time()
            with suppress(psutil.Error):
                parent = psutil.Process(process.pid)
                for member in (parent, *parent.children(recursive=True)):
                    n += 1
                    with suppress(psutil.Error):
                        total += sum(member.cpu_times()[:4])
            if n > PROCESSES:
                raise Gone(f"it starts more than {PROCESSES} processes")
            return total

        try:
            wire = Wire(near)
            with within(60):  # the first reply shows that everything is loaded
                wire.ask("call", len, ("",))
            yield wire, used
        except Gone as gone:
            reason = f"the process for the student's cells does not start: {gone}"
            raise RuntimeError(reason) from None
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.kill()
            process.wait()


def launch(
    wire: Connection, job: dict[str, Any], private: Private
) -> subprocess.Popen[bytes]:
    """Starts ``student.py``, in a sandbox unless ``private`` is None."""
    before, variables = list[str](), {**os.environ, **sandbox.PACKAGES}
    if private is not None:
        before = sandbox.command(job["blocked"], private)
        job = job | {"folder": "/tmp", "processes": PROCESSES}
        # The sandbox can read bubblewrap's own variables.
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


def run_tests(assignment: Assignment, source: str, wire: Any, hidden: str = "") -> str:
    """Executes tests with the student's answers; returns what the student is told if
    they fail.

    Raises:
        Gone: the student's process has ended.
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


def says(error: Exception, hidden: str = "") -> str:
    """What the student is told. Of an error that an answer raises in a hidden test,
    that is the part's name alone: the message, the type and the line are the answer's
    to choose, so they could tell what the test passed."""
    by_student = any(getattr(e, "by_student", False) for e in _chain(error))
    told = str(error) or "an assertion fails"
    if isinstance(error, (NameError, NotImplementedError)):
        unwritten = "not written yet, or its cell does not run"
        return unwritten if hidden else f"{unwritten} ({told})"[:500]
    if hidden and by_student:
        return f"{hidden}: the answer raises an error in a hidden test"
    if isinstance(error, AssertionError):
        return told[:500]
    if by_student:
        return f"{type(error).__name__}: {told}"[:500]
    other = "the result is not what the text asks for"
    return other if hidden else f"{other} ({type(error).__name__})"


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """An error, and those that caused it."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
