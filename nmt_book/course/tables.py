"""What a teacher reads after grading: the table of marks, the pages for students, the
mean of each part, and who handed in the same."""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import nbformat
from nbformat import NotebookNode

from .assignment import Assignment, grade_id, load, shape

LONG = 120  # characters; shorter answers are equal by chance
# The columns of a student and those of an assignment; for the platforms, what they
# import: the header that Canvas's ``GradebookImporter`` checks, and that of Moodle's
# own export (docs.moodle.org, Grade import).
PERSON = {
    "": {name: f"{{{name}}}" for name in ("id", "last_name", "first_name", "email")},
    "canvas": {
        "Student": "{last_name}, {first_name}",
        "ID": "{lms_user_id}",
        "SIS User ID": "{id}",
        "SIS Login ID": "{email}",
        "Section": "",
    },
    "moodle": {
        "First name": "{first_name}",
        "Last name": "{last_name}",
        "ID number": "{id}",
        "Email address": "{email}",
    },
}
MARKS = {
    "": ("{} by machine", "{} written", "{}"),
    "canvas": ("{}",),
    "moodle": ("Assignment: {} (Real)",),
}


def marks(submission: Any) -> tuple[float, float | str, float | str]:
    """The points by machine, those of the written answers, and the total without what
    a late submission loses; "unread" in place of points that nobody has given yet."""
    grades = [grade for notebook in submission.notebooks for grade in notebook.grades]
    written = [grade for grade in grades if grade.cell.cell_type == "markdown"]
    unread = any(map(is_unread, written))
    by_hand = sum(grade.score for grade in written)
    total = max(0.0, submission.score - submission.late_submission_penalty)
    machine = submission.score - by_hand
    return machine, "unread" if unread else by_hand, "unread" if unread else total


def write_table(book: Any, root: Path, done: set[tuple[str, str]], style: str) -> Path:
    """Writes a line for each student who handed something in, with the assignments that
    were collected, and no others.

    Args:
        done: student and assignment of what is marked.
        style: canvas or moodle, for a table that these import; there, points that are
            not complete are left out.
    """
    names, columns = sorted({name for _, name in done}), MARKS[style]
    head = [column.format(name) for name in names for column in columns]
    rows = [[*PERSON[style], *head]]
    if style == "canvas":
        rows.append(["Points Possible", "", "", "", "", *["100"] * len(names)])
    for student in book.students:
        known = {key: value or "" for key, value in student.to_dict().items()}
        row = [text.format_map(known) for text in PERSON[style].values()]
        for name in names:
            cells: tuple[Any, ...] = ("", "", "")
            if (student.id, name) in done:
                cells = marks(book.find_submission(name, student.id))
            row += map(str, cells[-len(columns) :])
        if any((student.id, name) in done for name in names):
            rows.append(["" if style and cell == "unread" else cell for cell in row])
    path = root / f"grades{f'-{style}' if style else ''}.csv"
    with path.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows(rows)
    return path


def state(submission: Any) -> tuple[str, list[str]]:
    """What a page shows of the gradebook, and which answers nobody has read."""
    (notebook,) = submission.notebooks
    points = sorted((g.name, g.score, g.needs_manual_grade) for g in notebook.grades)
    comments = sorted((c.name, c.comment or "") for c in notebook.comments)
    text = f"{points} {comments} {submission.late_submission_penalty}"
    return text, [grade.name for grade in notebook.grades if is_unread(grade)]


def is_unread(grade: Any) -> bool:
    return grade.auto_score is None and grade.manual_score is None


def write_zip(root: Path, name: str) -> None:
    """The pages of an assignment, named as the platform named the submissions."""
    with ZipFile(root / f"feedback/{name}.zip", "w") as archive:
        for page in sorted(root.glob(f"feedback/*/{name}/{name}.html")):
            student = page.parts[-3]
            file = root / f"submitted/{student}/{name}/page.txt"
            title = file.read_text() if file.exists() else f"{student}_{name}"
            archive.write(page, f"{title}.html")


def summary(book: Any, root: Path, name: str) -> Iterator[str]:
    """The mean of each part, hardest first, and who handed in the same."""
    parts = defaultdict[str, list[float]](list)
    submissions = book.notebook_submissions(name, name)
    waiting = sum(submission.needs_manual_grade for submission in submissions)
    scores = [submission.score for submission in submissions]
    for grade in (grade for submission in submissions for grade in submission.grades):
        if not is_unread(grade):
            parts[grade.name].append(grade.score / grade.max_score)
    mean = f"mean {sum(scores) / max(len(scores), 1):.1f} of 100 points"
    yield f"\n{name}: {len(scores)} submissions, {mean}"
    yield f"{waiting} of them have written answers to be read (nbgrader formgrader)"
    for part, shares in sorted(parts.items(), key=lambda p: sum(p[1]) / len(p[1])):
        yield f"  {sum(shares) / len(shares):4.0%}  {part}"
    of, paths = load(root, name), sorted(root.glob(f"autograded/*/{name}/{name}.ipynb"))
    notebooks = {path.parts[-3]: nbformat.read(path, 4) for path in paths}
    for students, same in alike(of, notebooks).items():
        yield f"  equal in {', '.join(same)}: {', '.join(students)}"


def alike(
    of: Assignment, handed_in: dict[str, NotebookNode]
) -> dict[tuple[str, ...], list[str]]:
    """Students who gave the same answers, and the cells of these. Names that they chose
    themselves do not count, nor do layout, comments, and what is not an answer."""
    groups = defaultdict[tuple[str, str], list[str]](list)
    for student, notebook in handed_in.items():
        for cell in notebook.cells:
            id, text = grade_id(cell), cell.source
            if id in of.solutions and "NotImplementedError" not in text:
                text = shape(text)
            elif id in of.schemes and "Write your answer here, in place" not in text:
                text = " ".join(re.findall(r"\w+", text.casefold()))
            else:
                continue
            if len(text) >= LONG:
                groups[id, text].append(student)
    same = defaultdict[tuple[str, ...], list[str]](list)
    for (id, _), students in groups.items():
        if len(students) > 1:
            same[tuple(students)].append(id)
    return same
