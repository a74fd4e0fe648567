"""Hostile and broken submissions: each gets the marks it should, and none stops the others.

Those that have to wait for a limit run under ``make test-class`` (``class_proof.py``).
"""

from __future__ import annotations

import csv
import warnings
from pathlib import Path

import kit
import nbformat
import pytest
from hostile import FILES, HOSTILE, Hostile

from nmt_course import course, grade, sandbox
from nmt_course.marking import Assignment, Limits, Marker, Marks, Unreadable, read

SOURCE = course.load("A1_tokenization")


@pytest.fixture(autouse=True)
def short_limits(marker: Marker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(marker, "limits", Limits(cell=3, part=3, all=40))
    monkeypatch.setenv("NOT_FOR_STUDENTS", "x")


@pytest.fixture(scope="module")
def assignment() -> Assignment:
    return Assignment(SOURCE, course.release(SOURCE))


@pytest.mark.parametrize("title", [title for title, hostile in HOSTILE.items() if not hostile.slow])
def test_hostile(title: str, assignment: Assignment, marker: Marker, tmp_path: Path):
    try_hostile(HOSTILE[title], assignment, marker, tmp_path)


def try_hostile(hostile: Hostile, assignment: Assignment, marker: Marker, folder: Path) -> Marks:
    """Marks it from a file, as a student would hand it in."""
    notebook = kit.submission(SOURCE, blank=hostile.blank)
    hostile.change(notebook)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # such as doubled ids
        nbformat.write(notebook, folder / "handed_in.ipynb")
    if hostile.kernel and sandbox.unavailable():
        pytest.skip(sandbox.unavailable())
    if hostile.kernel:
        marker = Marker(marker.limits, shut_in=True)
    marks = marker.mark(assignment, read(folder / "handed_in.ipynb"))
    said = str([(part.name, part.says) for part in marks.parts if part.score == 0] + marks.notes)
    everything = {part.name for part in assignment.parts() if not part.by_hand}
    assert kit.failed(marks) == (everything if hostile.blank else set(hostile.costs)), said
    assert hostile.note in " | ".join(marks.notes)
    assert "FOUND" not in said or "FOUND []" in said, said
    assert "WORKED" not in said or "WORKED []" in said, said
    return marks


def test_after_all_of_them_an_honest_one(assignment: Assignment, marker: Marker):
    marks = marker.mark(assignment, kit.cells(kit.submission(SOURCE)))
    assert kit.failed(marks) == set() and marks.notes == []


@pytest.mark.parametrize("title", FILES)
def test_files_that_are_no_notebooks(title: str, assignment: Assignment, marker: Marker, tmp_path: Path):
    data, note = FILES[title]
    (tmp_path / "x.ipynb").write_bytes(data)
    try:
        marks = marker.mark(assignment, read(tmp_path / "x.ipynb"))
        assert marks.score == 0 and note in " | ".join(marks.notes)
    except Unreadable as error:
        assert note in str(error)


def test_a_folder_of_all_kinds(marker: Marker, tmp_path: Path):
    """What ``make grade`` does: marks for everybody, a note where a person should look, and marks put in by hand."""
    name, everyone = "A1_tokenization", tmp_path / "submitted"
    notebook = kit.submission(SOURCE)
    for student in ("ada/A1_tokenization", "bob"):
        (everyone / student).mkdir(parents=True)
        nbformat.write(notebook, everyone / student / "A1_tokenization.ipynb")
    nbformat.write(notebook, everyone / "carl.ipynb")  # known by its cells
    nbformat.write(kit.submission(SOURCE, blank=True), everyone / "=cmd()_A1.ipynb")
    (everyone / "eve_A1_tokenization.ipynb").touch()
    (everyone / "mallory_A1.ipynb").symlink_to(everyone / "bob/A1_tokenization.ipynb")
    files = {name: kit.write_class(SOURCE, name, tmp_path / "class")}

    def make_grade() -> dict[str, dict[str, str]]:
        grade._start(files, marker.limits)
        grade._worker["marker"] = marker
        results = [grade.mark_one(submission) for submission in grade.find(everyone, files)]
        grade.add_written_marks(results, tmp_path / "grades/written.csv")
        grade.write(results, tmp_path / "grades")
        return {row["student"]: row for row in rows("marks")}

    def rows(table: str) -> list[dict[str, str]]:
        with (tmp_path / f"grades/{table}.csv").open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    marks = make_grade()
    scores = {"'=cmd()": "0", "ada": "92", "bob": "92", "carl": "92", "eve": "0", "mallory": "0"}
    assert {who: row["score"] for who, row in marks.items()} == scores
    assert "LOOK" in marks["eve"]["notes"] and "LOOK" in marks["mallory"]["notes"] and not marks["ada"]["notes"]
    written = rows("written")
    assert [row["student"] for row in written] == ["ada", "ada", "bob", "bob", "carl", "carl"]
    written[0].update(score="3.5", comment="<b>the areas are missing")
    with (tmp_path / "grades/written.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, written[0])
        writer.writeheader()
        writer.writerows(written)
    marks = make_grade()
    assert marks["ada"]["score"] == "95.5" and marks["bob"]["score"] == "92"
    page = (tmp_path / "grades/feedback/ada-A1_tokenization.html").read_text(encoding="utf-8")
    assert "&lt;b&gt;the areas are missing" in page and "HIDDEN" not in page
