"""What ``make grade`` writes: tables for the teacher, a page for each submission, as submissions are done.

Points that a person has typed into ``written.csv`` are taken over, whatever a spreadsheet made of the file, and no row
with points is ever dropped.
"""

from __future__ import annotations

import csv
import hashlib
import html
import math
import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .marking import Marks, Part

STYLE = """body { font: 15px sans-serif; max-width: 60em; margin: 2em auto; color: #222 }
table { border-collapse: collapse } tr { border-top: 1px solid #ddd }
td, th { padding: 3px 10px; text-align: left; vertical-align: top }
pre { background: #f6f6f6; padding: 8px; overflow-x: auto }
.full { color: #060 } .none { color: #a00 } .open { color: #850 }"""
MARKS = [
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
]
PARTS = ["student", "assignment", "part", "points", "score", "says"]
WRITTEN = [*PARTS[:5], "comment", "answer", "id"]
CELL, WORK = 20_000, 700_000  # characters of a table's cell, bytes of a page for what was handed in


@dataclass(frozen=True)
class Submission:
    student: str
    assignment: str
    path: Path
    note: str = ""
    problem: str = ""  # why it is not marked


@dataclass
class Result:
    submission: Submission
    marks: Marks
    work: list[str] = field(default_factory=list)  # the cells' texts, cut to what a page shows
    finished: bool = False  # else there are no marks after the parts that have some

    def handed_in(self, sources: list[str]) -> None:
        self.work = [source[:CELL] for source in sources[: WORK // 1000]]

    def stop(self, *notes: str) -> None:
        """What has no marks gets none."""
        for part in self.marks.parts:
            if part.score is None and not part.written:
                part.score, part.says = 0.0, part.says or "not marked: see the notes"
        self.marks.notes += dict.fromkeys(notes)
        self.finished = True


class Report:
    """Tables and pages in a folder.

    Raises:
        ValueError: ``written.csv`` holds something that is no number; nothing is changed then.
    """

    def __init__(self, out: Path) -> None:
        self.out, self.results = out, list[Result]()
        self.typed = read_typed(out / "written.csv")

    def start(self) -> None:
        """Tables without rows: each result adds its own."""
        (self.out / "feedback").mkdir(parents=True, exist_ok=True)
        self._table("marks", [MARKS])
        self._table("parts", [PARTS])

    def add(self, result: Result) -> None:
        """Writes one result; what cannot be written costs this result's page, no other's."""
        marks = result.marks
        if result.submission.note:
            marks.notes.append(result.submission.note)
        for part in marks.parts:
            self._take_typed(result, part)
        self.results.append(result)
        try:
            (self.out / "feedback" / page_name(result.submission)).write_text(feedback(result), encoding="utf-8")
        except OSError as error:
            marks.notes.append(f"PLEASE LOOK: no page was written ({error.strerror})")
        self._table("marks", [marks_row(result)], "a")
        self._table("parts", part_rows(result), "a")

    def finish(self) -> None:
        """All tables, in order."""
        self.results.sort(key=lambda result: (result.submission.student, result.submission.assignment))
        rows = [row for result in self.results for row in written_rows(result)]
        kept = {_key(*row[:3]) for row in rows}
        rows += [[row.get(name, "") for name in WRITTEN] for key, row in self.typed.items() if key not in kept]
        self._table("written", [WRITTEN, *rows])
        self._table("marks", [MARKS, *map(marks_row, self.results)])
        self._table("parts", [PARTS, *(row for result in self.results for row in part_rows(result))])

    @property
    def open(self) -> int:
        return sum(result.marks.open for result in self.results)

    def count(self, words: str) -> int:
        return sum(any(words in note for note in result.marks.notes) for result in self.results)

    def _table(self, name: str, rows: list[list[Any]], mode: str = "w") -> None:
        """Appends, or replaces the whole table at once."""
        path = self.out / f"{name}.csv"
        target = path if mode == "a" else path.with_suffix(".new")
        with target.open(mode, encoding="utf-8" if mode == "a" else "utf-8-sig", newline="") as file:
            csv.writer(file).writerows([[safe(str(value)) for value in row] for row in rows])
        os.replace(target, path)

    def _take_typed(self, result: Result, part: Part) -> None:
        row = self.typed.get(_key(result.submission.student, result.submission.assignment, part.name))
        if not row or part.score is not None or not part.written:
            return
        if row.get("id") == _digest(part.written) or _digest(row["answer"]) == _digest(safe(part.written)):
            points = _number(row["score"])
            part.score = None if points is None else min(part.points, max(0.0, points))
            part.says = row["comment"]
        elif row["score"].strip():
            part.says = f"({row['score']} points for an earlier text) {row['comment']}"
            result.marks.notes.append(f"PLEASE LOOK: {part.name} was changed since it got {row['score']} points")


# ----------------------------------------------------------------------------- typed points


def read_typed(path: Path) -> dict[tuple[str, ...], dict[str, str]]:
    """The rows of ``written.csv`` by student, assignment and part: with commas, semicolons or tabs, in UTF-8, UTF-16
    or Windows' own letters, with any line ends.

    Raises:
        ValueError: a column is missing, or points are no number.
    """
    if not path.exists():
        return {}
    raw = path.read_bytes()
    for encoding in ("utf-16",) if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else ("utf-8-sig", "cp1252", "latin-1"):
        try:
            text = raw.decode(encoding)
            break
        except UnicodeDecodeError as error:
            if encoding == "utf-16":
                raise ValueError(f"{path}: cut off in the middle ({error.reason}); nothing was changed") from None
    header = text.partition("\n")[0]
    csv.field_size_limit(1 << 24)
    lines = text.replace("\r\n", "\n").replace("\r", "\n").splitlines(keepends=True)
    rows = list(csv.DictReader(lines, delimiter=max(",;\t", key=header.count)))
    typed: dict[tuple[str, ...], dict[str, str]] = {}
    for row in [{k: v or "" for k, v in row.items() if isinstance(v, str | None) and k} for row in rows]:
        if missing := {*WRITTEN} - {"id", "points", *row}:
            raise ValueError(f"{path}: there is no column {', '.join(sorted(missing))}; nothing was changed")
        try:
            points = _number(row["score"])
        except ValueError:
            who = f"{row['student']} {row['part']}"
            raise ValueError(f"{path}: {row['score']!r} ({who}) is no number; nothing was changed") from None
        key = _key(row["student"], row["assignment"], row["part"])
        if points is not None or key not in typed:
            typed[key] = row
    return typed


def _number(typed: str) -> float | None:
    text = typed.strip().strip("'").replace(",", ".")
    if text and not math.isfinite(float(text)):
        raise ValueError(typed)
    return float(text) if text else None


def _key(*names: str) -> tuple[str, ...]:
    return tuple(" ".join(safe(name).split()).removeprefix("'") for name in names)


def _digest(answer: str) -> str:
    """Of the words: line ends and spaces do not matter."""
    return hashlib.sha256(" ".join(answer.split()).removeprefix("'").encode("utf-8", "replace")).hexdigest()[:12]


# ----------------------------------------------------------------------------- rows and pages


def marks_row(result: Result) -> list[Any]:
    m, s = result.marks, result.submission
    score, of = (f"{m.score:g}", f"{sum(part.points for part in m.parts):g}") if m.parts else ("", "")
    notes = " | ".join(m.notes)
    return [s.student, s.assignment, score, of, m.open, notes, f"{m.seconds:.1f}", m.megabytes, s.path, page_name(s)]


def part_rows(result: Result) -> list[list[Any]]:
    who = [result.submission.student, result.submission.assignment]
    return [[*who, part.name, part.points, _score(part), part.says] for part in result.marks.parts]


def written_rows(result: Result) -> list[list[Any]]:
    who, parts = [result.submission.student, result.submission.assignment], result.marks.parts
    return [[*who, p.name, p.points, _score(p), p.says, p.written, _digest(p.written)] for p in parts if p.written]


def _score(part: Part) -> str:
    return "" if part.score is None else f"{part.score:g}"


def page_name(submission: Submission) -> str:
    """Of this submission alone, on every file system: no case, no odd letters, no length decides."""
    who = f"{submission.student}\n{submission.assignment}".encode("utf-8", "surrogatepass")
    readable = re.sub(r"[^A-Za-z0-9.]+", "-", submission.student)[:60].strip("-.")
    return f"{readable}-{submission.assignment}-{hashlib.sha256(who).hexdigest()[:10]}.html".lstrip("-")


def clean(text: str) -> str:
    """For a terminal: what it would obey, and what is no letter, is spelled out."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def safe(text: str) -> str:
    """No spreadsheet takes it for a formula, and no broken character stops the file."""
    text = letters(text)[:CELL]
    return "'" + text if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text


def letters(text: str) -> str:
    """Without control characters; what is no Unicode is spelled out."""
    text = text.encode("utf-8", "backslashreplace").decode()
    return "".join(c if c.isprintable() or c in "\n\t" else " " * c.isspace() for c in text)


def feedback(result: Result) -> str:
    """A page for the student, of 1 MB at most: each part with what its tests say, then the work as handed in."""
    marks, rows, work = result.marks, "", ""
    for part in marks.parts:
        kind = "open" if part.score is None else "full" if part.score == part.points else "none"
        score = "to be read" if part.score is None else _score(part)
        told = _text(part.says[:2000])
        rows += f"<tr class={kind}><td>{_text(part.name)}<td>{score} of {part.points:g}<td>{told}</tr>\n"
    for source in result.work:
        cell = f"<pre>{_text(source)}</pre>\n"
        if len((work + cell).encode()) > WORK:
            work += "<p>The rest is not shown: it is too long.</p>"
            break
        work += cell
    total = f"{marks.score:g} of {sum(part.points for part in marks.parts):g}" if marks.parts else "not marked"
    notes = "".join(f"<li>{_text(note.removeprefix('PLEASE LOOK: ')[:500])}" for note in marks.notes)
    title = _text(f"{result.submission.assignment} · {result.submission.student}")
    head = f"<!DOCTYPE html><html lang=en><meta charset=utf-8><title>{title}</title><style>{STYLE}</style>"
    return (f"{head}<h1>{title}</h1>"
            f"<p><b>{total}</b></p><table><tr><th>part<th>points<th>what the tests say</tr>{rows}</table>"
            f"<ul>{notes}</ul><h2>What was handed in</h2>{work}</html>")  # fmt: skip


def _text(value: str) -> str:
    return html.escape(letters(value))
