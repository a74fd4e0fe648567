"""``make test-class``: a hundred seeds, hostile submissions that wait for a limit, and
sixty mixed ones through ``make grade``."""

from __future__ import annotations

import csv
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import cycle, islice
from pathlib import Path

import pytest
from nbformat import NotebookNode

from nmt_book.course import course, sandbox
from nmt_book.course.assignment import Assignment
from tests.course import kit
from tests.course.hostile import GREEDY, HOSTILE, OF
from tests.course.test_hostile import try_hostile

HONEST = 48
NAME = "A1_tokenization"


@pytest.mark.parametrize("name", kit.NAMES)
def test_the_reference_passes_whatever_is_drawn(name: str) -> None:
    """No limit of a test is so tight that some numbers break it."""
    for seed in range(100):
        source = course.load(name, str(seed))
        of = Assignment(source, source)
        assert kit.failed_here(of, kit.solutions(source)) == {}, f"seed {seed}"


@pytest.mark.parametrize("title", [title for title, h in HOSTILE.items() if h.slow])
def test_hostile_that_waits(title: str, tmp_path: Path) -> None:
    try_hostile(HOSTILE[title], tmp_path)


def honest() -> Iterator[NotebookNode]:
    """The reference and nothing, then right and wrong answers, alone or with all
    others."""
    yield from (kit.submission(OF, blank=blank) for blank in (False, True))
    for i, (cell, code, _) in enumerate(kit.tries(NAME).values()):
        yield kit.submission(OF, {cell: code}, blank=i % 3 == 0)


def graded(folder: Path, number: str, busy: int) -> dict[str, str]:
    """Rows of ``grades.csv``, with processes beside it that keep the processors
    busy."""
    course.make("", "", folder / number)
    run = [sys.executable, "-m", "nmt_book.course.grade"]
    with ExitStack() as stack:
        for _ in range(busy):
            loop = subprocess.Popen([sys.executable, "-c", "while True: pass"])
            stack.enter_context(loop)  # waits for its end
            stack.callback(loop.kill)
        subprocess.run([*run, folder / "in", "--course", folder / number], check=True)
    with (folder / number / "grades.csv").open(newline="") as file:
        return {r["id"]: r[f"{NAME} by machine"] for r in csv.DictReader(file)}


@pytest.mark.skipif(bool(sandbox.unavailable()), reason=sandbox.unavailable())
def test_sixty_mixed_submissions(tmp_path: Path) -> None:
    """Honest ones get the same marks on a quiet machine, and on a busy one with 12
    hostile ones among them; each of these gets its own."""
    hostile = {**GREEDY, **{title: h for title, h in HOSTILE.items() if h.slow}}
    for i, notebook in enumerate(islice(cycle(honest()), HONEST)):
        kit.hand_in(tmp_path / f"in/student{i:02}/A1.ipynb", notebook)
    before = graded(tmp_path, "quiet", busy=0)
    for i, one in enumerate(list(hostile.values())[:12]):
        notebook = kit.submission(OF, blank=one.blank)
        one.change(notebook)
        kit.hand_in(tmp_path / f"in/student{4 * i:02}-hostile/A1.ipynb", notebook)
    after = graded(tmp_path, "busy", busy=2)
    assert {who: after[who] for who in before} == before
    points = {
        c.metadata.nbgrader.grade_id: c.metadata.nbgrader.get("points", 0)
        for c in OF.released.cells
    }
    for i, (title, one) in enumerate(list(hostile.items())[:12]):
        got = float(after.get(f"student{4 * i:02}-hostile", 0))
        lost = sum(points[part] for part in one.costs)
        assert got == (0 if one.blank else 92 - lost), title
