"""``make test-class``: nbgrader's own commands on the same course, a hundred seeds, hostile submissions that wait, and
sixty mixed ones."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
import warnings
from pathlib import Path

from tests.course import kit
import nbformat
import pytest
from tests.course.hostile import GREEDY, HOSTILE
from nbformat import NotebookNode
from test_hostile import SOURCE, short_limits, try_hostile  # noqa: F401

from nmt_course import course, sandbox
from nmt_course.assignment import Assignment

NAMES = course.names()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course as ``make class`` writes it, with nbgrader's gradebook."""
    folder = tmp_path_factory.mktemp("class")
    command = [
        sys.executable,
        "-m",
        "nmt_course.course",
        "--seed",
        "7",
        "--out",
        folder,
    ]
    subprocess.run(command, check=True, capture_output=True)
    (folder / "release").rename(folder / "ours")
    for name in NAMES:
        nbgrader(folder, "generate_assignment", name, "--create")
    return folder


def nbgrader(folder: Path, *command: str) -> str:
    """As a teacher types it whose environment is not activated: PATH does not know it."""
    run = [sys.executable, "-m", "nbgrader", *command]
    environment = {**os.environ, "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        run, cwd=folder, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, (
        f"{command}: {done.stdout[-2000:]}{done.stderr[-4000:]}"
    )
    return done.stdout + done.stderr


@pytest.mark.parametrize("name", NAMES)
def test_the_release_is_that_of_nbgrader(made: Path, name: str):
    ours, theirs = (
        nbformat.read(made / step / name / f"{name}.ipynb", 4)
        for step in ("ours", "release")
    )
    for a, b in zip(ours.cells, theirs.cells, strict=True):
        if a is not ours.cells[0]:  # its badge is for the release
            assert a.source.strip() == b.source.strip()
        for key in ("editable", "deletable"):
            assert a.metadata.get(key) == b.metadata.get(key), (
                a.metadata.nbgrader.grade_id
            )


@pytest.mark.parametrize("name", NAMES)
def test_nbgrader_validates_the_source(made: Path, name: str):
    assert "Success" in nbgrader(made, "validate", f"source/{name}/{name}.ipynb")


@pytest.mark.parametrize("name", NAMES)
def test_nbgrader_gives_the_same_marks(made: Path, name: str, marker: kit.Marker):
    """For honest submissions: the reference, nothing, single answers, and every wrong answer of the first group."""
    from nbgrader.api import Gradebook

    source = nbformat.read(made / "source" / name / f"{name}.ipynb", 4)
    assignment = Assignment(source, course.release(source))
    students = {
        "reference": kit.submission(source),
        "blank": kit.submission(source, blank=True),
    }
    for cell in list(assignment.answers)[:2]:
        students[f"only-{cell}"] = kit.submission(
            source, {cell: kit.solution(source, cell)}, blank=True
        )
    for i, group in enumerate(
        kit.bundles({title: w.cell for title, w in kit.tables()[name].WRONG.items()})[
            :2
        ]
    ):
        wrong = {kit.tables()[name].WRONG[title].cell: f"{title}" for title in group}
        answers = {
            c: kit.wrong_code(course.load(name), kit.tables()[name].WRONG[title])
            for c, title in wrong.items()
        }
        students[f"wrong-{i}"] = kit.submission(source, answers)
    for student, notebook in students.items():
        folder = made / "submitted" / student / name
        folder.mkdir(parents=True)
        nbformat.write(notebook, folder / f"{name}.ipynb")
    nbgrader(made, "autograde", name)
    with Gradebook(f"sqlite:///{made}/gradebook.db") as book:
        theirs = {
            s: {
                g.name: g.auto_score
                for g in book.find_submission_notebook(name, name, s).grades
            }
            for s in students
        }
    for student, notebook in students.items():
        marks = marker.mark(assignment, kit.cells(notebook))
        ours = {part.name: part.score for part in marks.parts if not part.by_hand}
        assert ours == {part: theirs[student][part] for part in ours}, student


@pytest.mark.parametrize("name", NAMES)
def test_the_reference_passes_whatever_is_drawn(name: str):
    """A hundred seeds: no limit of a test is so tight that some numbers break it."""
    for seed in range(100):
        source = course.load(name, str(seed))
        assignment = Assignment(source, course.release(source))
        answers = {cell: kit.solution(source, cell) for cell in assignment.answers}
        assert kit.failed_here(source, assignment, answers) == {}, f"seed {seed}"


@pytest.mark.parametrize(
    "title", [title for title, hostile in HOSTILE.items() if hostile.slow]
)
def test_hostile_that_waits(title: str, marker: kit.Marker, tmp_path: Path):
    try_hostile(
        HOSTILE[title], Assignment(SOURCE, course.release(SOURCE)), marker, tmp_path
    )


HONEST, KINDS = (
    48,
    6,
)  # the reference, other right answers, wrong ones, some answers, nothing, and a few accidents


def honest(number: int) -> NotebookNode:
    table, kind = kit.tables()["A1_tokenization"], number % KINDS
    if kind == 1:
        return kit.submission(
            SOURCE,
            {c: list(v.values())[number % len(v)] for c, v in table.RIGHT.items()},
        )
    if kind == 2:
        wrong = list(table.WRONG.values())[number % len(table.WRONG)]
        return kit.submission(SOURCE, {wrong.cell: kit.wrong_code(SOURCE, wrong)})
    if kind == 3:
        cell = list(table.RIGHT)[number % len(table.RIGHT)]
        return kit.submission(SOURCE, {cell: kit.solution(SOURCE, cell)}, blank=True)
    notebook = kit.submission(SOURCE, blank=kind == 4)
    if kind == 5:
        quick = [
            h
            for h in HOSTILE.values()
            if not (h.slow or h.blank or h.costs or h.kernel)
        ]
        quick[number // KINDS % len(quick)].change(notebook)
    return notebook


def make_grade(
    folder: Path, submitted: Path, *options: str
) -> tuple[dict[str, dict[str, str]], str]:
    """Rows of ``marks.csv`` by student, and what stands in the terminal."""
    command = [
        sys.executable,
        "-m",
        "nmt_course.grade",
        submitted,
        "--course",
        folder / "class",
        "--out",
        folder / "grades",
        "--seconds",
        "5",
        *options,
    ]
    said = subprocess.run(command, check=True, capture_output=True, text=True)
    assert not said.stderr, said.stderr
    with (folder / "grades/marks.csv").open(encoding="utf-8-sig", newline="") as file:
        return {row["student"]: row for row in csv.DictReader(file)}, said.stdout


@pytest.mark.skipif(bool(sandbox.unavailable()), reason=sandbox.unavailable())
def test_sixty_mixed_submissions(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """48 honest ones get the same marks with and without 12 hostile ones among them; each of these gets its own."""
    kit.write_class(SOURCE, "A1_tokenization", tmp_path / "class")
    submitted, said = tmp_path / "submitted", {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # such as doubled ids
        for i in range(HONEST):
            (submitted / f"student{i:02}").mkdir(parents=True)
            nbformat.write(
                honest(i), submitted / f"student{i:02}/A1_tokenization.ipynb"
            )
        before, said["48"] = make_grade(tmp_path, submitted)
        for i, hostile in enumerate(GREEDY.values()):
            notebook = kit.submission(SOURCE, blank=hostile.blank)
            hostile.change(notebook)
            (submitted / f"student{4 * i:02}-hostile").mkdir()
            nbformat.write(
                notebook, submitted / f"student{4 * i:02}-hostile/A1_tokenization.ipynb"
            )
    after, said["60"] = make_grade(tmp_path, submitted)
    assert {who: row["score"] for who, row in before.items()} == {
        who: after[who]["score"] for who in before
    }
    parts = {
        p.name: p.points
        for p in Assignment(SOURCE, course.release(SOURCE)).parts()
        if not p.by_hand
    }
    for i, (title, hostile) in enumerate(GREEDY.items()):
        row = after[f"student{4 * i:02}-hostile"]
        lost = (
            sum(parts.values())
            if hostile.blank
            else sum(parts[part] for part in hostile.costs)
        )
        assert float(row["score"]) == sum(parts.values()) - lost, (title, row)
        assert hostile.note in row["notes"], (title, row["notes"])
    assert {row["of"] for row in after.values()} == {"100"}
    with capsys.disabled():
        for text in said.values():
            print("\n" + text.splitlines()[-3], end=" ")
        print(
            f"; at most {max(int(row['MB']) for row in after.values())} MB in a submission"
        )
