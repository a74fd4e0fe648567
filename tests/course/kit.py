"""What the proofs share: submissions made of a source notebook and other answers."""

from __future__ import annotations

import importlib
import io
import random
from contextlib import redirect_stdout, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

from tests.course import copies
import nbformat
import torch
from nbformat import NotebookNode

from nmt_course import course, marking
from nmt_course.assignment import Assignment
from nmt_course.marking import Private
from nmt_course.report import Marks
from nmt_course.submissions import Cell


@dataclass(frozen=True)
class Wrong:
    """A wrong answer: other code for an answer cell, or edits of its solution, and the parts that must fail, no
    others."""

    cell: str
    fails: list[str]
    code: str = ""
    edits: dict[str, str] = field(default_factory=dict)


@dataclass
class Marker:
    """How the proofs mark: without a sandbox, unless told otherwise. Then students' processes are copies of one that
    has loaded what they need, as ``marking.launch`` makes it, for starting another takes seconds."""

    seconds: float = 10.0
    private: Private = None

    def mark(self, assignment: Assignment, cells: list[Cell]) -> Marks:
        if self.private is not None:
            return marking.mark(assignment, cells, self.seconds, self.private)
        with mock.patch.object(marking, "launch", copies.launch):
            return marking.mark(assignment, cells, self.seconds)


def tables() -> dict[str, Any]:
    """Assignment → its table, ``a1.py`` … in this folder, with RIGHT and WRONG."""
    return {
        name: importlib.import_module(name.split("_")[0].lower())
        for name in course.names()
    }


def solution(notebook: NotebookNode, cell: str) -> str:
    """The reference answer, without its marks."""
    source = next(
        c.source for c in notebook.cells if c.metadata.nbgrader.grade_id == cell
    )
    return "\n".join(
        line for line in source.splitlines() if not line.strip().startswith("###")
    )


def wrong_code(notebook: NotebookNode, wrong: Wrong) -> str:
    """The code of a wrong answer; an edit that no longer fits the solution is an error."""
    code = wrong.code or solution(notebook, wrong.cell)
    for old, new in wrong.edits.items():
        assert code.count(old) == 1, (
            f"the solution of {wrong.cell} holds {old!r} {code.count(old)} times: edit it anew"
        )
        code = code.replace(old, new)
    return code


def submission(
    notebook: NotebookNode, answers: dict[str, str] | None = None, blank: bool = False
) -> NotebookNode:
    """The release, filled in with the reference answers (unless ``blank``) and then with other ones."""
    student = course.release(notebook)
    for cell in student.cells:
        grading = cell.metadata.nbgrader
        if grading.solution and cell.cell_type == "code":
            right = cell.source if blank else solution(notebook, grading.grade_id)
            cell.source = (answers or {}).get(grading.grade_id, right)
        elif grading.solution and not blank:
            cell.source = "A written answer."
    return student


def write_class(source: NotebookNode, name: str, folder: Path) -> Path:
    """What ``make class`` leaves of one assignment: its source (whose path comes back) and its release."""
    for step, edition in (("release", course.release(source)), ("source", source)):
        path = folder / step / name / f"{name}.ipynb"
        path.parent.mkdir(parents=True)
        nbformat.write(edition, path)
    return path


def cells(notebook: NotebookNode) -> list[Cell]:
    return [
        Cell(c.cell_type, c.source, c.metadata.get("nbgrader", {}).get("grade_id", ""))
        for c in notebook.cells
    ]


def failed(marks: Marks) -> set[str]:
    """The autograded parts without points."""
    return {part.name for part in marks.parts if part.score == 0 and not part.by_hand}


def failed_here(
    source: NotebookNode, assignment: Assignment, answers: dict[str, str]
) -> dict[str, str]:
    """The parts that fail with these answers and no others, and why, tested in this process: ten times faster than by
    a ``Marker``, for answers that leave alone what they are given."""
    namespace, said = dict(assignment.namespace), {}
    with redirect_stdout(io.StringIO()):
        for cell in assignment.answers:
            with suppress(Exception):
                exec(compile(answers.get(cell, ""), cell, "exec"), namespace)
        for cell in source.cells:
            grading = cell.metadata.nbgrader
            if grading.grade and cell.cell_type == "code":
                random.seed(0)
                torch.manual_seed(0)
                torch.set_default_dtype(torch.float32)
                torch.set_grad_enabled(True)
                try:
                    exec(compile(cell.source, "tests", "exec"), dict(namespace))
                except Exception as error:
                    said[grading.grade_id] = f"{type(error).__name__}: {error}"
    return said


def bundles(items: dict[str, str]) -> list[dict[str, str]]:
    """Puts names into few groups so that no two of a group share their value: one submission tries several cells."""
    groups: list[dict[str, str]] = []
    for name, cell in items.items():
        group = next((g for g in groups if cell not in g.values()), None)
        if group is None:
            groups.append(group := {})
        group[name] = cell
    return groups
