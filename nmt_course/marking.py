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
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from nbformat import NotebookNode

import nmt_lib

from .course import answer_names, assigned, defined
from .remote import Answer, Gone, Wire, receive, send

MAX_FILE = 200 << 20


@dataclass(frozen=True)
class Limits:
    """For one submission. Seconds are of the clock, unless it says otherwise."""

    cell: float = 10.0  # a cell of the student
    part: float = 10.0  # the tests of a part
    all: float = 60.0  # everything; parts that are not reached are failed
    processor: int = 90  # seconds of processor time of one process
    memory: int = 2 << 30  # bytes, beyond what Python and torch take
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
    megabytes: int = 0  # of the student's process, with torch
    missing: list[str] = field(default_factory=list)  # of what shuts a process in, on this machine

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
        raise Unreadable("this is no file")
    if path.stat().st_size > MAX_FILE:
        raise Unreadable(f"the file has {path.stat().st_size >> 20} MB")
    try:
        data = json.loads(path.read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError) as error:
        size = path.stat().st_size
        raise Unreadable("the file is empty" if size == 0 else f"the file is no notebook ({error})"[:200]) from None
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
        self.blocked = list(source.metadata.get("nmt", {}).get("blocked", []))
        self.cells = source.cells
        self.given = released.cells  # as the student got them
        self.answers = {c.metadata.nbgrader.grade_id: answer_names(c) for c in self.cells if _is_answer(c)}
        code = [c for c in self.cells if c.cell_type == "code" and "no-grading" not in c.metadata.get("tags", [])]
        self.set_up = [c.source for c in code if c.metadata.nbgrader.locked and not c.metadata.nbgrader.grade]
        self.namespace: dict[str, Any] = {"__name__": "tests"}
        for text in self.set_up:
            exec(_python(text), self.namespace)

    def parts(self) -> list[Part]:
        graded = [cell.metadata.nbgrader for cell in self.cells if cell.metadata.nbgrader.grade]
        return [Part(part.grade_id, part.points, by_hand=part.solution) for part in graded]

    def program(self, cells: list[Cell], notes: list[str]) -> list[tuple[str, dict[str, list[str]]]]:
        """The cells to run, each with the answers to take after it: our set-up first, then all that the student wrote.

        An answer is what its names stand for after the last cell that has its id or defines a function of its name. So
        copied, moved, retyped cells and lost metadata change nothing. Locked cells are ours, whatever became of them.
        """
        ours = {c.metadata.nbgrader.grade_id for c in self.given if c.metadata.nbgrader.locked}
        texts = {c.source.strip() for c in [*self.given, *self.cells] if c.metadata.nbgrader.locked}
        written = []
        for cell in cells:
            if cell.kind != "code" or not cell.source.strip() or cell.source.strip() in texts:
                continue
            if cell.grade_id in ours:
                notes.append(f"the locked cell {cell.grade_id} was changed; the change does not count")
            else:
                written.append(cell)
        program: list[tuple[str, dict[str, list[str]]]] = [(source, {}) for source in self.set_up]
        program += [(cell.source, {}) for cell in written]
        for part, wanted in self.answers.items():
            names = set(wanted)
            holds = [i for i, cell in enumerate(written) if cell.grade_id == part or defined(cell.source) & names]
            holds = holds or [i for i, cell in enumerate(written) if assigned(cell.source) & names]
            full = [i for i in holds if (defined(written[i].source) | assigned(written[i].source)) & names]
            for i in full or holds:
                program[len(self.set_up) + i][1][part] = wanted
            if not holds:
                notes.append(f"no cell with the answer {part} ({', '.join(wanted)}) was found")
        return program

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
        """Names of the library that this assignment asks to write, where the student's code mentions them."""
        homes = {name: getattr(getattr(nmt_lib, name), "__module__", "") for name in dir(nmt_lib)}
        blocked = {n for n, home in homes.items() if home in self.blocked}
        blocked |= {b.rpartition(".")[2] for b in self.blocked}
        blocked -= {name for names in self.answers.values() for name in names}
        files = {b.rpartition(".")[2] for b in self.blocked if b.startswith("nmt_lib.")}  # but model.encoder is fine
        torchs = {b.rpartition(".")[2] for b in self.blocked if b.startswith("torch.")}  # nn.Embedding is not ours
        found = set()
        for cell in cells:
            with contextlib.suppress(SyntaxError, ValueError, RecursionError):
                for node in ast.walk(ast.parse(_python(cell.source))) if cell.kind == "code" else ():
                    if isinstance(node, (ast.Import, ast.ImportFrom)):
                        found |= {word for a in node.names for word in a.name.split(".")} & blocked
                        found |= set((getattr(node, "module", None) or "").split(".")) & blocked
                    elif isinstance(node, ast.Attribute):
                        value = ast.unparse(node.value)
                        names = torchs if value in ("self", "nn", "torch.nn") else blocked
                        found |= {node.attr} & (names if value in ("nmt", "nmt_lib") else names - files)
        return sorted(found)


def _is_answer(cell: NotebookNode) -> bool:
    return cell.cell_type == "code" and cell.metadata.nbgrader.solution


def _python(source: str) -> str:
    """IPython's magics as calls."""
    from IPython.core.inputtransformer2 import TransformerManager

    return TransformerManager().transform_cell(source)


# --------------------------------------------------------------------- the student's process


class Nursery:
    """Starts students' processes, by forking one that has imported torch already. It knows no test and no solution."""

    def __init__(self) -> None:
        self.control, theirs = socket.socketpair()
        handle = theirs.fileno()
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "MPLBACKEND": "Agg"}
        command = [sys.executable, "-m", f"{__package__}.student", str(handle)]
        self.process = subprocess.Popen(command, pass_fds=[handle], env=environment, stdin=subprocess.DEVNULL)
        theirs.close()
        receive(self.control, time.monotonic() + 300)

    def close(self) -> None:
        self.control.close()
        self.process.wait(30)


class Visit:
    """One process of one student."""

    def __init__(self, nursery: Nursery, blocked: list[str], limits: Limits) -> None:
        self.nursery, self.folder, self.pid, self.megabytes = nursery, tempfile.TemporaryDirectory(), 0, 0
        ours, theirs = socket.socketpair()
        job = {"folder": self.folder.name, "memory": limits.memory, "seconds": limits.processor,
               "blocked": blocked, "cell_seconds": limits.cell}  # fmt: skip
        send(nursery.control, json.dumps(job).encode())
        socket.send_fds(nursery.control, [b"x"], [theirs.fileno()])
        theirs.close()
        self.pid = json.loads(receive(nursery.control, time.monotonic() + 60))
        self.wire = Wire(ours)
        self.missing = json.loads(receive(ours, time.monotonic() + 60))

    def end(self) -> None:
        self.wire.wire.close()
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        _, kilobytes = json.loads(receive(self.nursery.control, time.monotonic() + 60))
        self.megabytes = kilobytes >> (20 if sys.platform == "darwin" else 10)
        self.folder.cleanup()


class Marker:
    """Marks submissions, one after the other."""

    def __init__(self, limits: Limits | None = None) -> None:
        self.limits, self.nursery = limits or Limits(), Nursery()
        self.visit: Visit | None = None

    def close(self) -> None:
        self.nursery.close()

    def mark(self, assignment: Assignment, cells: list[Cell]) -> Marks:
        """Runs the cells, then the tests of each part. A part counts when its tests have ended without an error."""
        start = time.monotonic()
        marks = Marks(assignment.parts())
        program = assignment.program(cells, marks.notes)
        used = assignment.names_used(cells)
        if used:
            marks.notes.append(f"PLEASE LOOK: uses {', '.join(used)} of the library, which is to be written")
        self.end_by, self.left_out = start + self.limits.all, set[int]()
        try:
            for part, cell in zip(marks.parts, [c for c in assignment.cells if c.metadata.nbgrader.grade], strict=True):
                if cell.metadata.nbgrader.solution:
                    assignment.written(part, cells)
                    continue
                part.says = self._part(assignment, program, cell, marks)
                part.score = 0.0 if part.says else part.points
        finally:
            self._leave(marks)
        marks.notes = list(dict.fromkeys(marks.notes))
        marks.seconds = time.monotonic() - start
        return marks

    def _part(self, assignment: Assignment, program: list[Any], cell: NotebookNode, marks: Marks) -> str:
        """Runs the tests of one part; what is wrong, or nothing."""
        try:
            visit = self.visit or self._enter(assignment, program, marks)
            visit.wire.deadline = min(time.monotonic() + self.limits.part, self.end_by)
            if time.monotonic() > self.end_by:
                raise Gone("no time is left: other parts took too long")
            return run_tests(assignment, cell.source, visit.wire)
        except Gone as error:
            self._leave(marks)
            return f"{error}"

    def _enter(self, assignment: Assignment, program: list[Any], marks: Marks) -> Visit:
        """A fresh process, with the student's cells run. A cell that ends the process is left out in the next try."""
        for _ in range(self.limits.restarts + 1):
            self.visit = visit = Visit(self.nursery, assignment.blocked, self.limits)
            marks.missing = visit.missing
            for i, (source, takes) in enumerate(program):
                if i in self.left_out:
                    continue
                visit.wire.deadline = min(time.monotonic() + 1.5 * self.limits.cell, self.end_by)
                try:
                    error = visit.wire.ask("cell", source, takes)
                except Gone as gone:
                    self.left_out.add(i)
                    marks.notes.append(f"a cell was left out ({first_line(source)}): {gone}")
                    self._leave(marks)
                    break
                if error and error[0] != "NotImplementedError":
                    marks.notes.append(f"a cell ends with {error[0]} ({first_line(source)}): {error[1][:200]}")
            else:
                return visit
        raise Gone("too many cells end the process")

    def _leave(self, marks: Marks) -> None:
        if self.visit is not None:
            self.visit.end()
            marks.megabytes = max(marks.megabytes, self.visit.megabytes)
            self.visit = None


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
    except Gone:
        raise
    except AssertionError as error:
        return str(error) or "an assertion fails"
    except (NameError, NotImplementedError) as error:
        return f"not written yet, or its cell does not run ({error})"
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:500]
    return ""


def first_line(source: str) -> str:
    return next(iter(source.strip().splitlines()), "")[:60]
