"""The plug-in for nbgrader that runs a submission in place of its own ``Execute``.

``Restore`` puts the answers of a submission into the release. ``Mark`` runs them with
``marking`` and puts the result of each test into the output of its cell, where
nbgrader's own ``SaveAutoGrades`` finds it: an error is 0 points, a number is partial
credit.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from textwrap import fill
from typing import Any

from nbconvert.preprocessors import CSSHTMLHeaderPreprocessor
from nbformat import NotebookNode, v4
from nbgrader.preprocessors import GetGrades, NbGraderPreprocessor
from traitlets import Bool, Float

from . import sandbox
from .assignment import LOOK, Assignment, grade_id, is_test, load
from .marking import Results, mark
from .sanitize import as_typed, clean

Pair = tuple[NotebookNode, dict[str, Any]]
BOX = '<div style="border-left: 6px solid #b45f06; background: #fff3e0; padding: 8px">'
ROOT = Path(__file__).resolve().parents[2]


class _Preprocessor(NbGraderPreprocessor):
    def course(self) -> Path:
        return Path(self.config.CourseDirectory.root)

    def assignment(self, resources: dict[str, Any]) -> Assignment:
        return load(self.course(), resources["nbgrader"]["assignment"])


class Restore(_Preprocessor):
    """The release with the student's answers in it, and notes in its metadata."""

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> Pair:
        # Whoever collected it: nbgrader's own commands leave it as it was.
        nb, notes = self.assignment(resources).restored(clean(nb))
        nb.metadata.nmt = {"notes": notes}
        return nb, resources


class Mark(_Preprocessor):
    """Runs the answers in a sandbox and the tests outside it."""

    seconds = Float(10.0, help="processor time of a cell, and of a part").tag(
        config=True
    )
    trusted = Bool(False, help="no sandbox, for a class you trust").tag(config=True)

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> Pair:
        if not self.trusted and (reason := sandbox.unavailable()):
            raise RuntimeError(reason)
        assignment = self.assignment(resources)
        private = None if self.trusted else (self.course(), ROOT / "notebooks")
        results, notes = mark(assignment, nb, self.seconds, private)
        notes = nb.metadata.nmt.notes = [*nb.metadata.nmt.notes, *notes]
        show(nb, results)
        for cell in list(nb.cells):
            if picture := assignment.pictures.get(grade_id(cell)):
                cell.outputs = [picture]
            if scheme := assignment.schemes.get(grade_id(cell)):
                _beside(nb, cell, "Marking scheme (students do not see it)", scheme)
        for title, look in (("Please look", True), ("Notes", False)):
            those = [n.removeprefix(LOOK) for n in notes if n.startswith(LOOK) == look]
            if those:
                _beside(nb, nb.cells[0], title, as_typed("\n".join(those)), look)
        return nb, resources


class ForStudents(NbGraderPreprocessor):
    """Drops the cells that only teachers see."""

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> Pair:
        nb.cells = [c for c in nb.cells if not c.metadata.get("nmt_teacher")]
        return nb, resources


def feedback_preprocessors() -> list[Any]:
    return [GetGrades, ForStudents, CSSHTMLHeaderPreprocessor]


def show(nb: NotebookNode, results: Results) -> None:
    """Puts results into the outputs of the tests' cells, as nbgrader reads them."""
    for cell in nb.cells:
        if not is_test(cell.metadata.get("nbgrader", {})):
            continue
        share, hint = results[grade_id(cell)]
        points = cell.metadata.nbgrader.points
        if not share:
            lines = fill(f"Hint: {hint}", 88).splitlines()  # a page does not wrap them
            error = v4.new_output("error", ename="Hint", evalue=hint, traceback=lines)
            cell.outputs = [error]
            continue
        told = fill(f"half of the points: {hint}", 88) if hint else "all tests pass"
        cell.outputs = [v4.new_output("stream", name="stdout", text=told)]
        if share < 1:  # without a number, nbgrader gives all points
            data = {"text/plain": f"{share * points:g}"}
            cell.outputs.append(
                v4.new_output("execute_result", data, execution_count=1)
            )


def _beside(
    nb: NotebookNode, cell: NotebookNode, title: str, text: str, teacher: bool = True
) -> None:
    """Puts a coloured box below a cell: students' cells have no colours, so none of
    them can pass for it."""
    box = f"{BOX}\n<b>{title}</b>\n\n{text}\n\n</div>"
    new = v4.new_markdown_cell(box, metadata={"nmt_teacher": teacher})
    new.id = hashlib.sha256(f"{cell.id} {text}".encode()).hexdigest()[:8]
    nb.cells.insert(nb.cells.index(cell) + 1, new)
