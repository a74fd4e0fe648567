"""One submission's cells, run in a student's process, and in another one where that ends or hangs."""

from __future__ import annotations

import time
from collections.abc import Callable

from .assignment import Assignment, Step
from .limits import Limits
from .remote import Died, Gone, Wire, within
from .verdict import run_tests


class Sitting:
    """Until its time is up.

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
