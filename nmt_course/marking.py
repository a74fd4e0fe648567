"""Marks one submission: the student's cells run in a process of their own, the tests run here.

Only *calls* cross over, and only plain data comes back (``remote.py``). So a student's code never meets a test, and
whatever it does to its own interpreter (other ``assert``, other ``torch.allclose``, objects that equal everything, an
exit) a part is passed only if the values that come back are right.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .assignment import Assignment, Step
from .cells import Cell
from .limits import Limits
from .marks import Marks
from .nursery import Nursery, Private
from .remote import Died, Gone, Wire, within
from .suspicion import names_used, of_another_seed
from .verdict import run_tests

MAX_NOTES = 30


@dataclass
class Marker:
    """Marks submissions, one after the other.

    Args:
        limits: of time and memory.
        private: each run of the cells has a sandbox of its own, which does not show this, though it may lie among
            Python's packages. None: no sandbox; the students' processes have the limits only.
    """

    limits: Limits = field(default_factory=Limits)
    private: Private = None
    nursery: Nursery | None = None

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
                marks.notes += of_another_seed(assignment, cells) + names_used(assignment, cells)
        except (Gone, MemoryError):
            marks.notes.append("PLEASE LOOK: its code is too much to read")
        sitting = Sitting(assignment, program, self.limits, lambda: self._start(assignment), marks.notes)
        try:
            for part, cell in zip(marks.parts, assignment.graded, strict=True):
                if part.by_hand:
                    assignment.written(part, cells)
                    continue
                part.says = sitting.part(cell.source)
                part.score = 0.0 if part.says else part.points
                if progress:
                    progress(marks)
        finally:
            sitting.leave()
            if self.private is not None:
                self.close()  # what is not shut in serves the next submission too
        marks.notes = list(dict.fromkeys(marks.notes))[:MAX_NOTES]
        marks.seconds = time.monotonic() - start
        return marks

    def _start(self, assignment: Assignment) -> Wire:
        """A fresh process; in a sandbox it is the only one."""
        if self.private is not None:
            self.close()
        said = ""
        for _ in range(2):  # a student's process may have ended the one that it was copied from
            try:
                self.nursery = self.nursery or Nursery(assignment.blocked, self.private)
                return self.nursery.visit(assignment, self.limits)
            except Gone:
                said = self.close()
        raise RuntimeError(f"no process for the student's cells can be started: {said[-200:]}")

    def close(self) -> str:
        """Ends all that runs; what was written to standard error."""
        nursery, self.nursery = self.nursery, None
        return nursery.close() if nursery else ""


class Sitting:
    """A submission's cells, run in a student's process, and in another one where that ends or hangs.

    Args:
        program: the cells to run.
        start: gives a fresh process.
        notes: where it writes what it notices.
    """

    def __init__(
        self, assignment: Assignment, program: list[Step], limits: Limits, start: Callable[[], Wire], notes: list[str]
    ) -> None:
        self.assignment, self.program, self.limits, self.start, self.notes = assignment, program, limits, start, notes
        self.end_by = time.monotonic() + limits.all
        self.left_out: set[int] = set()
        self.tested = False
        self.wire: Wire | None = None

    def part(self, source: str) -> str:
        """Runs the tests of one part; what is wrong, or nothing."""
        used_before = self.wire is not None
        try:
            wire = self.wire or self.enter()
            self.tested = True
            with within(self._seconds(self.limits.part)):
                return run_tests(self.assignment, source, wire)
        except (Gone, MemoryError) as error:
            self.leave()
            if used_before and isinstance(error, Died):  # the part before may have begun it
                return self.part(source)
            return f"{error}" if isinstance(error, Gone) else "the result takes too much memory"

    def enter(self) -> Wire:
        """A fresh process, with the student's cells run. A cell that ends the process is left out in the next try.

        Once tests have run, notes tell no more what cells say: they could have heard of the tests.
        """
        while len(self.left_out) <= self.limits.restarts:
            before = time.monotonic()
            self.wire = self.start()
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
            seconds, line = self._seconds(1.5 * self.limits.cell), first_line(source)
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

    def _seconds(self, at_most: float) -> float:
        left = self.end_by - time.monotonic()
        if left <= 0:
            raise Gone("no time is left: other parts took too long")
        return min(at_most, left)

    def leave(self) -> None:
        if self.wire is not None:
            self.wire.connection.close()
            self.wire = None


def first_line(source: str) -> str:
    return next(iter(source.strip().splitlines()), "")[:60]
