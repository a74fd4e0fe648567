"""Every assignment marked for real: the reference, nothing, parts, other right answers, wrong answers."""

from __future__ import annotations

import ast
import random
import re

from tests.course import kit
import nbformat
import pytest

from nmt_course import course
from nmt_course.assignment import Assignment, answer_names

SOLUTION = re.compile(
    r"^([ \t]*)### BEGIN SOLUTION.*?### END SOLUTION[^\n]*$", re.MULTILINE | re.DOTALL
)
HIDDEN = re.compile(
    r"^[ \t]*### BEGIN HIDDEN TESTS.*?### END HIDDEN TESTS[^\n]*\n?",
    re.MULTILINE | re.DOTALL,
)
TABLES = kit.tables()


@pytest.fixture(params=TABLES, scope="session")
def name(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="session")
def source(name: str) -> nbformat.NotebookNode:
    return course.load(name)


@pytest.fixture(scope="session")
def assignment(source: nbformat.NotebookNode) -> Assignment:
    return Assignment(source, course.release(source))


def autograded(source: nbformat.NotebookNode) -> dict[str, float]:
    graded = [
        c.metadata.nbgrader
        for c in source.cells
        if c.metadata.nbgrader.grade and not c.metadata.nbgrader.solution
    ]
    return {part.grade_id: part.points for part in graded}


def problems(notebook: nbformat.NotebookNode) -> list[str]:
    """What is wrong with a source, one sentence each."""
    found: list[str] = []
    ids = [cell.metadata.get("nbgrader", {}).get("grade_id") for cell in notebook.cells]
    if None in ids or len(set(ids)) != len(ids):
        return ["every cell needs nbgrader metadata with a grade_id of its own"]
    graded = [cell for cell in notebook.cells if cell.metadata.nbgrader.grade]
    points = sum(cell.metadata.nbgrader.points for cell in graded)
    if points != 100:
        found.append(f"the points add up to {points}, not 100")
    if not 8 <= len(graded) <= 15:
        found.append(f"{len(graded)} graded parts: 8 to 15 are wanted")
    for cell in notebook.cells:
        grading, code = cell.metadata.nbgrader, cell.cell_type == "code"
        hidden = HIDDEN.findall(cell.source)
        asserts = [
            n
            for n in ast.walk(ast.parse("\n".join(hidden)))
            if isinstance(n, ast.Assert)
        ]
        answer, test = grading.solution, grading.grade and code
        rules = [
            (
                not (answer and code) or answer_names(cell.source),
                "its solution defines no name: no test can find it",
            ),
            (
                grading.solution != grading.locked,
                "answers are open, all other cells are locked",
            ),
            (
                not answer or SOLUTION.search(cell.source),
                "it has no ### BEGIN SOLUTION … ### END SOLUTION",
            ),
            (
                not test or hidden,
                "it has no ### BEGIN HIDDEN TESTS … ### END HIDDEN TESTS",
            ),
            (
                not test or all(n.msg for n in asserts),
                "an assert without a message tells the student nothing",
            ),
        ]
        found += [f"{grading.grade_id}: {rule}" for kept, rule in rules if not kept]
    text = "\n".join(cell.source for cell in notebook.cells)
    for value in notebook.metadata.get("nmt", {}).get("drawn", {}):
        if len(course.constants([value]).findall(text)) < 2:
            found.append(
                f"the constant {value} of metadata nmt.drawn is not in text and tests"
            )
    try:
        course.release(notebook)
    except RuntimeError as error:
        found.append(f"nbgrader makes no release of it: {error}")
    return found


def test_a_variable_of_a_comprehension_is_no_answer():
    """Since Python 3.12, its symbol tables say otherwise."""
    defined = "import math\nx, y = 1, [z for z in [(lambda v: v)(1)]]\ndef f(a):\n    b = a\nclass C:\n    d = 1\n"
    assert answer_names(defined) == {"x": False, "y": False, "f": True, "C": True}


def test_source_is_well_made(source):
    assert problems(source) == []
    nbformat.validate(source)


def test_release_holds_no_solution_and_no_hidden_test(name, source):
    student = course.release(source)
    assert [c.metadata.nbgrader.grade_id for c in student.cells] == [
        c.metadata.nbgrader.grade_id for c in source.cells
    ]
    assert not any(
        cell.get("outputs") or cell.get("execution_count") for cell in student.cells
    )
    text = "\n".join(cell.source for cell in student.cells)
    open_code = "\n".join(
        c.source
        for c in source.cells
        if c.metadata.nbgrader.locked and not c.metadata.nbgrader.grade
    )
    for cell in source.cells:
        for block in (
            *HIDDEN.findall(cell.source),
            *[m[0] for m in SOLUTION.finditer(cell.source)],
        ):
            lines = [
                line.strip()
                for line in block.splitlines()
                if len(line.strip()) > 30 and "###" not in line
            ]
            assert not [
                line for line in lines if line in text and line not in open_code
            ], cell.metadata.nbgrader.grade_id


def test_release_says_what_its_pictures_show(source):
    def alts(edition: nbformat.NotebookNode) -> dict[str, str]:
        return {
            c.id: c.metadata.nmt.alt
            for c in edition.cells
            if "alt" in c.metadata.get("nmt", {})
        }

    drawn = [
        c.id
        for c in source.cells
        if any("image/png" in o.get("data", {}) for o in c.get("outputs", []))
    ]
    assert (
        drawn
        and list(alts(source)) == drawn
        and alts(course.release(source)) == alts(source)
    )
    assert not course.constants(dict.fromkeys(source.metadata.nmt.drawn, "")).findall(
        " ".join(alts(source).values())
    )


def test_reference_and_nothing(source, assignment, marker):
    points = autograded(source)
    marks = marker.mark(assignment, kit.cells(kit.submission(source)))
    assert {
        p.name: p.says for p in marks.parts if p.score == 0
    } == {} and marks.notes == []
    assert marks.score == sum(points.values()) and marks.open == len(marks.parts) - len(
        points
    )
    for part in marks.parts:
        part.score = (
            part.points if part.score is None else part.score
        )  # a teacher likes what is written
    assert marks.score == 100
    marks = marker.mark(assignment, kit.cells(kit.submission(source, blank=True)))
    assert marks.score == 0 and marks.open == 0 and marks.notes == []
    assert all(
        "not written yet" in part.says for part in marks.parts if part.name in points
    ), "a hint that helps"


def test_partial_answers_get_exactly_their_parts(source, assignment):
    """One answer alone has parts of its own, and all parts are those of one answer: none needs two, none takes any."""
    points = set(autograded(source))
    earned = {
        cell: points
        - kit.failed_here(source, assignment, {cell: kit.solution(source, cell)}).keys()
        for cell in assignment.answers
    }
    assert all(earned.values()), "an answer is not graded"
    assert sorted(part for parts in earned.values() for part in parts) == sorted(
        points
    ), earned


def test_other_right_answers_pass(name, source, assignment):
    right = TABLES[name].RIGHT
    assert set(right) == set(assignment.answers) and all(
        len(variants) >= 5 for variants in right.values()
    )
    for i in range(max(map(len, right.values()))):
        chosen = {
            cell: list(variants)[i % len(variants)] for cell, variants in right.items()
        }
        answers = {cell: right[cell][title] for cell, title in chosen.items()}
        assert kit.failed_here(source, assignment, answers) == {}, chosen


def test_another_default_type_costs_nothing(source, assignment, marker):
    first = next(iter(assignment.answers))
    answers = {
        first: f"torch.set_default_dtype(torch.float64)\n\n\n{kit.solution(source, first)}"
    }
    marks = marker.mark(assignment, kit.cells(kit.submission(source, answers)))
    assert {p.name: p.says for p in marks.parts if p.score == 0} == {}


def test_wrong_answers_fail_where_they_belong(name, source, assignment, marker):
    """One of each kind (same cell and parts), several at a time; ``make kill-table`` marks all, one by one. Answers
    that change what they are given spoil other tests in this process, so a marker has the last word."""
    wrong = TABLES[name].WRONG
    assert len(wrong) >= 8
    kinds = {(w.cell, *sorted(w.fails)): title for title, w in reversed(wrong.items())}
    right = {cell: kit.solution(source, cell) for cell in assignment.answers}
    for group in kit.bundles({title: wrong[title].cell for title in kinds.values()}):
        answers = {
            wrong[title].cell: kit.wrong_code(source, wrong[title]) for title in group
        }
        expected = {title: set(wrong[title].fails) for title in group}
        parts = set().union(*expected.values())
        if kit.failed_here(source, assignment, right | answers).keys() != parts:
            marks = marker.mark(assignment, kit.cells(kit.submission(source, answers)))
            assert kit.failed(marks) == parts, expected


def test_another_seed_is_another_assignment(name, marker):
    """The reference passes whatever is drawn (``make test-class`` tries a hundred); last year's answers do not pass
    unchanged."""
    for seed in random.Random(0).sample(range(1000), 5):
        drawn = course.load(name, str(seed))
        assignment = Assignment(drawn, course.release(drawn))
        answers = {cell: kit.solution(drawn, cell) for cell in assignment.answers}
        assert kit.failed_here(drawn, assignment, answers) == {}, f"seed {seed}"
    last = marker.mark(assignment, kit.cells(kit.submission(course.load(name))))
    assert last.score <= 0.5 * sum(autograded(drawn).values()), (
        f"seed {seed}: last year's answers get {last.score}"
    )
