"""Hostile and broken submissions: each gets the marks it should.

Those that have to wait for a limit run under ``make test-class`` (``class_proof.py``).
"""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from pathlib import Path

import nbformat
import pytest

from nmt_book.course import collect, sandbox
from nmt_book.course.assignment import LOOK
from tests.course import kit
from tests.course.hostile import HOSTILE, OF, ROOT, Hostile


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


@pytest.mark.skipif(bool(sandbox.unavailable()), reason=sandbox.unavailable())
def test_answers_of_the_book_are_hidden(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of this copy, and of one that is installed among the packages."""
    files = ["chapter04/check.py", "course/check/a3.py", "course/check/kit.py"]
    installed = [tmp_path / "packages/nmt_book" / file for file in files]
    for file in installed:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("answers")
    shown = [*sandbox._shown(), str(tmp_path / "packages")]
    monkeypatch.setattr(sandbox, "_shown", lambda: shown)
    paths = [*map(str, installed), *(str(ROOT / "nmt_book" / file) for file in files)]
    code = (
        f"import os; print([os.path.exists(p) and os.stat(p).st_size for p in {paths}])"
    )
    line = [*sandbox.command([], []), sys.executable, "-c", code]
    done = subprocess.run(line, capture_output=True, text=True, check=True)
    size = (ROOT / "nmt_book" / files[-1]).stat().st_size
    assert done.stdout.strip() == str([0, 0, 7, False, False, size]), done.stderr
