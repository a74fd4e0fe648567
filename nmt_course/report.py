"""What a submission gets, and what ``make grade`` writes of it: tables for the teacher,
a page for the student."""

from __future__ import annotations

import codecs
import csv
import hashlib
import html
import io
import math
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .submissions import Submission

MARKS = (
    "student",
    "assignment",
    "score",
    "of",
    "written answers to read",
    "notes",
    "seconds",
    "MB",
    "file",
    "feedback",
)
PARTS = ("student", "assignment", "part", "points", "score", "says")
WRITTEN = (
    "student",
    "assignment",
    "part",
    "points",
    "score",
    "comment",
    "answer",
    "id",
)
CELL = 20_000  # characters of a cell of a table
WORK = 100_000  # characters of what was handed in that a page shows
STYLE = """body { font: 15px sans-serif; max-width: 60em; margin: 2em auto; color: #222
}
table { border-collapse: collapse } tr { border-top: 1px solid #ddd }
td, th { padding: 3px 10px; text-align: left; vertical-align: top }
pre { background: #f6f6f6; padding: 8px; overflow-x: auto }
.full { color: #060 } .none { color: #a00 } .open { color: #850 }"""


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
    work: str = ""  # the text of what was handed in

    @property
    def score(self) -> float:
        return sum(part.score or 0 for part in self.parts)

    @property
    def of(self) -> float:
        return sum(part.points for part in self.parts)

    @property
    def open(self) -> int:
        """How many written answers wait for a reader."""
        return sum(part.score is None for part in self.parts)

    def stop(self, note: str) -> None:
        """What has no marks gets none."""
        for part in self.parts:
            if part.score is None and not part.written:
                part.score, part.says = 0.0, "not marked: see the notes"
        self.notes.append(f"PLEASE LOOK: {note}")


class Report:
    """Tables and pages in a folder, written as submissions are done. No row of
    ``written.csv`` with points is ever
    dropped.

    Raises:
        ValueError: ``written.csv`` holds something that is no number; nothing is
        changed then.
    """

    def __init__(self, out: Path) -> None:
        self.out, self.results = out, list[tuple[Submission, Marks]]()
        self.typed = read_typed(out / "written.csv")

    def add(self, submission: Submission, marks: Marks) -> None:
        """Writes one result; what cannot be written costs this result's page, no
        other's."""
        if submission.note:
            marks.notes.append(submission.note)
        for part in marks.parts:
            if part.written and part.score is None:
                self._take_typed(submission, marks, part)
        self.results.append((submission, marks))
        self.results.sort(key=lambda result: (result[0].student, result[0].assignment))
        try:
            (self.out / "feedback" / page_name(submission)).write_text(
                feedback(submission, marks), encoding="utf-8"
            )
        except OSError as error:
            marks.notes.append(f"PLEASE LOOK: no page was written ({error.strerror})")
        self.write()

    def _take_typed(self, submission: Submission, marks: Marks, part: Part) -> None:
        """Points for the same text; a note where the text has changed since."""
        who, text = row_id(submission, part)
        row = self.typed.get(who)
        if row and row["id"] == f"{who}-{text}":
            points = _number(row["score"])
            part.score = None if points is None else min(part.points, max(0.0, points))
            part.says = row["comment"]
        elif row and row["score"].strip():
            part.says = f"({row['score']} points for an earlier text) {row['comment']}"
            marks.notes.append(
                
                    f"PLEASE LOOK: {part.name} was changed since it got "
                    f"{row['score']} points"
                
            )

    def write(self) -> None:
        """All tables, with what is known."""
        (self.out / "feedback").mkdir(parents=True, exist_ok=True)
        marks, parts, written = [], [], dict[str, Iterable[Any]]()
        for s, m in self.results:
            about = [
                m.open,
                " | ".join(m.notes),
                f"{m.seconds:.1f}",
                m.megabytes,
                s.path,
                page_name(s),
            ]
            marks.append(
                [
                    s.student,
                    s.assignment,
                    *([f"{m.score:g}", f"{m.of:g}"] if m.parts else ["", ""]),
                    *about,
                ]
            )
            for part in m.parts:
                score = "" if part.score is None else f"{part.score:g}"
                parts.append(
                    [s.student, s.assignment, part.name, part.points, score, part.says]
                )
                if part.written:
                    who, text = row_id(s, part)
                    written[who] = [*parts[-1], part.written, f"{who}-{text}"]
        earlier = {
            who: [row.get(column, "") for column in WRITTEN]
            for who, row in self.typed.items()
        }
        self._table(
            "written",
            WRITTEN,
            (
                written | {w: row for w, row in earlier.items() if w not in written}
            ).values(),
        )
        self._table("marks", MARKS, marks)
        self._table("parts", PARTS, parts)

    def _table(
        self, name: str, columns: Iterable[str], rows: Iterable[Iterable[Any]]
    ) -> None:
        """Replaces the whole table at once."""
        path = self.out / f"{name}.csv"
        with path.with_suffix(".new").open(
            "w", encoding="utf-8-sig", newline=""
        ) as file:
            csv.writer(file).writerows(
                [_safe(str(value)) for value in row] for row in (columns, *rows)
            )
        os.replace(path.with_suffix(".new"), path)


def read_typed(path: Path) -> dict[str, dict[str, str]]:
    """The rows of ``written.csv`` by student, assignment and part, whatever a
    spreadsheet made of the file: commas,
    semicolons or tabs; UTF-8, UTF-16 or Windows' own letters; any line ends.

    Raises:
        ValueError: a column is missing, or points are no number.
    """
    raw = path.read_bytes() if path.exists() else b""
    try:
        text = raw.decode(
            "utf-16"
            if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
            else "utf-8-sig"
        )
    except UnicodeDecodeError:
        text = raw.decode("cp1252", "replace")
    csv.field_size_limit(1 << 24)
    lines = io.StringIO(text, newline=None)
    typed: dict[str, dict[str, str]] = {}
    for row in csv.DictReader(
        lines, delimiter=max(",;\t", key=text.partition("\n")[0].count), restval=""
    ):
        if missing := {"id", "score", "comment", "answer"} - row.keys():
            raise ValueError(
                
                    f"{path}: there is no column {', '.join(sorted(missing))}; "
                    "nothing was changed"
                
            )
        try:
            points = _number(row["score"])
        except ValueError:
            raise ValueError(
                f"{path}: {row['score']!r} is no number; nothing was changed"
            ) from None
        who = row["id"].partition("-")[0]
        if points is not None or who not in typed:
            typed[who] = row
    return typed


def _number(typed: str) -> float | None:
    text = typed.strip().strip("'").replace(",", ".")
    if text and not math.isfinite(float(text)):
        raise ValueError(typed)
    return float(text) if text else None


def row_id(submission: Submission, part: Part) -> tuple[str, str]:
    """Whose answer it is, and which text, as no spreadsheet changes them."""
    who = f"{submission.student}\n{submission.assignment}\n{part.name}"
    return f"w{_digest(who)}", _digest(" ".join(part.written.split()))


def page_name(submission: Submission) -> str:
    """Of this submission alone, on every file system: no case, no odd letters, no
    length decides."""
    readable = re.sub(r"[^A-Za-z0-9.]+", "-", submission.student)[:60].strip("-.")
    who = _digest(f"{submission.student}\n{submission.assignment}")
    return f"{readable}-{submission.assignment}-{who}.html".lstrip("-")


def feedback(submission: Submission, marks: Marks) -> str:
    """A page of 1 MB at most."""
    rows = ""
    for part in marks.parts:
        kind = (
            "open"
            if part.score is None
            else "full"
            if part.score == part.points
            else "none"
        )
        score = "to be read" if part.score is None else f"{part.score:g}"
        told = _text(part.says[:2000])
        rows += (
            f"<tr class={kind}><td>{_text(part.name)}<td>{score} of "
            f"{part.points:g}<td>{told}</tr>\n"
        )
    total = f"{marks.score:g} of {marks.of:g}" if marks.parts else "not marked"
    notes = "".join(
        f"<li>{_text(note.removeprefix('PLEASE LOOK: ')[:500])}" for note in marks.notes
    )
    title = _text(f"{submission.assignment} · {submission.student}")
    head = (
        "<!DOCTYPE html><html lang=en><meta "
        f"charset=utf-8><title>{title}</title><style>{STYLE}</style>"
    )
    return f"{head}<h1>{title}</h1>"(
        f"<p><b>{total}</b></p><table><tr><th>part<th>points<th>what the tests "
        f"say</tr>{rows}</table>"
    )(
        f"<ul>{notes}</ul><h2>What was handed "
        f"in</h2><pre>{_text(marks.work[:WORK])}</pre></html>"
    )


def _text(value: str) -> str:
    return html.escape(letters(value))


def letters(text: str) -> str:
    """Without control characters; what is no Unicode is spelled out."""
    text = text.encode("utf-8", "backslashreplace").decode()
    return "".join(
        c if c.isprintable() or c in "\n\t" else " " * c.isspace() for c in text
    )


def _safe(text: str) -> str:
    """No spreadsheet takes it for a formula, and no broken character stops the file."""
    text = letters(text)[:CELL]
    return "'" + text if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:10]
