"""Collects what students handed in, as learning platforms name and pack it.

Nothing is unpacked to disk, so a path or a link in a zip leads nowhere. Whatever gives
no submission is named, with the reason.
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterator
from csv import reader
from dataclasses import dataclass
from functools import lru_cache, partial
from io import BytesIO, StringIO
from pathlib import Path, PurePosixPath
from typing import Any
from zipfile import ZipFile, ZipInfo

import nbformat
from nbformat import NotebookNode

from .sanitize import Unreadable, clean

MAX_FILE = 16 << 20  # bytes, of which pictures in outputs take most
MAX_ZIP, MAX_MEMBERS, MAX_DEPTH = 1 << 30, 10_000, 3
COLUMNS = ("id", "last_name", "first_name", "email", "lms_user_id")
JUNK = re.compile(r"(?i)\.ipynb_checkpoints|__MACOSX|\.[^.].*|Thumbs\.db|desktop\.ini")
# How each platform begins the name of a file or a folder. ``name`` is the student's,
# ``lms`` the platform's number of the student, ``paper`` one of this submission only,
# ``nth`` grows with each try. TITLE is what an assignment may be called.
PLATFORMS = {
    "Moodle": r"(?P<name>[^_]+)_(?P<paper>\d+)_assignsubmission_",
    "Canvas": r"(?P<name>[^_]+)(?P<late>_LATE)?_(?P<lms>\d+)_(?P<nth>\d+)_",
    "Blackboard": r"(.*?TITLE|[^_]+)_(?P<name>.+)_attempt_(?P<nth>\d{4}(-\d\d){5})",
}
STUDENTS = "students.csv"
NOBODY = "its name does not tell whose it is"
Key = tuple[str, str]  # student, assignment
Problems = defaultdict[str, list[str]]  # what is to be told, and of whom or which file
Index = dict[str, set[str]]  # the students of whatever a platform may call them
Open = Callable[[], Any]  # a file


@dataclass
class File:
    """One file, perhaps in a zip; ``name`` is how the platform names the student's."""

    parts: tuple[str, ...]
    open: Open = BytesIO
    reason: str = ""  # why it cannot be opened
    name: str = ""
    paper: str = ""
    late: str = ""
    nth: int = 0
    pack: int = -1  # which part is a zip of several notebooks, perhaps of a class


# ------------------------------------------------------------------------------- files


def files(folder: Path) -> Iterator[File]:
    """Each file of a folder or a zip, and each empty folder; those of inner zips."""
    inside = sorted(folder.rglob("*"))
    for path in inside or [folder]:
        parts = path.relative_to(folder if inside else folder.parent).parts
        if any(map(JUNK.fullmatch, parts)):
            continue
        if path.is_symlink() or not (path.is_dir() or path.is_file()):
            yield File(parts, reason="it is a link")
        elif path.is_file():
            yield from opened(parts, partial(path.open, "rb"), path)
        elif all(JUNK.fullmatch(inner.name) for inner in path.iterdir()):
            yield File(parts, reason="it is an empty folder")


def opened(
    parts: tuple[str, ...],
    read: Open,
    path: Path | None = None,
    pack: int = -1,
    depth: int = 0,
) -> Iterator[File]:
    """A file, or what is in it if it is a zip; one with a path closes itself."""
    if not parts[-1].lower().endswith(".zip"):
        yield File(parts, read, pack=pack)
        return
    try:
        archive = ZipFile(path or read())
        members = list[tuple[tuple[str, ...], ZipInfo]]()
        for info in archive.infolist():
            inner = tuple(
                p for p in PurePosixPath(info.filename).parts if p.strip("./")
            )
            if inner and not (info.is_dir() or any(map(JUNK.fullmatch, inner))):
                members.append((inner, info))
        size = sum(info.file_size for _, info in members)
        if not members:
            raise Unreadable("it is an empty zip")
        if size > MAX_ZIP or len(members) > MAX_MEMBERS or depth == MAX_DEPTH:
            raise Unreadable("it is a zip that holds too much")
    except Unreadable as error:
        yield File(parts, reason=str(error))
    except Exception:  # whatever a file can hold
        yield File(parts, reason="it is a zip that cannot be opened")
    else:
        if pack < 0 and sum(is_notebook(inner) for inner, _ in members) > 1:
            pack = len(parts) - 1
        for inner, info in members:
            where = (*parts[:-1], parts[-1][:-4], *inner)
            yield from opened(where, partial(archive.open, info), None, pack, depth + 1)


def is_notebook(parts: tuple[str, ...]) -> bool:
    return bool(re.search(r"(?i)\.ipynb(\.json|\.txt)?$", parts[-1]))  # of Safari


def read(stream: Open) -> NotebookNode:
    """The cells of a notebook of any version, sanitized (``sanitize.clean``).

    Raises:
        Unreadable: it is not a notebook, or too large.
    """
    try:
        with stream() as file:
            data = file.read(MAX_FILE + 1)
        if not 0 < len(data) <= MAX_FILE:
            large = f"larger than {MAX_FILE >> 20} MB"
            raise Unreadable(f"it is {large if data else 'empty'}")
        cells = json.loads(data)
        return clean(cells if "cells" in cells else cells["worksheets"][0])
    except Unreadable:
        raise
    except Exception as error:  # whatever a file can hold, or nested too deep
        raise Unreadable(f"it is not a notebook ({type(error).__name__})") from None


# ------------------------------------------------------------------------------ people


def fold(text: str) -> str:
    """A name without case, accents, spaces and punctuation."""
    letters = unicodedata.normalize("NFKD", text.casefold())
    return "".join(filter(str.isalnum, letters))


def safe(student: str) -> str:
    """A student's name that nbgrader, a folder and a table can hold: nothing in it
    begins a formula, and different names stay different."""
    student = unicodedata.normalize("NFC", student)
    name = re.sub(r"[^\w.@-]+", "_", student)[:60].lstrip("-@._")
    if name == student:
        return name
    digest = hashlib.sha256(student.encode(errors="surrogateescape")).hexdigest()
    return f"{name or 'student'}-{digest[:6]}"


def lines(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The lines of a teacher's table, if there is one, but not the empty ones.

    Raises:
        ValueError: it is not in UTF-8.
    """
    try:
        text = path.read_text(encoding="utf-8-sig") if path.exists() else ""
    except UnicodeError:
        raise ValueError(f"{path}: save it as CSV in UTF-8") from None
    for number, row in enumerate(reader(StringIO(text)), start=1):
        if any(row := [cell.strip() for cell in row]):
            yield number, row


def read_students(path: Path) -> tuple[list[dict[str, str]], Index]:
    """The teacher's list, if there is one: a table with the columns of nbgrader's own
    (``nbgrader db student import``): id, last_name, first_name, email, lms_user_id.

    Raises:
        ValueError: a line cannot be read, has no id, or has that of another line.
    """
    people, index = list[dict[str, str]](), Index()
    (_, head), *rows = [*lines(path)] or [(0, [])]
    columns = [name.lower() for name in head]
    for number, cells in rows:
        row = {**dict.fromkeys(COLUMNS, ""), **dict(zip(columns, cells, strict=False))}
        id, last, first, email, names = (row[column] for column in COLUMNS)
        row["lms_user_id"] = lms = [*names.split(), ""][0]
        person = {c: row[c].lstrip("=+-@") for c in COLUMNS} | {"id": safe(id)}
        if not id or any(other["id"] == person["id"] for other in people):
            need = f"{', '.join(COLUMNS)}; and an id is one person's"
            raise ValueError(f"{path}, line {number}: each line needs {need}")
        login = email.partition("@")[0]
        called = [id, *names.split(), email, login, first + last, last + first]
        for name in {*map(fold, called), f"number {lms}"} - {""}:
            index.setdefault(name, set()).add(person["id"])
        people.append(person)
    return people, index


def titles(names: list[str]) -> str:
    """Matches what a platform, an editor or a browser makes of an assignment's name."""
    either = "|".join(f"{name}|{name.partition('_')[0]}" for name in names)
    either = either.replace("_", "[-_ ]")
    copied = r"((copy|copie|copia|cópia|kopie) \w+ )?"
    return rf"{copied}({either})(\.ipynb)?( \(\d+\)|-Copy\d+)*"


def identify(file: File, title: str, index: Index) -> set[str]:
    """Finds out who handed in a file, from the outermost name that tells it; returns
    the students it can be: those of the list, else whoever the platform names."""
    last = re.sub(r"(?i)\.(ipynb(\.json|\.txt)?|\w{1,5})$", "", file.parts[-1])
    plain = list[str]()
    for part in (*file.parts[:-1], last):
        for pattern in PLATFORMS.values():
            if match := re.match(pattern.replace("TITLE", title), part, re.I):
                known = defaultdict(str, match.groupdict(""))
                number = known["lms"]
                file.name, file.paper, file.late = part, known["paper"], known["late"]
                file.nth = int(re.sub(r"\D", "", known["nth"]) or 0)
                if index:
                    listed = index.get(f"number {number}") if number else None
                    return listed or index.get(fold(known["name"]), set())
                return {safe("_".join(filter(None, (known["name"], number))))}
        own = re.sub(rf"(?i)^{title}([ _-]+|$)|[ _-]+{title}$", "", part)
        if own and (students := index.get(fold(own))):
            file.name = own
            return students
        plain.append(re.sub("(?i)^submissions?$", "", own))
    plain.append(plain.pop(file.pack))  # the last choice
    file.name = next(filter(None, plain), "")
    return {safe(file.name)} if file.name and not index else set()


# ----------------------------------------------------------------------------- collect


def collect(folder: Path, root: Path, names: list[str], index: Index) -> Problems:
    """Puts submissions where nbgrader expects them, and returns what is to be told.

    ``nbgrader zip_collect`` would follow links, unpack a bomb, take the time from the
    student's folder, and stop at the first name that it cannot read.
    """
    numbers = {name.partition("_")[0]: name for name in names}
    title = titles(names)
    mark = re.compile(rf"(?i)(?<![A-Za-z0-9])({'|'.join(numbers)})(?![A-Za-z0-9])")
    collected, problems = defaultdict[Key, list[File]](list), Problems(list)
    rest = list[tuple[Key, File]]()

    def tell(file: File, reason: object) -> None:
        problems[f"not collected: {reason}"].append("/".join(file.parts))

    for file in files(folder):
        texts = [part.replace("_", " ") for part in reversed(file.parts)]
        number = next((m[1].upper() for m in map(mark.search, texts) if m), "")
        name = numbers.get(number, "")
        students = identify(file, title, index)
        key = min(students, default=""), name
        if file.reason or not is_notebook(file.parts):
            rest.append((key, file))
        elif len(students) > 1:
            several_people = f"{STUDENTS} has several people of this name"
            tell(file, f"{several_people}: put it into a folder of its id")
        elif not students:
            tell(file, f"{STUDENTS} has nobody of this name" if index else NOBODY)
        elif not name:
            tell(file, "put the assignment into its name, such as A1")
        else:
            collected[key].append(file)
    new, who = set[Key](), set[str]()
    for (student, name), several in collected.items():
        if len({file.paper for file in several} - {""}) > 1:
            for file in several:
                tell(file, f"two people have this name: list them in {STUDENTS}")
            continue
        best, text = None, ""
        several.sort(
            key=lambda f: (f.parts[-1] == f"{name}.ipynb", f.nth), reverse=True
        )
        for file in several:
            try:
                notebook = read(file.open)
                if {cell.source for cell in notebook.cells} <= stubs(root, name):
                    file.reason = "nothing is written in it yet"
                    rest.append(((file.name, ""), file))
                elif best:
                    tell(file, f"{best.parts[-1]} counts")
                else:
                    best, text = file, nbformat.writes(notebook)
            except Unreadable as error:
                tell(file, error)
        if not best:
            continue
        target = root / f"submitted/{student}/{name}/{name}.ipynb"
        target.parent.mkdir(parents=True, exist_ok=True)
        told = mark.search(best.name.replace("_", " "))
        page = best.name if told else f"{best.name.rstrip('_')}_{name}"
        write(target.with_name("page.txt"), page.encode(errors="replace").decode())
        if best.late:
            problems["late, says Canvas"].append(f"{student} {name}")
        write(target, text)
        new.add((student, name))
        who |= {student, best.name}
    for (student, name), file in rest:
        if student not in who or (name and (student, name) not in new):
            tell(file, file.reason or "it is not a notebook (.ipynb)")
    return problems


@lru_cache(8)
def stubs(root: Path, name: str) -> set[str]:
    """The texts of the cells of a release."""
    release = nbformat.read(root / f"release/{name}/{name}.ipynb", 4)
    return {"", *(cell.source.strip() for cell in release.cells)}


def write(path: Path, text: str) -> None:
    """Writes a file whole or not at all, and not at all if it is the same."""
    if not path.exists() or path.is_symlink() or path.read_text() != text:
        beside = path.with_name(f".{path.name}")
        beside.write_text(text)
        beside.replace(path)
