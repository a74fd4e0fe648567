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

from .assignment import Assignment
from .cells import Cell
from .limits import Limits
from .marks import Marks
from .nursery import Nursery, Private
from .remote import Gone, Wire, within
from .sitting import Sitting
from .suspicion import names_used, of_another_seed

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
