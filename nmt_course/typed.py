"""Written answers: out to ``written.csv``, and the points back that a person has typed there, whatever a spreadsheet
made of the file."""

from __future__ import annotations

import csv
import hashlib
import math
from pathlib import Path
from typing import Any

from .marks import Part, Result
from .page import CELL, letters

WRITTEN = ["student", "assignment", "part", "points", "score", "comment", "answer", "id"]
Row = dict[str, Any]


def key(row: Row) -> tuple[str, ...]:
    names = (row["student"], row["assignment"], row["part"])
    return tuple(" ".join(safe(name).split()).removeprefix("'") for name in names)


def part_row(result: Result, part: Part) -> list[Any]:
    who, score = result.submission, "" if part.score is None else f"{part.score:g}"
    return [who.student, who.assignment, part.name, part.points, score, part.says]


def written_row(result: Result, part: Part) -> Row:
    return dict(zip(WRITTEN, [*part_row(result, part), part.written, _digest(part.written)], strict=True))


def take_typed(result: Result, part: Part, typed: dict[tuple[str, ...], Row]) -> None:
    """Points for the same text; a note where the text has changed since."""
    row = typed.get(key(written_row(result, part)))
    if not row or part.score is not None or not part.written:
        return
    if row.get("id") == _digest(part.written) or _digest(row["answer"]) == _digest(safe(part.written)):
        points = _number(row["score"])
        part.score = None if points is None else min(part.points, max(0.0, points))
        part.says = row["comment"]
    elif row["score"].strip():
        part.says = f"({row['score']} points for an earlier text) {row['comment']}"
        result.marks.notes.append(f"PLEASE LOOK: {part.name} was changed since it got {row['score']} points")


def read_typed(path: Path) -> dict[tuple[str, ...], Row]:
    """The rows of ``written.csv`` by student, assignment and part: with commas, semicolons or tabs, in UTF-8, UTF-16
    or Windows' own letters, with any line ends.

    Raises:
        ValueError: a column is missing, or points are no number.
    """
    text = _decoded(path) if path.exists() else ""
    csv.field_size_limit(1 << 24)
    lines = text.replace("\r\n", "\n").replace("\r", "\n").splitlines(keepends=True)
    rows = list(csv.DictReader(lines, delimiter=max(",;\t", key=text.partition("\n")[0].count)))
    typed: dict[tuple[str, ...], Row] = {}
    for row in [{k: v or "" for k, v in row.items() if isinstance(v, str | None) and k} for row in rows]:
        if missing := {*WRITTEN} - {"id", "points", *row}:
            raise ValueError(f"{path}: there is no column {', '.join(sorted(missing))}; nothing was changed")
        try:
            points = _number(row["score"])
        except ValueError:
            who = f"{row['student']} {row['part']}"
            raise ValueError(f"{path}: {row['score']!r} ({who}) is no number; nothing was changed") from None
        if points is not None or key(row) not in typed:
            typed[key(row)] = row
    return typed


def _decoded(path: Path) -> str:
    raw = path.read_bytes()
    if raw[:2] not in (b"\xff\xfe", b"\xfe\xff"):
        try:
            return raw.decode("utf-8-sig")
        except UnicodeDecodeError:
            return raw.decode("cp1252", "replace")
    try:
        return raw.decode("utf-16")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: cut off in the middle ({error.reason}); nothing was changed") from None


def _number(typed: str) -> float | None:
    text = typed.strip().strip("'").replace(",", ".")
    if text and not math.isfinite(float(text)):
        raise ValueError(typed)
    return float(text) if text else None


def _digest(answer: str) -> str:
    """Of the words: line ends and spaces do not matter."""
    return hashlib.sha256(" ".join(answer.split()).removeprefix("'").encode("utf-8", "replace")).hexdigest()[:12]


def safe(text: str) -> str:
    """No spreadsheet takes it for a formula, and no broken character stops the file."""
    text = letters(text)[:CELL]
    return "'" + text if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text
