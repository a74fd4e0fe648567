"""Marks a folder of submissions with nbgrader: ``make grade DIR=…``.

It collects the notebooks, marks (``nbgrader autograde``), writes the pages that go back
(``generate_feedback``) and the table, and prints a summary of the class. All of it is
in the course's folder, ``build/class``, where nbgrader's own commands and its
formgrader work as well.
"""

from __future__ import annotations

import argparse
import hashlib
import logging
import os
import re
import sys
import warnings
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import nbformat
import torch
from filelock import FileLock, Timeout

from . import sandbox, tables
from .assignment import LOOK
from .collect import (
    STUDENTS,
    File,
    Index,
    Key,
    Problems,
    collect,
    identify,
    read_students,
    titles,
)
from .course import OUT, made_names
from .dates import EXTENSIONS, TIMES, days, read_list, utc

PAGE = "<style>img {max-width: 100%}</style>\n<!-- of the marks "


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?", help="default: nothing new")
    parser.add_argument("--course", type=Path, default=OUT)
    parser.add_argument("--again", nargs="*", default=[], help="A1, or a student")
    parser.add_argument("--format", default="", choices=[*tables.PERSON])
    parser.add_argument("--trusted", action="store_true", help="without a sandbox")
    options = parser.parse_args()
    options.course = root = options.course.resolve()
    options.folder = options.folder and options.folder.resolve()
    try:
        made_names(root)
        if options.folder and not options.folder.exists():
            raise ValueError(f"there is no {options.folder}")
        if not options.trusted and (reason := sandbox.unavailable()):
            trust = "or make grade TRUSTED=1, for a class that you trust"
            raise ValueError(f"{reason}; {trust}")
        if options.format and not (root / STUDENTS).exists():
            raise ValueError(f"the table for {options.format} needs {root / STUDENTS}")
        with FileLock(root / ".grading", timeout=1):
            grade(**vars(options))
    except Timeout:
        print(f"error: another make grade is at work in {root}", file=sys.stderr)
        return 2
    except (ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nstopped: the next make grade marks the rest", file=sys.stderr)
        return 130
    return 0


def grade(
    folder: Path | None, course: Path, again: list[str], format: str, trusted: bool
) -> None:
    from nbgrader.api import Gradebook
    from nbgrader.apps import NbGraderAPI
    from traitlets.config import PyFileConfigLoader

    root, names = course, made_names(course)
    people, index = read_students(root / STUDENTS)
    times = read_list(root / TIMES, names, index, utc)
    extensions = read_list(root / EXTENSIONS, names, index, days)
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")  # SQLAlchemy's, which teachers cannot act on
    os.chdir(root)  # where nbgrader looks for its config
    config = PyFileConfigLoader("nbgrader_config.py", path=str(root)).load_config()
    config.Mark.trusted = trusted
    api = NbGraderAPI(config=config)
    log = logging.getLogger("traitlets")  # ``done`` reads what nbgrader writes to it
    log.handlers, log.propagate = [logging.NullHandler()], False

    with Gradebook(f"sqlite:///{root}/gradebook.db", "nmt") as book:
        for person in people:
            book.update_or_create_student(person.pop("id"), **person)
        if index:
            adopt(book, root, titles(names), index)
    problems = collect(folder, root, names, index) if folder else Problems(list)
    new, marked = to_mark(root, again, problems)
    for student, name in new:
        try:
            notes = mark(api, root, student, name)
            marked.add((student, name))
            print(f"{student} {name}: marked, {len(notes)} notes", flush=True)
        except Exception as error:  # whatever it is, the others get their marks
            notes = [f"{LOOK}could not be marked: {str(error)!r}"]
        for note in notes:
            if note.startswith(LOOK):
                problems[note].append(f"{student} {name}")
    set_times(config, root, marked, times, extensions, problems)
    with Gradebook(f"sqlite:///{root}/gradebook.db", "nmt") as book:
        table = tables.write_table(book, root, marked, format)
        states = {key: tables.state(book.find_submission(*key[::-1])) for key in marked}
        for name in sorted({name for _, name in marked}):
            print("\n".join(tables.summary(book, root, name)))
            for student in book.students:
                if not (root / f"submitted/{student.id}/{name}").exists():
                    problems[f"did not hand in {name}"].append(student.id)
        for student in book.students if index else []:
            if student.id not in set[str]().union(*index.values()):
                problems[f"not in {STUDENTS}"].append(student.id)
    for (student, name), state in sorted(states.items()):
        try:
            write_page(api, root, student, name, *state)
        except Exception as error:
            problem = f"no page could be written: {str(error)!r}"
            problems[problem].append(f"{student} {name}")
    for name in {name for _, name in marked}:
        tables.write_zip(root, name)
    for text, names in problems.items():
        line = f"{text}: {', '.join(names)}"
        print("\n" + "".join(c if c.isprintable() else "?" for c in line))
    print(f"\nmarks: {table}; pages for students: {root}/feedback")


def adopt(book: Any, root: Path, title: str, index: Index) -> None:
    """Gives the id of the list to whoever was collected under a platform's name before
    there was a list. What this person has handed in since is not replaced."""
    from nbgrader.api import MissingEntry

    for page in sorted(root.glob("submitted/*/*/page.txt")):
        *_, old, name, _ = page.parts
        people = identify(File((page.read_text(),)), title, index)
        id = min(people, default=old)
        if len(people) > 1 or (root / f"submitted/{id}/{name}").exists():
            continue
        with suppress(MissingEntry):  # it was cut off
            book.find_submission(name, old).student = book.find_student(id)
            book.db.commit()
            if not book.find_student(old).submissions:
                book.remove_student(old)
        for step in ("feedback", "autograded", "submitted"):  # the last is the sign
            if (folder := root / step / old / name).exists():
                (root / step / id).mkdir(parents=True, exist_ok=True)
                folder.rename(root / step / id / name)


def set_times(
    config: Any,
    root: Path,
    marked: set[Key],
    times: dict[Key, datetime],
    extensions: dict[Key, float],
    problems: Problems,
) -> None:
    """Tells the gradebook when submissions were handed in, and counts what late ones
    lose: the due date, or what was read, may be new."""
    from nbgrader.api import Gradebook
    from nbgrader.preprocessors import AssignLatePenalties

    url, late = f"sqlite:///{root}/gradebook.db", list[Key]()
    with Gradebook(url, "nmt") as book:
        for student, name in sorted(marked):
            submission = book.find_submission(name, student)
            more = extensions.get((student, name))
            submission.extension = timedelta(more) if more else None
            submission.timestamp = times.get((student, name))
            if times and not submission.timestamp:
                problems[f"no time in {TIMES}"].append(f"{student} {name}")
            if submission.total_seconds_late or submission.late_submission_penalty:
                late.append((student, name))
                text = f"{submission.total_seconds_late / 3600:.1f} hours late"
                problems[text].append(f"{student} {name}")
        book.db.commit()
    for student, name in late:
        of = {"notebook": name, "assignment": name, "student": student, "db_url": url}
        AssignLatePenalties(config=config).preprocess(
            nbformat.v4.new_notebook(), {"nbgrader": of}
        )


def to_mark(
    root: Path, again: list[str], problems: Problems
) -> tuple[list[Key], set[Key]]:
    """The submissions without complete marks, and the others.

    The last thing that ``mark`` writes says of which texts its marks are, so those of a
    submission that was cut off never count.
    """
    new, marked, words = list[Key](), set[Key](), {*map(str.casefold, again)}
    unknown = {*words}
    for path in sorted(root.glob("submitted/*/*/*.ipynb")):
        student, name = key = path.parts[-3], path.stem
        wanted = {text.casefold() for text in (student, name, name.partition("_")[0])}
        unknown -= wanted
        file = root / f"autograded/{student}/{name}/marks.txt"
        old = file.read_text().split() if file.exists() else []
        now = texts(root, student, name)
        if words & wanted or old[:1] != now[:1]:
            new.append(key)
            if not old and file.parent.exists():
                problems["was cut off, and marked again"].append(f"{student} {name}")
        else:
            marked.add(key)
            if old != now:
                number = name.partition("_")[0]
                problem = f"source/ has changed since: make grade AGAIN={number}"
                problems[problem].append(f"{student} {name}")
    if unknown:
        raise ValueError(f"AGAIN: nothing was collected of {', '.join(unknown)}")
    return new, marked


def texts(root: Path, student: str, name: str) -> list[str]:
    """Digests of a submission and of the tests."""
    files = f"submitted/{student}/{name}/{name}.ipynb", f"source/{name}/{name}.ipynb"
    return [hashlib.sha256((root / file).read_bytes()).hexdigest() for file in files]


def mark(api: Any, root: Path, student: str, name: str) -> list[str]:
    """Marks one submission; returns the notes on it."""
    now = texts(root, student, name)
    done(api.autograde(name, student, force=True))
    path = root / f"autograded/{student}/{name}/{name}.ipynb"
    path.with_name("marks.txt").write_text("\n".join(now))
    return list(nbformat.read(path, 4).metadata.nmt.notes)


def write_page(
    api: Any, root: Path, student: str, name: str, state: str, unread: list[str]
) -> None:
    """Writes the page that a student gets back, unless its marks are what they were.
    nbgrader lists parts as "Test cell", and 0 points for what nobody has read; here
    parts have their names."""
    page = root / f"feedback/{student}/{name}/{name}.html"
    marks = (root / f"autograded/{student}/{name}/marks.txt").read_text()
    tag = f"{PAGE}{hashlib.sha256((state + marks).encode()).hexdigest()} -->"
    if page.exists() and page.read_text().endswith(tag):
        return
    done(api.generate_feedback(name, student, force=True))
    named = re.sub(
        r'(#([\w-]+)">)(Test cell|Written response)', r"\1\2", page.read_text()
    )
    for cell in unread:
        named = re.sub(rf'(#{cell}">.*?</a> \()Score: [\d.]+', r"\1not read yet", named)
    page.write_text(named + tag)


def done(result: dict[str, Any]) -> None:
    """Checks what one of nbgrader's commands returns.

    Raises:
        RuntimeError: it failed; the message is the error that nbgrader logged.
        KeyboardInterrupt: it was interrupted, which nbgrader takes for a failure.
    """
    if not result["success"]:
        text = re.sub("(?m)^ {4}", "", result.get("log", "")) + result["error"]
        if text.rstrip().endswith("KeyboardInterrupt"):
            raise KeyboardInterrupt
        first = re.search(r"Traceback .*\n(?: .*\n)+(.*)", text)
        raise RuntimeError(first[1][:300] if first else text[-300:])


if __name__ == "__main__":
    sys.exit(main())
