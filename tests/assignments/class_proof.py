"""``make test-class``: nbgrader's own commands on the same course, hostile submissions that wait, and a class of
200."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from pathlib import Path

import kit
import nbformat
import pytest
from hostile import HOSTILE
from test_hostile import SOURCE, short_limits, try_hostile  # noqa: F401

from nmt_course import course
from nmt_course.marking import Assignment, Marker

NAMES = course.names()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course as ``make class`` writes it, with nbgrader's gradebook."""
    folder = tmp_path_factory.mktemp("class")
    command = [sys.executable, "-m", "nmt_course.course", "--seed", "7", "--out", folder]
    subprocess.run(command, check=True, capture_output=True)
    (folder / "release").rename(folder / "ours")
    for name in NAMES:
        nbgrader(folder, "generate_assignment", name, "--create")
    return folder


def nbgrader(folder: Path, *command: str) -> str:
    """As a teacher types it whose environment is not activated: PATH does not know it."""
    run = [sys.executable, "-m", "nbgrader", *command]
    environment = {**os.environ, "PATH": "/usr/bin:/bin"}
    done = subprocess.run(run, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, f"{command}: {done.stdout[-2000:]}{done.stderr[-4000:]}"
    return done.stdout + done.stderr


@pytest.mark.parametrize("name", NAMES)
def test_the_release_is_that_of_nbgrader(made: Path, name: str):
    ours, theirs = (nbformat.read(made / step / name / f"{name}.ipynb", 4) for step in ("ours", "release"))
    for a, b in zip(ours.cells, theirs.cells, strict=True):
        if a is not ours.cells[0]:  # its badge is for the release
            assert a.source.strip() == b.source.strip()
        for key in ("editable", "deletable"):
            assert a.metadata.get(key) == b.metadata.get(key), a.metadata.nbgrader.grade_id


@pytest.mark.parametrize("name", NAMES)
def test_nbgrader_validates_the_source(made: Path, name: str):
    assert "Success" in nbgrader(made, "validate", f"source/{name}/{name}.ipynb")


@pytest.mark.parametrize("name", NAMES)
def test_nbgrader_gives_the_same_marks(made: Path, name: str, marker: Marker):
    """For honest submissions: the reference, nothing, single answers, and every wrong answer of the first group."""
    from nbgrader.api import Gradebook

    source = nbformat.read(made / "source" / name / f"{name}.ipynb", 4)
    assignment = Assignment(source, course.release(source))
    students = {"reference": kit.submission(source), "blank": kit.submission(source, blank=True)}
    for cell in list(assignment.answers)[:2]:
        students[f"only-{cell}"] = kit.submission(source, {cell: kit.solution(source, cell)}, blank=True)
    for i, group in enumerate(kit.bundles({title: w.cell for title, w in kit.tables()[name].WRONG.items()})[:2]):
        wrong = {kit.tables()[name].WRONG[title].cell: f"{title}" for title in group}
        answers = {c: kit.wrong_code(course.load(name), kit.tables()[name].WRONG[title]) for c, title in wrong.items()}
        students[f"wrong-{i}"] = kit.submission(source, answers)
    for student, notebook in students.items():
        folder = made / "submitted" / student / name
        folder.mkdir(parents=True)
        nbformat.write(notebook, folder / f"{name}.ipynb")
    nbgrader(made, "autograde", name)
    with Gradebook(f"sqlite:///{made}/gradebook.db") as book:
        theirs = {
            s: {g.name: g.auto_score for g in book.find_submission_notebook(name, name, s).grades} for s in students
        }
    for student, notebook in students.items():
        marks = marker.mark(assignment, kit.cells(notebook))
        ours = {part.name: part.score for part in marks.parts if not part.by_hand}
        assert ours == {part: theirs[student][part] for part in ours}, student


@pytest.mark.parametrize("title", [title for title, hostile in HOSTILE.items() if hostile.slow])
def test_hostile_that_waits(title: str, marker: Marker, tmp_path: Path):
    try_hostile(HOSTILE[title], Assignment(SOURCE, course.release(SOURCE)), marker, tmp_path)


def test_a_class_of_200(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Right, wrong and hostile ones mixed, from the shell; every one gets its marks."""
    submitted, expected = tmp_path / "submitted", {}
    quick = [
        title for title, hostile in HOSTILE.items() if not hostile.slow and not hostile.blank and not hostile.costs
    ]
    for i in range(200):
        notebook = kit.submission(SOURCE, blank=i % 10 == 9)
        if i % 10 == 5:
            HOSTILE[quick[i // 10 % len(quick)]].change(notebook)
        expected[f"student{i:03}"] = 0.0 if i % 10 == 9 else 92.0
        (submitted / f"student{i:03}").mkdir(parents=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # such as doubled ids
            nbformat.write(notebook, submitted / f"student{i:03}" / "A1_tokenization.ipynb")
    kit.write_class(SOURCE, "A1_tokenization", tmp_path / "class")
    run = [sys.executable, "-m", "nmt_course.grade", submitted, "--course", tmp_path / "class",
           "--out", tmp_path / "grades"]  # fmt: skip
    said = subprocess.run(run, check=True, capture_output=True, text=True).stdout
    lines = (tmp_path / "grades/marks.csv").read_text(encoding="utf-8").splitlines()[1:]
    assert {line.split(",")[0]: float(line.split(",")[2]) for line in lines} == expected
    with capsys.disabled():
        print("\n" + "\n".join(said.splitlines()[-3:]), end=" ")
