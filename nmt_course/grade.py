"""Marks a folder of submissions with nbgrader: ``make grade DIR=…``.

It collects the notebooks, marks (``nbgrader autograde``), writes the pages that go back
(``generate_feedback``) and the table (``export``), and prints a summary of the class.
All of it is in the course's folder, ``build/class``, where nbgrader's own commands and
its formgrader work as well.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import logging
import os
import re
import sys
import warnings
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import torch
from nbformat import NotebookNode, v4

from . import sandbox
from .assignment import LOOK, load, plain_text

ROOT = Path(__file__).resolve().parent.parent
MAX_FILE = 50 << 20
JUNK = re.compile(r"\.ipynb_checkpoints|__MACOSX|\._.*|\.git")


class Unreadable(Exception):
    """Why a file is not collected."""


def read(path: Path) -> NotebookNode:
    """The cells of a notebook of any version, without outputs and other metadata.

    Raises:
        Unreadable: it is no notebook, or too large.
    """
    size = path.stat().st_size if path.is_file() and not path.is_symlink() else -1
    if not 0 < size <= MAX_FILE:
        what = {-1: "a link or a folder, no file", 0: "empty"}
        raise Unreadable(f"it is {what.get(size, f'{size >> 20} MB large')}")
    try:
        data = json.loads(path.read_bytes())
        cells = data["cells"] if "cells" in data else data["worksheets"][0]["cells"]
        return v4.new_notebook(cells=[_cell(i, cell) for i, cell in enumerate(cells)])
    except Exception as error:  # too deep or too large, too
        raise Unreadable(f"it is no notebook ({type(error).__name__})") from None


def _cell(number: int, cell: dict[str, Any]) -> NotebookNode:
    kinds = {"code": v4.new_code_cell, "markdown": v4.new_markdown_cell}
    text = "".join(cell.get("source", cell.get("input", "")))
    grading = cell.get("metadata", {}).get("nbgrader", {})
    id = str(grading.get("grade_id", ""))
    new = kinds.get(cell["cell_type"], v4.new_raw_cell)(text, id=f"cell-{number}")
    new.metadata = {"nbgrader": {"grade_id": id}} if id else {}
    return new


# ------------------------------------------------------------------------------ collect


def find(folder: Path, names: list[str]) -> Iterator[tuple[str, str, Path]]:
    """Student, assignment and file of each notebook, in a folder for each student, or
    for each assignment, or with names such as ``ada_A1.ipynb``. No name: it is not
    known."""
    numbers = {name.partition("_")[0]: name for name in names}
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder)
        if path.suffix.lower() != ".ipynb" or any(map(JUNK.fullmatch, inside.parts)):
            continue
        texts = [path.stem, *reversed(inside.parts[:-1])]
        known = "|".join(numbers)
        pattern = rf"(?i)(?<![A-Za-z0-9])({known})(?![A-Za-z0-9])"
        marks = (re.search(pattern, text.replace("_", " ")) for text in texts)
        number = next((mark[1].upper() for mark in marks if mark), "")
        name = numbers.get(number, "")
        title = rf"{name or '-'}|{number or '-'}"
        stem = re.sub(rf"(?i)^({title})[ _-]+|[ _-]+({title})$", "", path.stem)
        folders = [
            part for part in inside.parts[:-1] if not re.fullmatch(f"(?i){title}", part)
        ]
        yield safe(next(iter(folders), stem)), name, path


def safe(student: str) -> str:
    """A student's name as nbgrader, a folder and a table can hold it: nothing in it
    begins a formula, and no two become one."""
    name = re.sub(r"[^\w.@-]+", "_", student)[:60].lstrip("-@._")
    if name == student:
        return name
    digest = hashlib.sha256(student.encode(errors="surrogateescape")).hexdigest()
    return f"{name or 'student'}-{digest[:6]}"


def collect(folder: Path, root: Path, names: list[str]) -> tuple[list[Any], list[str]]:
    """Puts new and changed submissions where nbgrader expects them. Student and
    assignment of these, and what was not collected.

    ``nbgrader zip_collect`` follows links, and collects nothing of the whole class if
    it cannot read the time of one submission.
    """
    new, problems = dict[tuple[str, str], bytes](), list[str]()
    for student, name, path in find(folder, names):
        try:
            if not name:
                unknown = "which assignment it is cannot be seen: say A1 in its name"
                raise Unreadable(unknown)
            if (student, name) in new and path.stem != name:
                raise Unreadable("there is another one")
            text = nbformat.writes(read(path)).encode()
        except Unreadable as error:
            where = repr(f"{student}: {path.relative_to(folder)}")
            problems.append(f"{where} was not collected: {error}")
            continue
        target = root / f"submitted/{student}/{name}/{name}.ipynb"
        marked = root / f"autograded/{student}/{name}/{name}.ipynb"
        time, stamp = path.parent / "timestamp.txt", target.parent / "timestamp.txt"
        wanted = time.read_bytes() if time.is_file() else None
        if wanted is not None and len(list(path.parent.glob("*.ipynb"))) > 1:
            where = repr(str(time.relative_to(folder)))
            several = f"{where} is the time of several notebooks: a folder for each?"
            problems += [several] * (several not in problems)
        have = stamp.read_bytes() if stamp.is_file() else None
        same = target.exists() and target.read_bytes() == text and have == wanted
        if not (marked.exists() and same):
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(text)
            stamp.unlink(missing_ok=True)
            if wanted is not None:
                stamp.write_bytes(wanted)
            new[student, name] = text
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
    """Students whose answers are the same, all of the code or one written answer."""
    given = {plain_text(cell) for cell in load(root, name).released.cells} | {""}
    groups = defaultdict[tuple[str, str], list[str]](list)
    for path in sorted(root.glob(f"submitted/*/{name}/{name}.ipynb")):
        own = [c for c in nbformat.read(path, 4).cells if plain_text(c) not in given]
        code = "".join(c.source for c in own if c.cell_type != "markdown")
        texts = {plain_text(c) for c in own if c.cell_type == "markdown"}
        for key in [("code", re.sub(r"\s", "", code)), *(("text", t) for t in texts)]:
            groups[key].append(path.parts[-3])
    for (what, text), students in groups.items():
        if text and len(students) > 1:
            kind = {"code": "code", "text": "written answers"}[what]
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
    reason = "" if options.trusted else sandbox.unavailable()
    if not names:
        reason = f"{options.course} holds no course: run make class first"
    elif not folder.is_dir():
        reason = f"there is no folder {options.folder}"
    elif reason:
        reason += "; or make grade TRUSTED=1, for a class that you trust"
    if reason:
        print(f"error: {reason}", file=sys.stderr)
        return 2
    grade(folder, root, names, options)
    return 0


def grade(
    folder: Path, root: Path, names: list[str], options: argparse.Namespace
) -> None:
    from nbgrader.apps import ExportApp, NbGraderAPI
    from traitlets.config import PyFileConfigLoader

    torch.set_num_threads(1)
    warnings.simplefilter("ignore")  # SQLAlchemy's, which teachers cannot act on
    os.chdir(root)  # where nbgrader looks for its config
    config = PyFileConfigLoader("nbgrader_config.py", path=str(root)).load_config()
    config.Mark.trusted = options.trusted
    api = NbGraderAPI(config=config)
    logging.getLogger("traitlets").setLevel(logging.CRITICAL)
    new, problems = collect(folder, root, names)
    for student, name in new:
        done = api.autograde(name, student, force=True)
        path = root / f"autograded/{student}/{name}/{name}.ipynb"
        if not done["success"]:
            reason = str(done["error"]).strip().splitlines()[-1]
            problems.append(f"{student}: {name} could not be marked: {reason!r}")
            continue
        notes = nbformat.read(path, 4).metadata.nmt.notes
        write_page(api, root, student, name)
        print(f"{student} {name}: marked, {len(notes)} notes", flush=True)
        problems += [f"{student} {name}: {n}" for n in notes if n.startswith(LOOK)]
    for path in sorted(root.glob("autograded/*/*/A*.ipynb")):
        if (one := (path.parts[-3], path.stem)) not in new:
            # Marked before, and read since: points for written answers.
            write_page(api, root, *one)
    export = ExportApp()
    export.initialize(["--to", str(root / "grades.csv"), "--log-level=ERROR"])
    export.start()
    for name in names:
        if any(root.glob(f"submitted/*/{name}")):
            print("\n".join(summary(root, name)))
    print(*(f"\n{problem}" for problem in problems), sep="")
    print(f"\nmarks: {root}/grades.csv; pages for students: {root}/feedback")


def write_page(api: Any, root: Path, student: str, name: str) -> None:
    """What goes back to a student. nbgrader lists parts as "Test cell"; here they have
    their names."""
    api.generate_feedback(name, student, force=True)
    page = root / f"feedback/{student}/{name}/{name}.html"
    named = re.sub(
        r'(#([\w-]+)">)(Test cell|Written response)', r"\1\2", page.read_text()
    )
    page.write_text(named)


if __name__ == "__main__":
    sys.exit(main())
