"""Finds the submissions in a folder, however it is ordered (by student, by assignment,
a file for each student), and
reads them. Nothing is run."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

NOT_HANDED_IN = re.compile(
    r"\.ipynb_checkpoints|__MACOSX|__pycache__|\._.*|\.DS_Store|\.git|desktop\.ini|Thumbs\.db"
)
MAX_FILE = 100 << 20


@dataclass(frozen=True)
class Submission:
    student: str
    assignment: str
    path: Path
    note: str = ""
    problem: str = ""  # why it is not marked


def find(
    folder: Path, assignments: Iterable[str], identify: Callable[[Path], str]
) -> list[Submission]:
    """One for each student and assignment. What belongs to no assignment is listed too:
    nothing is lost silently.

    Args:
        identify: tells the assignment of a notebook whose name does not.
    """
    found: dict[tuple[str, str], Submission] = {}
    numbers = {name: name.partition("_")[0] for name in assignments}
    titles = {text.lower() for pair in numbers.items() for text in pair}
    files = [
        (path, problem, path.suffix.lower() == ".ipynb")
        for path, problem in walk(folder)
    ]
    for path, problem, notebook in sorted(
        files, key=lambda file: not (file[2] or file[1])
    ):  # other things at the end
        inside = path.relative_to(folder)
        name = named(inside, numbers) or (
            identify(path) if notebook and not problem else ""
        )
        title = f"{re.escape(name)}|{numbers.get(name, '')}"
        stem = (
            re.sub(rf"(?i)^({title})[ _-]+|[ _-]+({title})$", "", path.stem)
            if name
            else path.stem
        )
        student = next(
            (part for part in inside.parts[:-1] if part.lower() not in titles), stem
        )
        submission = Submission(student, name, path, problem=problem)
        if (
            not notebook and not problem
        ):  # timestamps, pictures: told where there is nothing else
            if student in {student for student, _ in found}:
                continue
            submission = replace(submission, problem="this is no notebook")
        elif before := found.get((student, name)):
            best = path if path.stem == name or before.problem else before.path
            note = (
                f"PLEASE LOOK: more than one file: {best.relative_to(folder)} was "
                "marked"
            )
            submission = replace(
                before if best == before.path else submission, note=note
            )
        found[student, name] = submission
    return list(found.values())


def walk(folder: Path) -> Iterator[tuple[Path, str]]:
    """Files, and why one cannot be looked at. Links are not followed."""
    closed: list[str] = []
    for place, folders, files in os.walk(
        folder, onerror=lambda error: closed.append(error.filename)
    ):
        folders[:] = sorted(
            name for name in folders if not NOT_HANDED_IN.fullmatch(name)
        )
        for name in [
            name for name in folders if os.path.islink(os.path.join(place, name))
        ]:
            yield Path(place, name), "this is a link to a folder, which is not followed"
        yield from (
            (Path(place, name), "")
            for name in sorted(files)
            if not NOT_HANDED_IN.fullmatch(name)
        )
    yield from ((Path(name, "…"), "this folder cannot be read") for name in closed)


def named(inside: Path, numbers: dict[str, str]) -> str:
    """The assignment by the number in the file's name, else in its folders'."""
    for text in reversed(inside.parts):
        for name, number in numbers.items():
            if re.search(
                rf"(?<![A-Za-z0-9]){number}(?![A-Za-z0-9])",
                text.replace("_", " "),
                re.IGNORECASE,
            ):
                return name
    return ""


class Unreadable(Exception):
    """The file is no notebook."""


@dataclass(frozen=True)
class Cell:
    kind: str
    source: str
    grade_id: str = ""


def read(path: Path) -> list[Cell]:
    """The cells of a notebook, of any version and in any state; outputs and other
    metadata are dropped.

    Raises:
        Unreadable: empty, too large, or no notebook.
    """
    try:
        data = json.loads(contents(path))
        cells = (
            data["cells"] if "cells" in data else data["worksheets"][0]["cells"]
        )  # format 3
        return [_cell(cell) for cell in cells]
    except MemoryError:
        raise Unreadable("the file holds more than fits into memory") from None
    except (
        ValueError,
        TypeError,
        LookupError,
        AttributeError,
        RecursionError,
    ) as error:
        raise Unreadable(
            f"the file is no notebook ({type(error).__name__}: {error})"[:200]
        ) from None


def contents(path: Path) -> bytes:
    """The bytes of a file that is one, and not too large."""
    if path.is_symlink() or not path.is_file():
        raise Unreadable("this is a link or a folder, no file")
    size = path.stat().st_size
    if not 0 < size <= MAX_FILE:
        raise Unreadable(
            f"the file has {size >> 20} MB" if size else "the file is empty"
        )
    try:
        return path.read_bytes()
    except OSError as error:
        raise Unreadable(f"the file cannot be read ({error.strerror})") from None


def _cell(cell: dict[str, Any]) -> Cell:
    grade_id = cell.get("metadata", {}).get("nbgrader", {}).get("grade_id", "")
    return Cell(
        str(cell["cell_type"]),
        "".join(cell.get("source", cell.get("input", ""))),
        str(grade_id),
    )
