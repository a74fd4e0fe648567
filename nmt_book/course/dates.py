"""Due dates, extensions, and the times at which students handed in: ``make due`` and
``make extend``.

Only the teacher's list of times counts: a ``timestamp.txt`` in a submission, or the
date of a file, is the student's to choose.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path
from typing import TypeVar

from .collect import STUDENTS, Index, Key, fold, lines, read_students, safe, write
from .course import OUT, made_names

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
    table = dict[Key, T]()
    for line, row in lines(path):
        try:
            student, assignment, text = row
            if line > 1:
                key = known(student, index), numbered(assignment, names)
                table[key] = value(text)
        except (ValueError, OverflowError) as error:
            raise ValueError(
                f"{path}, line {line}: write student, assignment and time, "
                f"such as ada,A1,2027-02-01 18:00:00 UTC ({error})"
            ) from None
    return table


def known(student: str, index: Index) -> str:
    """The id of a student of the list, or what would be it if there is none.

    Raises:
        ValueError: the list has nobody of this name, or several people.
    """
    people = index.get(fold(student), set()) if index else {safe(student)} - {""}
    if len(people) != 1:
        raise ValueError(f"{STUDENTS} has {len(people)} people called {student!r}")
    return min(people)


def numbered(number: str, names: list[str]) -> str:
    """The assignment of a number such as A1.

    Raises:
        ValueError: there is none.
    """
    for name in names:
        if number.partition("_")[0].upper() == name.partition("_")[0]:
            return name
    raise ValueError(f"there is no assignment {number!r}")


def days(text: str) -> float:
    """An extension.

    Raises:
        ValueError: it is no number of days.
    """
    if 0 <= (number := float(text)) < 1000:
        return number
    raise ValueError(f"{text} is no number of days")


def main(task: str, *words: str, root: Path = OUT) -> None:
    """Does one of the two commands.

    Raises:
        ValueError: the words are none of ``USAGE``.
    """
    from nbgrader.api import Gradebook

    names = made_names(root)
    index = read_students(root / STUDENTS)[1]
    if task == "due" and words:
        pairs = [word.split("=", 1) for word in words]
        dates = {numbered(number, names): utc(text) for number, text in pairs}
        with Gradebook(f"sqlite:///{root}/gradebook.db", "nmt") as book:
            for name, time in dates.items():
                book.update_or_create_assignment(name, duedate=time)
                print(f"{name} is due at {time:%F %R} UTC")
        return
    student, more, *only = words
    id = known(student, index)
    table = read_list(root / EXTENSIONS, names, index, days)
    for name in [numbered(number, names) for number in only if number] or names:
        table[id, name] = days(more)
    rows = [f"{','.join(key)},{number}\n" for key, number in table.items()]
    write(root / EXTENSIONS, "".join(["student,assignment,days\n", *rows]))
    print(f"{id}: {more} days more; the next make grade counts them")


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except (TypeError, ValueError) as error:
        print(f"error: {error}; {USAGE}", file=sys.stderr)
        sys.exit(2)
