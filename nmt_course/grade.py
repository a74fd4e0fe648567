"""Marks a folder of submissions: ``make grade DIR=…`` writes marks as CSV and feedback as HTML.

``DIR`` holds a folder for each student (nbgrader's ``submitted/`` is one), one for each assignment, or a file for each
student, named ``ada_A1_tokenization.ipynb``.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import nbformat
import torch

from . import sandbox
from .assignment import Assignment
from .cells import Unreadable, read
from .jobs import Course, alone, mark_all
from .limits import Limits
from .marking import Marker
from .marks import Result
from .report import Report
from .submissions import find

ROOT = Path(__file__).resolve().parent.parent


def load_course(folder: Path) -> Course:
    """What ``make class`` wrote: each source with its release."""
    pairs = [(p, folder / "release" / p.parent.name / p.name) for p in sorted(folder.glob("source/*/*.ipynb"))]
    return {source.stem: Assignment(*(nbformat.read(path, as_version=4) for path in (source, released)))
            for source, released in pairs if released.exists()}  # fmt: skip


def identify(path: Path, course: Course, report: Callable[[Any], Any]) -> None:
    """The assignment by the ids of the cells. In a process of its own: who knows what is in the file."""
    try:
        ids = {cell.grade_id for cell in read(path)} - {""}
    except Unreadable:
        ids = set()
    shared = {name: len(ids & {c.metadata.nbgrader.grade_id for c in course[name].cells}) for name in course}
    best = max(shared, key=shared.__getitem__)
    report(best if shared[best] or len(course) == 1 else "")


def show(result: Result) -> None:
    marks, submission = result.marks, result.submission
    rest = f" + {marks.open} written answer{'s' * (marks.open > 1)} to read" if marks.open else ""
    notes = f"; {len(marks.notes)} note{'s' * (len(marks.notes) > 1)}" if marks.notes else ""
    score = f"{marks.score:g}" if marks.parts else "not marked"
    line = f"{submission.student} {submission.assignment}: {score}{rest} ({marks.seconds:.1f} s{notes})"
    print(clean(line)[:300], flush=True)


def clean(text: str) -> str:
    """For a terminal: what it would obey, and what is no letter, is spelled out."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--course", type=Path, default=ROOT / "build/class", help="what make class wrote")
    parser.add_argument("--out", type=Path, default=ROOT / "build/grades")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seconds", type=float, default=Limits.part, help="for a cell, and for the tests of a part")
    parser.add_argument("--trusted", action="store_true", help="without a sandbox, for a class that you trust")
    options = parser.parse_args()
    try:
        report = grade(options)
    except (ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(f"{report.open} written answers to read: put points into {options.out}/written.csv, then make grade again")
    print(f"{report.count('LOOK')} submissions ask for a look (PLEASE LOOK in the notes)")
    if others := report.count("another SEED"):
        print(f"{others} submissions belong to a class made with another SEED: make that class again before you grade")
    return 0


def grade(options: argparse.Namespace) -> Report:
    """Finds, marks, writes.

    Raises:
        ValueError, OSError: why it does not, in one sentence.
    """
    start, folder, home = time.time(), options.folder.resolve(), options.course.resolve()
    torch.set_num_threads(1)
    course = load_course(home)
    if not course:
        raise ValueError(f"{options.course} has no assignment in source/ and release/: run make class first")
    if not folder.is_dir():
        raise ValueError(f"no folder {options.folder}")
    if not options.trusted and (reason := sandbox.unavailable()):
        raise ValueError(f"{reason}; or say --trusted (make grade TRUSTED=1), for a class that you trust")
    limits = replace(Limits(), cell=options.seconds, part=options.seconds, all=6 * options.seconds)
    private = (home, folder, options.out.resolve(), ROOT / "notebooks")
    marker = Marker(limits, None if options.trusted else private)
    report = Report(options.out)
    short = replace(limits, all=0)
    submissions = find(folder, course, lambda path: alone(identify, path, course, limits=short) or "")
    if not submissions:
        raise ValueError(f"no notebook below {options.folder}")
    report.write()
    for result in mark_all(submissions, course, marker, max(1, options.jobs)):
        report.add(result)
        show(result)
    took = f"{len(report.results)} submissions in {time.time() - start:.0f} s"
    print(f"\n{took}: {options.out}/marks.csv, parts.csv, feedback/*.html")
    return report


if __name__ == "__main__":
    sys.exit(main())
