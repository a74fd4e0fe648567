"""Every assignment marked for real: the reference, nothing, parts, other right answers,
wrong answers."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from itertools import zip_longest
from typing import Any

import nbformat
import pytest

from nmt_book.chapter04 import check as chapter04
from nmt_book.course import course
from nmt_book.course.assignment import Assignment, answer_names, grade_id
from nmt_book.course.check import a3
from nmt_book.course.check import kit as check_kit
from nmt_book.course.check.kit import Hint
from nmt_book.course.check.part import Part
from nmt_book.course.marking import HIDDEN
from tests.course import kit


@pytest.fixture(params=kit.NAMES, scope="session")
def of(request: pytest.FixtureRequest) -> Assignment:
    return kit.assignment(request.param)


def name_of(of: Assignment) -> str:
    number = of.source.cells[0].source.partition("# A")[2][0]
    return kit.NAMES[int(number) - 1]


def tells(node: ast.AST) -> bool:
    """Whether its text has what an answer gave (``got``), or a rounded number: results
    could tell what a hidden test passed."""
    values = [n for n in ast.walk(node) if isinstance(n, ast.FormattedValue)]
    texts = [ast.unparse(ast.JoinedStr([value])) for value in values]
    return any(re.search(r"\bgot\b|:[^}]*\.\d", text) for text in texts)


def problems(notebook: nbformat.NotebookNode) -> list[str]:
    """What is wrong with a source, and nbgrader does not notice as it makes the
    release."""
    found = list[str]()
    graded = [c for c in notebook.cells if c.metadata.nbgrader.grade]
    points = sum(cell.metadata.nbgrader.points for cell in graded)
    if points != 100 or not 8 <= len(graded) <= 16:
        found.append(f"{points} points in {len(graded)} parts: 100, in 8 to 16")
    for cell in notebook.cells:
        grading, code = cell.metadata.nbgrader, cell.cell_type == "code"
        hidden = cell.source.partition(HIDDEN)[2]
        asserts = [n for n in ast.walk(ast.parse(hidden)) if isinstance(n, ast.Assert)]
        answer, test = grading.solution, grading.grade and code
        for kept, rule in (
            (answer != grading.locked, "answers are open, all other cells are locked"),
            (not answer or "### BEGIN SOLUTION" in cell.source, "there is no solution"),
            (not test or hidden, "there is no hidden test"),
            (all(n.msg for n in asserts), "an assert without a message"),
            (not any(map(tells, asserts)), "a hidden test tells a result"),
            (not (answer and code) or answer_names(cell.source), "it defines no name"),
        ):
            found += [] if kept else [f"{grade_id(cell)}: {rule}"]
    text = "\n".join(cell.source for cell in notebook.cells)
    for value in notebook.metadata.nmt.drawn:
        if len(course.constants([value]).findall(text)) < 2:
            found.append(f"the drawn constant {value} is not in text and tests")
        if value.isidentifier():
            found.append(f"{value}: constants are drawn, not names")
    return found


def test_a_variable_of_a_comprehension_is_no_answer() -> None:
    """Since Python 3.12, its symbol tables say otherwise."""
    defined = (
        "x, y = 1, [z for z in [(lambda v: v)(1)]]\ndef f(a):\n    b = a\nclass "
        "C:\n    d = 1"
    )
    assert answer_names(defined) == {"x": False, "y": False, "f": True, "C": True}


def test_source_is_well_made(of: Assignment) -> None:
    assert problems(of.source) == []
    nbformat.validate(of.source)


def test_release_holds_no_solution_and_no_hidden_test(of: Assignment) -> None:
    assert list(map(grade_id, of.released.cells)) == list(
        map(grade_id, of.source.cells)
    )
    for cell in of.released.cells:
        assert "### BEGIN" not in cell.source and "### END" not in cell.source
        stub = cell.metadata.nbgrader.solution and cell.cell_type == "code"
        assert not stub or "NotImplementedError" in cell.source, grade_id(cell)
    assert "{{" not in "".join(of.schemes.values()), "a scheme is not filled in"


def test_pictures_have_texts_that_tell_nothing_drawn(of: Assignment) -> None:
    stored = course.load(name_of(of))
    pictures = [c for c in stored.cells if "image/png" in str(c.get("outputs"))]
    alts = [c.metadata.nmt.alt for c in pictures]
    assert pictures and all(alts)
    assert not course.constants(stored.metadata.nmt.drawn).findall(" ".join(alts))


def test_reference_and_nothing(of: Assignment) -> None:
    """The reference also where it has set another default type."""
    first = next(iter(of.answers))
    other = f"torch.set_default_dtype(torch.float64)\n{kit.solution(of.source, first)}"
    marks = kit.mark(of, kit.submission(of, {first: other}))
    assert marks.failed() == set() and marks.notes == [], marks.says
    marks = kit.mark(of, kit.submission(of, blank=True))
    assert set(marks.shares.values()) == {0.0} and marks.notes == []
    assert all("not written yet" in said for said in marks.says.values()), marks.says


def test_partial_answers_get_exactly_their_parts(of: Assignment) -> None:
    """One answer alone has parts of its own, and all parts are those of one answer."""
    right = kit.solutions(of.source)
    earned = {
        cell: of.tests.keys() - kit.failed_here(of, {cell: right[cell]}).keys()
        for cell in of.answers
    }
    assert all(earned.values()), "an answer is not graded"
    parts = [part for parts in earned.values() for part in parts]
    assert sorted(parts) == sorted(of.tests), earned


def test_answers_fail_where_they_belong(of: Assignment) -> None:
    """Right ones nowhere. One answer of each cell at a time; those that change what
    they are given spoil other tests in this process, so there ``mark`` has the last
    word."""
    tries, of_cell = kit.tries(name_of(of)), defaultdict[str, list[str]](list)
    for title, (cell, _, _) in tries.items():
        of_cell[cell].append(title)
    assert all(str(of_cell[cell]).count("right: ") == 2 for cell in of.answers)
    assert {part for *_, fails in tries.values() for part in fails} == of.tests.keys()
    for group in zip_longest(*of_cell.values()):
        some = [tries[title] for title in group if title]
        answers = {cell: code for cell, code, _ in some}
        parts = {part for *_, fails in some for part in fails}
        if kit.failed_here(of, kit.solutions(of.source) | answers).keys() != parts:
            assert kit.mark(of, kit.submission(of, answers)).failed() == parts, group


A3 = {
    "weights": a3.weights(1.7),
    "mask": a3.mask(1.7),
    "split": a3.split(lambda h, H: (h + 2) % H),
    "merge": a3.merge(lambda h, H: (h + 2) % H),
    "roles": a3.roles(),
}


@pytest.mark.parametrize("part", A3.values(), ids=A3)
def test_no_mistake_is_taken_for_another(part: Part) -> None:
    """Some coincide with the right answer where no mask, or one head, shows them."""
    assert part.verdict(part.right).startswith("right")
    told = {why: {part.verdict(m) for m in ms} for why, ms in part.mistakes.items()}
    assert any(f"not yet: {why}" in said for why, said in told.items())
    for why, verdicts in told.items():
        for said in verdicts - {f"not yet: {why}", f"not yet: {chapter04.UNDIVIDED}"}:
            assert said.startswith("right") or "wrong in the case" in said, why


@pytest.mark.parametrize("answer", [lambda x: x, lambda x: int(x), lambda x: x + "é"])
def test_a_hidden_exercise_tells_names_alone(
    answer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An answer that returns or raises what it got would tell what it was given."""
    part = Part(str.upper, {"a word": ("straße",)}, {})
    with pytest.raises(Hint, match="straße"):
        part(answer)
    monkeypatch.setattr(check_kit, "quiet", True)
    with pytest.raises(Hint, match=r"^wrong in the case “a word”$"):
        part(answer)


# The first two do what a part forbids, and lie about it to the stand-in that they get.
ROW_BY_ROW = """
def greedy(model, src):
    model.rows, model.most, model.replies = 0, 1000, getattr(model, "replies", None)
    rows = []
    for one in src:
        ids = [SOS]
        while EOS not in ids and len(ids) <= (one != PAD).sum() + 15:
            scores = model(one[None], torch.tensor([ids]))[0, -1]
            scores[[PAD, SOS, 17]] = -torch.inf
            ids.append(int(scores.argmax()))
        rows.append(torch.tensor([i for i in ids[1:] if i != EOS], dtype=torch.long))
    return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)
"""
NO_CACHE = """
class CachedLayer:
    def __init__(self, layer, memory, src_mask):
        self.layer, self.given = layer, [memory, src_mask]
        self.tokens = torch.zeros(len(memory), 0, dtype=torch.long)
        layer.cross.key(memory), layer.cross.value(memory)
    def step(self, tokens):
        x = self.layer.embed(tokens[:, None], self.tokens.size(1))
        self.layer.own.key(x), self.layer.own.value(x)
        self.tokens = torch.cat([self.tokens, tokens[:, None]], 1)
        hooks = [(m, dict(m._forward_hooks)) for m in self.layer.modules()]
        for module, _ in hooks:
            module._forward_hooks.clear()
        out = self.layer(self.tokens, *self.given)[:, -1]
        for module, of_it in hooks:
            module._forward_hooks.update(of_it)
        return out
    def select(self, rows):
        self.tokens, self.given = self.tokens[rows], [x[rows] for x in self.given]
"""
SPLIT = "def split_heads(x, n):\n    return x.view(len(x), n, x.size(1), -1)"
CALLS = kit.table("A3").RIGHT["layer"]["the functions of parts 1 and 2"]
TOLD = "suspect = case.fault.function"
# What answers an assignment gets, and the one part that fails.
SUBMISSIONS = {
    "row by row": ("A6_decoding", {"greedy": ROW_BY_ROW}, "greedy-stop"),
    "no cache": ("A6_decoding", {"cache": NO_CACHE}, "cache-work"),
    "a mistake in an answer that is called": (
        "A3_attention",
        {"layer": CALLS, "split": SPLIT},
        "split-heads",
    ),
    "a case is asked for its fault": ("A4_transformer", {"fault": TOLD}, "fault-found"),
}


@pytest.mark.parametrize("title", SUBMISSIONS)
def test_what_costs_one_part(title: str) -> None:
    name, answers, part = SUBMISSIONS[title]
    of = kit.assignment(name)
    marks = kit.mark(of, kit.submission(of, answers))
    assert marks.shares == {**dict.fromkeys(of.tests, 1.0), part: 0.0}, marks.says


def test_another_seed_is_another_assignment(of: Assignment) -> None:
    """The reference passes (``make test-class`` tries a hundred seeds), and last year's
    answers do not pass unchanged."""
    drawn = course.load(name_of(of), "2028")
    new = Assignment(drawn, drawn)
    assert kit.failed_here(new, kit.solutions(drawn)) == {}
    lost = kit.failed_here(new, kit.solutions(of.source))
    points = {grade_id(c): c.metadata.nbgrader.get("points") for c in drawn.cells}
    assert sum(points[part] for part in lost) >= 20, lost
