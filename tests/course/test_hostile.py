"""Hostile and broken submissions: each gets the marks it should.

Those that have to wait for a limit run under ``make test-class`` (``class_proof.py``).
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import nbformat
import pytest

from nmt_book.course import collect, sandbox
from nmt_book.course.assignment import LOOK
from tests.course import kit
from tests.course.hostile import HOSTILE, OF, Hostile


@pytest.fixture(autouse=True)
def variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOT_FOR_STUDENTS", "x")


@pytest.mark.parametrize("title", [title for title, h in HOSTILE.items() if not h.slow])
def test_hostile(title: str, tmp_path: Path) -> None:
    try_hostile(HOSTILE[title], tmp_path)


def try_hostile(hostile: Hostile, folder: Path) -> kit.Marked:
    """Marks it from a file, as a student would hand it in."""
    notebook = kit.submission(OF, blank=hostile.blank)
    hostile.change(notebook)
    path = folder / "handed_in.ipynb"
    path.write_text(nbformat.v4.writes_json(notebook))
    if hostile.kernel and sandbox.unavailable():
        pytest.skip(sandbox.unavailable())
    private = () if hostile.kernel else None
    seconds = 6 if hostile.slow else 100  # those that do not wait are never stopped
    marks = kit.mark(OF, collect.read(partial(path.open, "rb")), seconds, private)
    said = f"{[s for s in marks.says.values() if s]} {marks.notes}"
    if hostile.blank:
        assert set(marks.shares.values()) == {0.0}, said
    assert marks.failed() == set(OF.tests if hostile.blank else hostile.costs), said
    assert hostile.note in " | ".join(marks.notes), said
    for word in ("FOUND", "WORKED"):
        assert word not in said or f"{word} []" in said, said
    assert "straße" not in said.lower(), "an input of a hidden test is shown"
    ours = [note for note in marks.notes if note.startswith(LOOK)]
    assert bool(ours) == hostile.note.startswith(LOOK), ours
    assert not any("\n" in note for note in marks.notes)
    return marks
