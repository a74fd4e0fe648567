"""Hostile and broken submissions: each gets the marks it should, and none stops the others.

Those that have to wait for a limit run under ``make test-class`` (``class_proof.py``).
"""

from __future__ import annotations

import warnings
from pathlib import Path

from tests.course import kit
import nbformat
import pytest
from tests.course.hostile import FILES, HOSTILE, SOURCE, Hostile

from nmt_course import course, sandbox
from nmt_course.assignment import Assignment
from nmt_course.report import Marks
from nmt_course.submissions import Unreadable, read


@pytest.fixture(autouse=True)
def short_limits(marker: kit.Marker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(marker, "seconds", 6)
    monkeypatch.setenv("NOT_FOR_STUDENTS", "x")


@pytest.fixture(scope="module")
def assignment() -> Assignment:
    return Assignment(SOURCE, course.release(SOURCE))


@pytest.mark.parametrize(
    "title", [title for title, hostile in HOSTILE.items() if not hostile.slow]
)
def test_hostile(
    title: str, assignment: Assignment, marker: kit.Marker, tmp_path: Path
):
    try_hostile(HOSTILE[title], assignment, marker, tmp_path)


def try_hostile(
    hostile: Hostile, assignment: Assignment, marker: kit.Marker, folder: Path
) -> Marks:
    """Marks it from a file, as a student would hand it in."""
    notebook = kit.submission(SOURCE, blank=hostile.blank)
    hostile.change(notebook)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # such as doubled ids
        nbformat.write(notebook, folder / "handed_in.ipynb")
    if hostile.kernel and sandbox.unavailable():
        pytest.skip(sandbox.unavailable())
    if hostile.kernel:
        marker = kit.Marker(marker.seconds, private=())
    marks = marker.mark(assignment, read(folder / "handed_in.ipynb"))
    said = str(
        [(part.name, part.says) for part in marks.parts if part.score == 0]
        + marks.notes
    )
    everything = {part.name for part in assignment.parts() if not part.by_hand}
    assert kit.failed(marks) == (everything if hostile.blank else set(hostile.costs)), (
        said
    )
    assert hostile.note in " | ".join(marks.notes)
    assert "FOUND" not in said or "FOUND []" in said, said
    assert "WORKED" not in said or "WORKED []" in said, said
    return marks


def test_after_all_of_them_an_honest_one(assignment: Assignment, marker: kit.Marker):
    marks = marker.mark(assignment, kit.cells(kit.submission(SOURCE)))
    assert kit.failed(marks) == set() and marks.notes == []


@pytest.mark.parametrize("title", FILES)
def test_files_that_are_no_notebooks(
    title: str, assignment: Assignment, marker: kit.Marker, tmp_path: Path
):
    data, note = FILES[title]
    (tmp_path / "x.ipynb").write_bytes(data)
    try:
        marks = marker.mark(assignment, read(tmp_path / "x.ipynb"))
        assert marks.score == 0 and note in " | ".join(marks.notes)
    except Unreadable as error:
        assert note in str(error)
