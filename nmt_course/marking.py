"""Marks one submission: the student's cells run in a process of their own, the tests run here.

Only *calls* cross over, and only plain data comes back (``remote.py``). So a student's code never meets a test, and
whatever it does to its own interpreter (other ``assert``, other ``torch.allclose``, objects that equal everything, an
exit) a part is passed only if the values that come back are right.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import io
import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from nbformat import NotebookNode

import nmt_lib

from . import sandbox
from .course import answer_names, assigned, constants, defined, imported, parsed
from .remote import Answer, Died, Gone, Wire, receive, send

MAX_FILE, MAX_CELL, MAX_NOTES = 100 << 20, 1 << 20, 30
LATE = "no answer in time: is there a loop that never ends?"


@dataclass(frozen=True)
class Limits:
    """For one submission. Seconds are of the clock, unless it says otherwise."""

    cell: float = 10.0  # a cell of the student
    part: float = 10.0  # the tests of a part
    all: float = 60.0  # everything; parts that are not reached are failed
    processor: int = 90  # seconds of processor time of one process
    memory: int = 2 << 30  # bytes of one process, beyond what Python and torch take
    together: int = 3 << 30  # bytes of all processes of the submission, with what they have loaded
    marking: int = 1 << 30  # bytes of the process that marks it, beyond what it has loaded
    restarts: int = 3  # cells that may end the process, and are left out in another try


@dataclass
class Part:
    name: str
    points: float
    score: float | None = None  # None: a written answer that a person has to read
    says: str = ""
    by_hand: bool = False
    written: str = ""  # the text of a written answer


@dataclass
class Marks:
    parts: list[Part]
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0
    megabytes: int = 0  # of the student's processes, with torch

    @property
    def score(self) -> float:
        return sum(part.score or 0 for part in self.parts)

    @property
    def open(self) -> int:
        """How many written answers wait for a reader."""
        return sum(part.score is None for part in self.parts)


class Unreadable(Exception):
    """The file is no notebook."""


@dataclass(frozen=True)
class Cell:
    kind: str
    source: str
    grade_id: str = ""


# ---------------------------------------------------------------------- reading a submission


def read(path: Path) -> list[Cell]:
    """The cells of a notebook, of any version and in any state; outputs and other metadata are dropped.

    Raises:
        Unreadable: empty, too large, or no notebook.
    """
    if path.is_symlink() or not path.is_file():
        raise Unreadable("this is a link or a folder, no file")
    if path.stat().st_size > MAX_FILE:
        raise Unreadable(f"the file has {path.stat().st_size >> 20} MB")
    raw = b""
    try:
        raw = path.read_bytes()
        data = json.loads(raw)
    except OSError as error:
        raise Unreadable(f"the file cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError) as error:
        raise Unreadable("the file is empty" if not raw else f"the file is no notebook ({error})"[:200]) from None
    except MemoryError:
        raise Unreadable("the file holds more than fits into memory") from None
    sheets = data.get("worksheets") if isinstance(data, dict) else None  # notebooks of format 3
    cells = sheets[0].get("cells") if isinstance(sheets, list) and sheets and isinstance(sheets[0], dict) else None
    cells = data.get("cells", cells) if isinstance(data, dict) else None
    if not isinstance(cells, list):
        raise Unreadable("the file has no cells: it is no notebook")
    return [_cell(cell) for cell in cells if isinstance(cell, dict)]


def _cell(cell: dict[str, Any]) -> Cell:
    source = cell.get("source", cell.get("input", ""))
    text = "".join(map(str, source)) if isinstance(source, list) else str(source)
    grade_id: Any = cell.get("metadata")
    for key in ("nbgrader", "grade_id"):
        grade_id = grade_id.get(key) if isinstance(grade_id, dict) else None
    return Cell(str(cell.get("cell_type")), text, grade_id if isinstance(grade_id, str) else "")


# ---------------------------------------------------------------------------- one assignment


class Assignment:
    """What marking needs of a source notebook, and of its release."""

    def __init__(self, source: NotebookNode, released: NotebookNode) -> None:
        about = source.metadata.get("nmt", {})
        self.blocked = list(about.get("blocked", []))
        self.cells = source.cells
        self.given = released.cells  # as the student got them
        # What each answer cell defines, and whether it is something to call.
        self.answers = {c.metadata.nbgrader.grade_id: {name: name in defined(c.source) for name in answer_names(c)}
                        for c in self.cells if _is_answer(c)}  # fmt: skip
        drawn = [choice for value, choices in about.get("drawn", {}).items() for choice in (value, *choices)]
        self.drawn = constants(dict.fromkeys(sorted(drawn, key=len, reverse=True), ""))
        self.to_write = self._names_to_write()
        code = [c for c in self.cells if c.cell_type == "code" and "no-grading" not in c.metadata.get("tags", [])]
        self.set_up = [c.source for c in code if c.metadata.nbgrader.locked and not c.metadata.nbgrader.grade]
        self.namespace: dict[str, Any] = {"__name__": "tests"}
        for text in self.set_up:
            exec(_python(text), self.namespace)
        modules = [thing.__name__ for thing in self.namespace.values() if isinstance(thing, ModuleType)]
        self.helpers = [name for name in modules if name.startswith(f"{__package__}.")]
        # An optimizer imports this when it is first used: two seconds that are not the student's. It needs operators.
        needed = any("optim" in c.source for c in self.cells) or any("torch.ops" in name for name in self.blocked)
        self.warm = ["torch._dynamo"] if needed else []

    def parts(self) -> list[Part]:
        graded = [cell.metadata.nbgrader for cell in self.cells if cell.metadata.nbgrader.grade]
        return [Part(part.grade_id, part.points, by_hand=part.solution) for part in graded]

    def _names_to_write(self) -> tuple[set[str], set[str], set[str]]:
        """Names that hold answers: all, those that are files of the library, those of torch."""
        homes = {name: getattr(getattr(nmt_lib, name), "__module__", "") for name in dir(nmt_lib)}
        blocked = {n for n, home in homes.items() if home in self.blocked}
        blocked |= {b.rpartition(".")[2] for b in self.blocked}
        blocked -= {name for names in self.answers.values() for name in names}
        files = {b.rpartition(".")[2] for b in self.blocked if b.startswith("nmt_lib.")}  # but model.encoder is fine
        torchs = {b.rpartition(".")[2] for b in self.blocked if b.startswith("torch.")}  # nn.Embedding is not ours
        return blocked, files, torchs

    def program(self, cells: list[Cell], notes: list[str]) -> list[tuple[str, dict[str, dict[str, bool]]]]:
        """The cells to run, each with the answers to take after it: our set-up first, then all that the student wrote.

        An answer is what its names stand for after the last cell that binds them: a function or class anywhere, a
        variable in the answer's own place if it is bound there. So copied, moved, retyped, split cells and lost
        metadata change nothing. Locked cells are ours, whatever became of them.
        """
        locked = [c for c in [*self.given, *self.cells] if c.metadata.nbgrader.locked]
        ours, texts = {c.metadata.nbgrader.grade_id for c in locked}, {c.source.strip() for c in locked}
        stubs = {c.source.strip() for c in self.given if _is_answer(c)}
        written: list[tuple[str, str]] = []  # source, and the answer in whose place it stands
        place = ""
        for cell in cells:
            if cell.grade_id in ours or cell.source.strip() in texts:
                place = ""
                if cell.kind == "code" and cell.source.strip() and cell.source.strip() not in texts:
                    notes.append(f"the locked cell {cell.grade_id} was changed; the change does not count")
            elif cell.kind == "code" and len(cell.source) > MAX_CELL:
                notes.append(f"a cell of {len(cell.source) >> 10} KB was left out")
            elif cell.kind == "code" and cell.source.strip():
                place = cell.grade_id if cell.grade_id in self.answers else place
                written.append((cell.source, place))
        program: list[tuple[str, dict[str, dict[str, bool]]]] = [(source, {}) for source in self.set_up]
        program += [(source, {}) for source, _ in written]
        bound = [defined(source) | assigned(source) | imported(source) for source, _ in written]
        ids = {cell.grade_id for cell in cells}
        for part, wanted in self.answers.items():
            for name, is_function in wanted.items():
                binds = [i for i, names in enumerate(bound) if names & {name, "*"}]
                if not is_function:
                    binds = [i for i in binds if written[i][1] == part] or binds
                for i in [i for i in binds if written[i][0].strip() not in stubs] or binds:
                    program[len(self.set_up) + i][1].setdefault(part, {})[name] = is_function
            if part not in ids and not any(part in takes for _, takes in program):
                notes.append(f"no cell with the answer {part} ({', '.join(wanted)}) was found")
        return program

    def of_another_seed(self, cells: list[Cell]) -> list[str]:
        """Notes: the notebook, or its answers, have the constants of a class made with another seed."""
        notes = []
        here = {c.source.strip() for c in [*self.given, *self.cells]}
        given = {self.drawn.sub("_", text) for text in here}
        others = sum(c.source.strip() not in here and self.drawn.sub("_", c.source.strip()) in given for c in cells)
        if others:
            notes.append(f"PLEASE LOOK: {others} locked cells are of another SEED: was the class made anew since?")
        theirs = [c.source for c in cells if c.kind == "code" and len(c.source) < MAX_CELL]
        exact, bare = {_tree(text) for text in theirs}, {_tree(self.drawn.sub("_", text)) for text in theirs}
        ours = {c.metadata.nbgrader.grade_id: c.source for c in self.cells if _is_answer(c)}
        same = [part for part, text in ours.items() if _tree(text) in exact]
        other = [part for part, text in ours.items() if _tree(self.drawn.sub("_", text)) in bare and part not in same]
        if other and len(same + other) >= min(3, len(self.answers)):
            notes.append("PLEASE LOOK: published solutions with the constants of another SEED: "
                         f"{', '.join([*other, *same])}")  # fmt: skip
        return notes

    def written(self, part: Part, cells: list[Cell]) -> None:
        """Finds the text of a written answer: by its id, else behind the question."""
        place = next(i for i, c in enumerate(self.given) if c.metadata.nbgrader.grade_id == part.name)
        stub, question = self.given[place].source.strip(), self.given[place - 1].source.strip()
        texts = [cell.source.strip() for cell in cells if cell.grade_id == part.name]
        if not texts:
            behind = [i + 1 for i, cell in enumerate(cells[:-1]) if cell.source.strip() == question]
            texts = [cells[i].source.strip() for i in behind if cells[i].kind == "markdown"]
        part.written = next((text for text in reversed(texts) if text not in ("", stub)), "")
        if not part.written:
            part.score, part.says = 0.0, "nothing is written here"

    def names_used(self, cells: list[Cell]) -> list[str]:
        """A note, where the student's code mentions names of the library that this assignment asks to write."""
        blocked, files, torchs = self.to_write
        found: set[str] = set()
        for cell in cells:
            tree = parsed(cell.source) if cell.kind == "code" and len(cell.source) < MAX_CELL else None
            with contextlib.suppress(RecursionError):
                for node in ast.walk(tree) if tree else ():
                    if isinstance(node, (ast.Import, ast.ImportFrom)):
                        found |= {word for a in node.names for word in a.name.split(".")} & blocked
                        found |= set((getattr(node, "module", None) or "").split(".")) & blocked
                    elif isinstance(node, ast.Attribute):
                        value = ast.unparse(node.value)
                        names = torchs if value in ("self", "nn", "torch.nn") else blocked
                        found |= {node.attr} & (names if value in ("nmt", "nmt_lib") else names - files)
        said = f"PLEASE LOOK: uses {', '.join(sorted(found))} of the library, which is to be written"
        return [said] if found else []


def _is_answer(cell: NotebookNode) -> bool:
    return cell.cell_type == "code" and cell.metadata.nbgrader.solution


def _python(source: str) -> str:
    """IPython's magics as calls."""
    from IPython.core.inputtransformer2 import TransformerManager

    return TransformerManager().transform_cell(source)


def _tree(source: str) -> str:
    """The code without comments and layout; where constants were taken out it may be no Python."""
    tree, lines = parsed(source), (line.strip() for line in source.splitlines())
    return ast.dump(tree) if tree else "\n".join(line for line in lines if line and not line.startswith("#"))


# --------------------------------------------------------------------- the student's process


class Nursery:
    """Starts students' processes, by forking one that has imported torch already. It knows no test and no solution.

    Args:
        shut_in: what the sandbox takes away and must not show, ``(blocked, private)``; None: no sandbox.
    """

    def __init__(self, limits: Limits, warm: list[str], shut_in: tuple[list[str], Iterable[Path]] | None) -> None:
        self.warm = set(warm)
        self.control, theirs = socket.socketpair()
        start = {"control": theirs.fileno(), "memory": limits.memory, "seconds": limits.processor, "warm": warm,
                 "processes": sandbox.PROCESSES if shut_in else 0}  # fmt: skip
        command = [sys.executable, "-m", f"{__package__}.student", json.dumps(start)]
        with contextlib.ExitStack() as stack:
            handles = [stack.enter_context(theirs).fileno()]
            if shut_in:
                rules = stack.enter_context(sandbox.filters())
                handles.append(rules.fileno())
                command = [*sandbox.command(*shut_in, rules), *command]
            self.process = subprocess.Popen(
                command, pass_fds=handles, env={"PATH": os.environ["PATH"]} if shut_in else None,
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            )  # fmt: skip
        try:
            receive(self.control, time.monotonic() + 300)
        except Gone:
            self.process.kill()
            said = self.process.stderr.read().decode(errors="replace") if self.process.stderr else ""
            raise RuntimeError(f"no process for the student's cells can be started: {said[-200:]}") from None

    def visit(self, assignment: Assignment, cell_seconds: float) -> Wire:
        """A fresh copy of the process, in place of the one before; what is said to it goes over the wire."""
        ours, theirs = socket.socketpair()
        job = {"blocked": assignment.blocked, "helpers": assignment.helpers, "cell_seconds": cell_seconds}
        with theirs:
            try:
                send(self.control, json.dumps(job).encode())
                socket.send_fds(self.control, [b"x"], [theirs.fileno()])
            except OSError:
                raise Died() from None
        return Wire(ours)

    def close(self) -> None:
        self.control.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(5)
        self.process.kill()
        self.process.wait()


class Marker:
    """Marks submissions, one after the other.

    Args:
        limits: of time and memory.
        shut_in: each submission in a sandbox of its own. Else the students' processes have the limits only.
        private: what no sandbox shows, though it may lie among Python's packages.
    """

    def __init__(self, limits: Limits | None = None, shut_in: bool = False, private: Iterable[Path] = ()) -> None:
        self.limits, self.shut_in, self.private = limits or Limits(), shut_in, list(private)
        self.nursery: Nursery | None = None
        self.wire: Wire | None = None

    def __enter__(self) -> Marker:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def close(self) -> None:
        if self.nursery:
            self.nursery.close()
        self.nursery = None

    def mark(self, assignment: Assignment, cells: list[Cell], progress: Callable[[Marks], Any] | None = None) -> Marks:
        """Runs the cells, then the tests of each part. A part counts when its tests have ended without an error.

        Args:
            progress: is called after each part.
        """
        start = time.monotonic()
        marks = Marks(assignment.parts())
        with within(self.limits.cell):
            program = assignment.program(cells, marks.notes)
        try:
            with within(self.limits.cell):
                marks.notes += assignment.of_another_seed(cells) + assignment.names_used(cells)
        except (Gone, MemoryError):
            marks.notes.append("PLEASE LOOK: its code is too much to read")
        self.end_by, self.left_out = start + self.limits.all, set[int]()
        self.tested, self.hopeless = False, False
        try:
            for part, cell in zip(marks.parts, [c for c in assignment.cells if c.metadata.nbgrader.grade], strict=True):
                if cell.metadata.nbgrader.solution:
                    assignment.written(part, cells)
                    continue
                part.says = self._part(assignment, program, cell, marks)
                part.score = 0.0 if part.says else part.points
                if progress:
                    progress(marks)
        finally:
            self._leave()
        marks.notes = list(dict.fromkeys(marks.notes))[:MAX_NOTES]
        marks.seconds = time.monotonic() - start
        return marks

    def _part(self, assignment: Assignment, program: list[Any], cell: NotebookNode, marks: Marks) -> str:
        """Runs the tests of one part; what is wrong, or nothing."""
        used_before = self.wire is not None
        try:
            if self.hopeless:
                raise Gone("too many cells end the process")
            wire = self.wire or self._enter(assignment, program, marks)
            seconds = min(self.limits.part, self.end_by - time.monotonic())
            if seconds <= 0:
                raise Gone("no time is left: other parts took too long")
            wire.deadline, self.tested = time.monotonic() + seconds, True
            with within(seconds + 0.5):
                return run_tests(assignment, cell.source, wire)
        except (Gone, MemoryError) as error:
            self._leave()
            if used_before and isinstance(error, Died):  # the part before may have begun it
                return self._part(assignment, program, cell, marks)
            return f"{error}" if isinstance(error, Gone) else "the result takes too much memory"

    def _enter(self, assignment: Assignment, program: list[Any], marks: Marks) -> Wire:
        """A fresh process, with the student's cells run. A cell that ends the process is left out in the next try.

        Once tests have run, notes tell no more what cells say: they could have heard of the tests.
        """
        for _ in range(self.limits.restarts + 1):
            self.wire = wire = self._start(assignment)
            for i, (source, takes) in enumerate(program):
                if i in self.left_out:
                    continue
                wire.deadline = min(time.monotonic() + 1.5 * self.limits.cell, self.end_by)
                try:
                    error = wire.ask("cell", source, takes)
                except Gone as gone:
                    self.left_out.add(i)
                    marks.notes.append(f"a cell was left out ({first_line(source)}): {gone}")
                    self._leave()
                    break
                if error and error[0] != "NotImplementedError" and not self.tested:
                    marks.notes.append(f"a cell ends with {error[0]} ({first_line(source)}): {error[1]}"[:400])
            else:
                wire.ask("ready")
                return wire
        self.hopeless = True
        raise Gone("too many cells end the process")

    def _start(self, assignment: Assignment) -> Wire:
        """The time it takes to load Python and torch is not the submission's."""
        start = time.monotonic()
        if self.nursery and not self.nursery.warm.issuperset(assignment.warm):
            self.close()
        for _ in range(2):
            try:
                if self.nursery is None:
                    shut_in = (assignment.blocked, self.private) if self.shut_in else None
                    self.nursery = Nursery(self.limits, assignment.warm, shut_in)
                    self.end_by += time.monotonic() - start
                return self.nursery.visit(assignment, self.limits.cell)
            except Gone:  # a student's process has ended the one that it was copied from
                self.close()
        raise Died()

    def _leave(self) -> None:
        """A sandbox ends with all that is in it; what is not shut in serves the next submission too."""
        if self.wire is not None:
            self.wire.wire.close()
            self.wire = None
        if self.shut_in:
            self.close()


@contextlib.contextmanager
def within(seconds: float) -> Iterator[None]:
    """What runs here and now is stopped after this time.

    Raises:
        Gone: it was stopped.
    """

    def late(*_: Any) -> None:
        raise Gone(LATE)

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


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


def first_line(source: str) -> str:
    return next(iter(source.strip().splitlines()), "")[:60]
