"""Marks a folder of submissions with nbgrader: ``make grade DIR=…``.

It collects the notebooks, marks (``nbgrader autograde``), writes the pages that go back
(``generate_feedback``) and the table (``export``), and prints a summary of the class.
All of it is in the course's folder, ``build/class``, where nbgrader's own commands and
its formgrader work as well.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import logging
import os
import re
import sys
import warnings
from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import nbformat
import torch
from nbformat import NotebookNode

from . import sandbox
from .assignment import LOOK, load, plain_text
from .sanitize import Unreadable, clean

ROOT = Path(__file__).resolve().parents[2]
TIMES = "times.csv"
MAX_FILE = 16 << 20  # bytes, of which pictures in outputs take most
JUNK = re.compile(r"\.ipynb_checkpoints|__MACOSX|\._.*|\.git")
Key = tuple[str, str]  # student, assignment


def read(path: Path) -> NotebookNode:
    """The cells of a notebook of any version, sanitized (``sanitize.clean``).

    Raises:
        Unreadable: it is not a notebook, or too large.
    """
    size = path.stat().st_size if path.is_file() and not path.is_symlink() else -1
    if not 0 < size <= MAX_FILE:
        what = {-1: "a link or a folder, not a file", 0: "empty"}
        raise Unreadable(f"it is {what.get(size, f'{size >> 20:,} MB large')}")
    try:
        data = json.loads(path.read_bytes())
        return clean(data if "cells" in data else data["worksheets"][0])
    except Unreadable:
        raise
    except Exception as error:  # whatever a file can hold, or nested too deep
        raise Unreadable(f"it is not a notebook ({type(error).__name__})") from None


# ------------------------------------------------------------------------------ collect


def find(folder: Path, names: list[str]) -> Iterator[tuple[str, str, Path]]:
    """Student, assignment and path of each notebook, in a folder for each student or
    for each assignment, or with names such as ``ada_A1.ipynb``. The assignment is empty
    if no name tells it."""
    numbers = {name.partition("_")[0]: name for name in names}
    mark = re.compile(rf"(?i)(?<![A-Za-z0-9])({'|'.join(numbers)})(?![A-Za-z0-9])")
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        if path.suffix.lower() != ".ipynb" or any(map(JUNK.fullmatch, parts)):
            continue
        folders = parts[:-1]
        texts = [text.replace("_", " ") for text in (path.stem, *reversed(folders))]
        number = next((m[1].upper() for m in map(mark.search, texts) if m), "")
        name = numbers.get(number, "")
        title = rf"{name or '-'}|{number or '-'}"
        stem = re.sub(rf"(?i)^({title})[ _-]+|[ _-]+({title})$", "", path.stem)
        own = (part for part in folders if not re.fullmatch(f"(?i){title}", part))
        yield safe(next(own, stem)), name, path


def safe(student: str) -> str:
    """A student's name that nbgrader, a folder and a table can hold: nothing in it
    begins a formula, and different names stay different."""
    name = re.sub(r"[^\w.@-]+", "_", student)[:60].lstrip("-@._")
    if name == student:
        return name
    digest = hashlib.sha256(student.encode(errors="surrogateescape")).hexdigest()
    return f"{name or 'student'}-{digest[:6]}"


def read_times(path: Path, names: list[str]) -> dict[Key, str]:
    """The teacher's list of times, if there is one: a table with the columns student,
    assignment and time; a time without a zone is in this machine's.

    Raises:
        ValueError: a line cannot be read; the message says which.
    """
    times = dict[Key, str]()
    if not path.exists():
        return times
    numbers = {name.partition("_")[0]: name for name in names}
    with path.open(newline="", encoding="utf-8-sig") as file:
        for line, row in enumerate(csv.DictReader(file), start=2):
            try:
                name = numbers[row["assignment"].strip().partition("_")[0].upper()]
                iso = re.sub("( UTC|Z)$", "+00:00", row["time"].strip())
                time = datetime.fromisoformat(iso).astimezone(timezone.utc)
                times[safe(row["student"].strip()), name] = f"{time:%F %T} UTC"
            except (KeyError, ValueError, AttributeError, OverflowError):
                raise ValueError(
                    f"{path}, line {line}: write student, assignment and time, "
                    "such as ada,A1,2027-02-01 18:00:00 UTC"
                ) from None
    return times


def collect(
    folder: Path, root: Path, names: list[str], times: dict[Key, str]
) -> tuple[list[Key], list[str]]:
    """Puts new and changed submissions where nbgrader expects them. Returns student and
    assignment of these, and a sentence for each file that was not collected.

    A submission's time is the one in the teacher's list, never one of the student's.
    ``nbgrader zip_collect`` follows links, takes the time from the student's folder,
    and collects nothing of the whole class if it cannot read one of these times.
    """
    paths, new, problems = defaultdict[Key, list[Path]](list), list[Key](), list[str]()

    def tell(student: str, path: Path, reason: object) -> None:
        where = repr(f"{student}: {path.relative_to(folder)}")
        problems.append(f"{where} was not collected: {reason}")

    for student, name, path in find(folder, names):
        paths[student, name].append(path)
    for (student, name), several in paths.items():
        path = next((path for path in several if path.stem == name), several[0])
        for other in several:
            if not name:
                tell(student, other, "put the assignment into its name, such as A1")
            elif other != path:
                tell(student, other, f"{path.name!r} counts")
        if not name:
            continue
        try:
            text = nbformat.writes(read(path)).encode()
        except Unreadable as error:
            tell(student, path, error)
            continue
        time = times.get((student, name), "")
        if times and not time:
            problems.append(f"{student}: {name} has no time in {TIMES}")
        target = root / f"submitted/{student}/{name}/{name}.ipynb"
        marked = root / f"autograded/{student}/{name}/{name}.ipynb"
        files = {target: text, target.with_name("timestamp.txt"): time.encode()}
        if marked.exists() and all(
            (file.read_bytes() if file.exists() else b"") == data
            for file, data in files.items()
        ):
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        for file, data in files.items():
            file.unlink(missing_ok=True)
            if data:
                file.write_bytes(data)
        new.append((student, name))
    return sorted(new), problems


# ------------------------------------------------------------------------------ summary


def summary(root: Path, name: str) -> Iterator[str]:
    """The mean of each part, hardest first, and who handed in the same."""
    from nbgrader.api import Gradebook

    parts = defaultdict[str, list[float]](list)
    with Gradebook(f"sqlite:///{root}/gradebook.db", "nmt") as book:
        submissions = book.notebook_submissions(name, name)
        waiting = sum(s.needs_manual_grade for s in submissions)
        scores = [s.score for s in submissions]
        for grade in (grade for one in submissions for grade in one.grades):
            if grade.auto_score is not None or grade.manual_score is not None:
                parts[grade.name].append(grade.score / grade.max_score)
    mean = f"mean {sum(scores) / max(len(scores), 1):.1f} of 100 points"
    yield f"\n{name}: {len(scores)} submissions, {mean}"
    yield f"{waiting} of them have written answers to be read (nbgrader formgrader)"
    for part, shares in sorted(parts.items(), key=lambda p: sum(p[1]) / len(p[1])):
        yield f"  {sum(shares) / len(shares):4.0%}  {part}"
    yield from equal(root, name)


def equal(root: Path, name: str) -> Iterator[str]:
    """Students whose code, or one of whose written answers, is the same."""
    given = {plain_text(cell) for cell in load(root, name).released.cells} | {""}
    groups = defaultdict[tuple[str, str], list[str]](list)
    for path in sorted(root.glob(f"submitted/*/{name}/{name}.ipynb")):
        try:
            own = [cell for cell in read(path).cells if plain_text(cell) not in given]
        except Unreadable:  # collected by another command
            continue
        code = "".join(c.source for c in own if c.cell_type != "markdown")
        texts = {plain_text(c) for c in own if c.cell_type == "markdown"}
        for key in [
            ("code", re.sub(r"\s", "", code)),
            *(("written answers", text) for text in texts),
        ]:
            groups[key].append(path.parts[-3])
    for (kind, text), students in groups.items():
        if text and len(students) > 1:
            yield f"  equal {kind}: {', '.join(students)}"


# --------------------------------------------------------------------------------- main


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--course", type=Path, default=ROOT / "build/class")
    parser.add_argument("--trusted", action="store_true", help="without a sandbox")
    options = parser.parse_args()
    root, folder = options.course.resolve(), options.folder.resolve()
    names = sorted(path.name for path in root.glob("source/*"))
    try:
        times = read_times(root / TIMES, names)
        if not names:
            raise ValueError(f"{options.course} holds no course: run make class first")
        if not folder.is_dir():
            raise ValueError(f"there is no folder {options.folder}")
        if not options.trusted and (reason := sandbox.unavailable()):
            trust = "or make grade TRUSTED=1, for a class that you trust"
            raise ValueError(f"{reason}; {trust}")
    except (ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    grade(folder, root, names, times, options.trusted)
    return 0


def grade(
    folder: Path, root: Path, names: list[str], times: dict[Key, str], trusted: bool
) -> None:
    from nbgrader.apps import ExportApp, NbGraderAPI
    from traitlets.config import PyFileConfigLoader

    torch.set_num_threads(1)
    warnings.simplefilter("ignore")  # SQLAlchemy's, which teachers cannot act on
    os.chdir(root)  # where nbgrader looks for its config
    config = PyFileConfigLoader("nbgrader_config.py", path=str(root)).load_config()
    config.Mark.trusted = trusted
    api = NbGraderAPI(config=config)
    log = logging.getLogger("traitlets")  # ``done`` reads what nbgrader writes to it
    log.handlers, log.propagate = [logging.NullHandler()], False
    new, problems = collect(folder, root, names, times)
    # Those marked before get a new page, too: written answers have been read since.
    old = {(p.parts[-3], p.stem) for p in root.glob("autograded/*/*/A*.ipynb")}
    for student, name in [*new, *sorted(old - {*new})]:
        try:
            if (student, name) in new:
                notes = mark(api, root, student, name)
                look = [note for note in notes if note.startswith(LOOK)]
                problems += [f"{student} {name}: {note}" for note in look]
                print(f"{student} {name}: marked, {len(notes)} notes", flush=True)
            write_page(api, root, student, name)
        except Exception as error:  # whatever it is, the others get their marks
            problems.append(f"{student}: {name} could not be marked: {str(error)!r}")
    export = ExportApp()
    export.initialize(["--to", str(root / "grades.csv"), "--log-level=ERROR"])
    export.start()
    for name in names:
        if any(root.glob(f"submitted/*/{name}")):
            print("\n".join(summary(root, name)))
    print(*(f"\n{problem}" for problem in problems), sep="")
    print(f"\nmarks: {root}/grades.csv; pages for students: {root}/feedback")


def mark(api: Any, root: Path, student: str, name: str) -> list[str]:
    """Marks one submission; returns the notes on it."""
    done(api.autograde(name, student, force=True))
    path = root / f"autograded/{student}/{name}/{name}.ipynb"
    return list(nbformat.read(path, 4).metadata.nmt.notes)


def write_page(api: Any, root: Path, student: str, name: str) -> None:
    """Writes the page that a student gets back. nbgrader lists parts as "Test cell";
    here they have their names."""
    done(api.generate_feedback(name, student, force=True))
    page = root / f"feedback/{student}/{name}/{name}.html"
    named = re.sub(
        r'(#([\w-]+)">)(Test cell|Written response)', r"\1\2", page.read_text()
    )
    page.write_text(named)


def done(result: dict[str, Any]) -> None:
    """Checks what one of nbgrader's commands returns.

    Raises:
        RuntimeError: it failed; the message is the error that nbgrader logged.
    """
    if not result["success"]:
        text = re.sub("(?m)^ {4}", "", result.get("log", "")) + result["error"]
        first = re.search(r"Traceback .*\n(?: .*\n)+(.*)", text)
        raise RuntimeError(first[1][:300] if first else text[-300:])


if __name__ == "__main__":
    sys.exit(main())
