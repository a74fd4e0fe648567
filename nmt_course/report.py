"""What ``make grade`` writes: tables for the teacher, a page for each submission, as submissions are done."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .marks import Result
from .page import feedback, page_name
from .typed import WRITTEN, key, part_row, read_typed, safe, take_typed, written_row

MARKS = ("student", "assignment", "score", "of", "written answers to read", "notes", "seconds", "MB", "file",
         "feedback")  # fmt: skip
PARTS = ("student", "assignment", "part", "points", "score", "says")


class Report:
    """Tables and pages in a folder. No row of ``written.csv`` with points is ever dropped.

    Raises:
        ValueError: ``written.csv`` holds something that is no number; nothing is changed then.
    """

    def __init__(self, out: Path) -> None:
        self.out, self.results = out, list[Result]()
        self.typed = read_typed(out / "written.csv")

    def add(self, result: Result) -> None:
        """Writes one result; what cannot be written costs this result's page, no other's."""
        marks = result.marks
        if result.submission.note:
            marks.notes.append(result.submission.note)
        for part in marks.parts:
            take_typed(result, part, self.typed)
        self.results.append(result)
        self.results.sort(key=lambda result: (result.submission.student, result.submission.assignment))
        try:
            (self.out / "feedback" / page_name(result.submission)).write_text(feedback(result), encoding="utf-8")
        except OSError as error:
            marks.notes.append(f"PLEASE LOOK: no page was written ({error.strerror})")
        self.write()

    def write(self) -> None:
        """All tables, with what is known."""
        (self.out / "feedback").mkdir(parents=True, exist_ok=True)
        parts = [(result, part) for result in self.results for part in result.marks.parts]
        written = [written_row(result, part) for result, part in parts if part.written]
        rows = {key(row): row for row in written}
        written += [row for name, row in self.typed.items() if name not in rows]
        self._table("written", WRITTEN, ([row.get(column, "") for column in WRITTEN] for row in written))
        self._table("marks", MARKS, map(marks_row, self.results))
        self._table("parts", PARTS, (part_row(*pair) for pair in parts))

    @property
    def open(self) -> int:
        return sum(result.marks.open for result in self.results)

    def count(self, words: str) -> int:
        return sum(any(words in note for note in result.marks.notes) for result in self.results)

    def _table(self, name: str, columns: Iterable[str], rows: Iterable[list[Any]]) -> None:
        """Replaces the whole table at once."""
        path = self.out / f"{name}.csv"
        with path.with_suffix(".new").open("w", encoding="utf-8-sig", newline="") as file:
            csv.writer(file).writerows([safe(str(value)) for value in row] for row in (columns, *rows))
        os.replace(path.with_suffix(".new"), path)


def marks_row(result: Result) -> list[Any]:
    m, s = result.marks, result.submission
    score, of = (f"{m.score:g}", f"{m.of:g}") if m.parts else ("", "")
    notes = " | ".join(m.notes)
    return [s.student, s.assignment, score, of, m.open, notes, f"{m.seconds:.1f}", m.megabytes, s.path, page_name(s)]
