"""Due dates, extensions, and the times at which students handed in: ``make due`` and
``make extend``.

Only the teacher's list of times counts: a ``timestamp.txt`` in a submission, or the
date of a file, is the student's to choose.
"""

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, TypeVar

from .collect import STUDENTS, Index, Key, fold, read_students, safe
from .course import OUT

TIMES, EXTENSIONS = "times.csv", "extensions.csv"
USAGE = """due dates and extensions:
    make due A1="2027-02-01 18:00 UTC" A2=…
    make extend STUDENT=ada DAYS=3    (FOR=A1: of this assignment only)"""
T = TypeVar("T")


def utc(text: str) -> datetime:
    """A time such as 2027-02-01 18:00 UTC, as nbgrader keeps it; one without a zone is
    in this machine's.

    Raises:
        ValueError: it is no time.
    """
    iso = re.sub("( UTC|Z)$", "+00:00", text.strip())
    return datetime.fromisoformat(iso).astimezone(timezone.utc).replace(tzinfo=None)


def read_list(
    path: Path, names: list[str], index: Index, value: Callable[[str], T]
) -> dict[Key, T]:
    """A table with the columns student, assignment and a value, if there is one.

    Raises:
        ValueError: a line cannot be read; the message says which.
    """
    numbers, table = {name.partition("_")[0]: name for name in names}, dict[Key, T]()
    if path.exists():
        with path.open(newline="", encoding="utf-8-sig") as stream:
            for line, row in enumerate(csv.reader(stream), start=1):
                try:
                    student, assignment, text = (cell.strip() for cell in row)
                    if line > 1:
                        (known,) = index.get(fold(student)) or {safe(student)}
                        name = numbers[assignment.partition("_")[0].upper()]
                        table[known, name] = value(text)
                except (KeyError, ValueError, OverflowError):
                    raise ValueError(
                        f"{path}, line {line}: write student, assignment and time, "
                        "such as ada,A1,2027-02-01 18:00:00 UTC"
                    ) from None
    return table


def main(task: str, *words: str, root: Path = OUT) -> None:
    """Does one of the two commands.

    Raises:
        ValueError, KeyError: the words are none of ``USAGE``.
    """
    from nbgrader.api import Gradebook

    names = {path.name[:2]: path.name for path in root.glob("source/A*")}
    index = read_students(root / STUDENTS)[1]
    if task == "due" and words:
        with Gradebook(f"sqlite:///{root}/gradebook.db", "nmt") as book:
            for number, text in (word.split("=", 1) for word in words):
                book.update_or_create_assignment(names[number], duedate=utc(text))
                print(f"{names[number]} is due at {utc(text):%F %R} UTC")
        return
    student, days, *only = words
    (known,) = index[fold(student)] if index else {safe(student)} - {""}
    table = read_list(root / EXTENSIONS, [*names.values()], index, float)
    for number in filter(None, only) if any(only) else names:
        table[known, names[number]] = float(days)
    with (root / EXTENSIONS).open("w", newline="") as stream:
        lines: Any = csv.writer(stream)
        lines.writerow(["student", "assignment", "days"])
        lines.writerows([*key, days] for key, days in table.items())
    print(f"{known}: {days} days more; the next make grade counts them")


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except (KeyError, TypeError, ValueError) as error:
        print(f"error: {error}; {USAGE}", file=sys.stderr)
        sys.exit(2)
