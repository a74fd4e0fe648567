"""Marks a folder of submissions: ``make grade DIR=…`` writes marks as CSV and feedback as HTML.

``DIR`` holds a folder for each student (nbgrader's ``submitted/`` is one), or a file for each, named
``ada_A1_tokenization.ipynb``.
"""

from __future__ import annotations

import argparse
import csv
import html
import os
import re
import sys
import time
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import nbformat

from .marking import Assignment, Cell, Limits, Marker, Marks, Unreadable, read
from .remote import Gone

START = "fork" if sys.platform == "linux" else "spawn"  # a worker that is forked has imported torch already
ROOT = Path(__file__).resolve().parent.parent
STYLE = """body { font: 15px sans-serif; max-width: 60em; margin: 2em auto; color: #222 }
table { border-collapse: collapse } tr { border-top: 1px solid #ddd }
td, th { padding: 3px 10px; text-align: left; vertical-align: top }
pre { background: #f6f6f6; padding: 8px; overflow-x: auto }
.full { color: #060 } .none { color: #a00 } .open { color: #850 }"""


@dataclass(frozen=True)
class Submission:
    student: str
    assignment: str
    path: Path
    note: str = ""


@dataclass(frozen=True)
class Result:
    submission: Submission
    marks: Marks
    cells: list[Cell]


# ----------------------------------------------------------------------- finding submissions


def find(folder: Path, course: dict[str, Path]) -> list[Submission]:
    """One for each student and assignment. A file that belongs to no assignment is listed too: nothing is lost
    silently."""
    found: dict[tuple[str, str], Submission] = {}
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder)
        if not (path.is_file() or path.is_symlink()) or any(part.startswith((".", "__")) for part in inside.parts):
            continue
        name = assignment_of(inside, path, course)
        if path.suffix != ".ipynb" and not name:
            continue  # timestamps, pictures and other things that lie beside
        student = (
            inside.parts[0]
            if len(inside.parts) > 1
            else re.sub(rf"[_-]*({name}|{name[:2]})$", "", path.stem) or path.stem
        )
        before = found.get((student, name))
        best = path if not before or path.stem == name or before.path.suffix != ".ipynb" else before.path
        note = f"more than one file: {best.relative_to(folder)} was marked" if before else ""
        found[student, name] = Submission(student, name, best, note)
    return list(found.values())


def assignment_of(inside: Path, path: Path, course: dict[str, Path]) -> str:
    """By the number in the file's name, else in its folder's, else by the ids of its cells."""
    for text in reversed(inside.parts if len(inside.parts) < 2 else inside.parts[1:]):
        for name in course:
            if re.search(rf"(?<![A-Za-z0-9]){name.split('_')[0]}(?![A-Za-z0-9])", text.replace("_", " ")):
                return name
    try:
        ids = {cell.grade_id for cell in read(path)} - {""} if path.suffix == ".ipynb" else set()
    except Unreadable:
        ids = set()
    shared = {
        name: len(ids & {c.metadata.nbgrader.grade_id for c in nbformat.read(course[name], 4).cells}) for name in course
    }
    best = max(shared, key=shared.__getitem__)
    return best if shared[best] or (len(course) == 1 and path.suffix == ".ipynb") else ""


# ----------------------------------------------------------------------------------- marking

_worker: dict[str, Any] = {}


def _start(course: dict[str, Path], limits: Limits) -> None:
    _worker.update(assignments={}, course=course, limits=limits)


def released(source: Path) -> Path:
    """The release that ``make class`` wrote with this source."""
    return source.parents[2] / "release" / source.parent.name / source.name


def mark_one(submission: Submission) -> Result:
    """In a worker. Whatever goes wrong is a result too: one bad submission never stops the others."""
    cells: list[Cell] = []
    try:
        if submission.assignment not in _worker["course"]:
            raise Unreadable("it is not to be seen which assignment this is: name the file like the assignment")
        if submission.assignment not in _worker["assignments"]:
            source = _worker["course"][submission.assignment]
            editions = [nbformat.read(path, as_version=4) for path in (source, released(source))]
            _worker["assignments"][submission.assignment] = Assignment(*editions)
        assignment = _worker["assignments"][submission.assignment]
        marks = Marks(assignment.parts())
        cells = read(submission.path)
        if "marker" not in _worker:
            _worker["marker"] = Marker(_worker["limits"])
        marks = _worker["marker"].mark(assignment, cells)
    except Unreadable as error:
        marks = nothing(submission, f"PLEASE LOOK: {error}")
    except (Exception, Gone) as error:
        _worker.pop("marker", None)
        marks = nothing(submission, f"PLEASE LOOK: could not be marked ({type(error).__name__}: {error})")
    if submission.note:
        marks.notes.append(submission.note)
    return Result(submission, marks, cells)


def nothing(submission: Submission, note: str) -> Marks:
    assignment = _worker.get("assignments", {}).get(submission.assignment)
    marks = Marks(assignment.parts() if assignment else [], [note])
    for part in marks.parts:
        part.score = 0.0
    return marks


def mark_all(submissions: list[Submission], course: dict[str, Path], limits: Limits, jobs: int) -> list[Result]:
    """With several workers. If one dies, what it had not finished is tried once more, alone."""
    results: dict[Submission, Result] = {}
    for workers in (jobs, 1):
        left = [submission for submission in submissions if submission not in results]
        if not left:
            break
        with ProcessPoolExecutor(min(workers, len(left)), get_context(START), _start, (course, limits)) as pool:
            waiting = [(submission, pool.submit(mark_one, submission)) for submission in left]
            for submission, future in waiting:
                try:
                    results[submission] = future.result()
                    show(results[submission])
                except BrokenExecutor:
                    continue
    for submission in submissions:
        results.setdefault(submission, Result(submission, nothing(submission, "PLEASE LOOK: marking itself ended"), []))
    return [results[submission] for submission in submissions]


def show(result: Result) -> None:
    marks, submission = result.marks, result.submission
    rest = f" + {marks.open} written answers to read" if marks.open else ""
    notes = f"; {len(marks.notes)} notes" if marks.notes else ""
    print(
        f"{submission.student} {submission.assignment}: {marks.score:g}{rest} ({marks.seconds:.1f} s{notes})",
        flush=True,
    )


# --------------------------------------------------------------------------- what is written


def add_written_marks(results: list[Result], path: Path) -> None:
    """Takes over the marks that a person has put into ``written.csv``, where the answer is still the same."""
    if not path.exists():
        return
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = {(row["student"], row["assignment"], row["part"], row["answer"]): row for row in csv.DictReader(file)}
    for result in results:
        for part in result.marks.parts:
            row = rows.get((result.submission.student, result.submission.assignment, part.name, safe(part.written)))
            if row and part.score is None and row["score"].strip():
                try:
                    part.score = min(part.points, max(0.0, float(row["score"].replace(",", "."))))
                except ValueError:
                    who = f"{row['student']} {row['part']}"
                    raise SystemExit(
                        f"error: {path}: {row['score']!r} ({who}) is no number; nothing was changed"
                    ) from None
                part.says = row["comment"]


def write(results: list[Result], out: Path) -> None:
    """``marks.csv``, ``parts.csv``, ``written.csv``, and ``feedback/`` with a page for each submission."""
    marks: list[list[Any]] = [
        ["student", "assignment", "score", "of", "written answers to read", "notes", "seconds", "MB", "file"]
    ]
    parts: list[list[Any]] = [["student", "assignment", "part", "points", "score", "says"]]
    written: list[list[Any]] = [["student", "assignment", "part", "points", "score", "comment", "answer"]]
    (out / "feedback").mkdir(parents=True, exist_ok=True)
    for result in results:
        who, m = [result.submission.student, result.submission.assignment], result.marks
        of = sum(part.points for part in m.parts)
        marks.append(
            [
                *who,
                f"{m.score:g}",
                of,
                m.open,
                " | ".join(m.notes),
                f"{m.seconds:.1f}",
                m.megabytes,
                result.submission.path,
            ]
        )
        for part in m.parts:
            score = "" if part.score is None else f"{part.score:g}"
            parts.append([*who, part.name, part.points, score, part.says])
            if part.written:
                written.append([*who, part.name, part.points, score, part.says, part.written])
        page = re.sub(r"[^\w.-]", "_", "-".join(who)) + ".html"
        (out / "feedback" / page).write_text(feedback(result), encoding="utf-8")
    for name, rows in (("marks", marks), ("parts", parts), ("written", written)):
        with (out / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([[safe(str(value)) for value in row] for row in rows])


def safe(text: str) -> str:
    """No spreadsheet takes it for a formula, and no broken character stops the file."""
    text = text.replace("\x00", "").encode("utf-8", "replace").decode()[:20_000]
    return "'" + text if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text


def feedback(result: Result) -> str:
    """A page for the student: each part with what its tests say, then the work as it was handed in."""
    marks, rows, work = result.marks, "", ""
    for part in marks.parts:
        kind = "open" if part.score is None else "full" if part.score == part.points else "none"
        score = "to be read" if part.score is None else f"{part.score:g}"
        rows += f"<tr class={kind}><td>{_text(part.name)}<td>{score} of {part.points:g}<td>{_text(part.says)}</tr>\n"
    for cell in result.cells:
        work += f"<pre>{_text(cell.source[:20_000])}</pre>\n"
    total = f"{marks.score:g} of {sum(part.points for part in marks.parts):g}"
    notes = "".join(f"<li>{_text(note.removeprefix('PLEASE LOOK: '))}" for note in marks.notes)
    title = _text(f"{result.submission.assignment} · {result.submission.student}")
    head = f"<!DOCTYPE html><html lang=en><meta charset=utf-8><title>{title}</title><style>{STYLE}</style>"
    return (f"{head}<h1>{title}</h1>"
            f"<p><b>{total}</b></p><table><tr><th>part<th>points<th>what the tests say</tr>{rows}</table>"
            f"<ul>{notes}</ul><h2>What was handed in</h2>{work}</html>")  # fmt: skip


def _text(value: str) -> str:
    return html.escape(value.encode("utf-8", "replace").decode())


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--course", type=Path, default=ROOT / "build/class", help="what make class wrote")
    parser.add_argument("--out", type=Path, default=ROOT / "build/grades")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seconds", type=float, default=Limits.part, help="for a cell, and for the tests of a part")
    options = parser.parse_args()
    course = {path.stem: path for path in sorted(options.course.resolve().glob("source/*/*.ipynb"))}
    course = {name: path for name, path in course.items() if released(path).exists()}
    if not course or not options.folder.is_dir():
        here = f"{options.course} has no assignment in source/ and release/: run make class first"
        print(f"error: {f'no folder {options.folder}' if course else here}", file=sys.stderr)
        return 2
    submissions = find(options.folder.resolve(), course)
    if not submissions:
        print(f"error: no notebook below {options.folder}", file=sys.stderr)
        return 2
    start = time.time()
    limits = replace(Limits(), cell=options.seconds, part=options.seconds, all=6 * options.seconds)
    results = mark_all(submissions, course, limits, options.jobs)
    add_written_marks(results, options.out / "written.csv")
    write(results, options.out)
    look = sum(any("LOOK" in note for note in result.marks.notes) for result in results)
    left = sum(result.marks.open for result in results)
    print(
        f"\n{len(results)} submissions in {time.time() - start:.0f} s: "
        f"{options.out}/marks.csv, parts.csv, feedback/*.html"
    )
    print(f"{left} written answers to read: put points into {options.out}/written.csv, then make grade again")
    print(f"{look} submissions ask for a look (PLEASE LOOK in the notes)")
    missing = sorted({name for result in results for name in result.marks.missing})
    if missing:
        print(f"this machine has no {' and no '.join(missing)}: submissions could read its files, see the guide")
    return 0


if __name__ == "__main__":
    sys.exit(main())
