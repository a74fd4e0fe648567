"""What the tests of the course share: a class, submissions made of it and of other
answers, and marking them."""

from __future__ import annotations

import importlib
import io
import json
import re
import subprocess
import sys
import warnings
from collections.abc import Iterable
from contextlib import ExitStack, redirect_stdout, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any
from unittest import mock

import nbformat
import torch
from nbformat import NotebookNode

from nmt_book.course import course, marking, sandbox
from nmt_book.course.assignment import Assignment, grade_id, load
from tests.course import copies

NAMES = course.names()


@dataclass
class Marked:
    """What a submission got: of each part the share, and what its tests say."""

    shares: dict[str, float]
    says: dict[str, str]
    notes: list[str]

    def failed(self) -> set[str]:
        return {part for part, share in self.shares.items() if share < 1}


@cache
def made(seed: str) -> Path:
    """The folder of a course, with the assignments that were asked for."""
    return Path(mkdtemp())


@cache
def assignment(name: str, seed: str = "") -> Assignment:
    """One assignment, as ``make class`` writes it."""
    with mock.patch.object(course, "names", lambda: [name]):
        course.make(seed, "", made(seed))
    return load(made(seed), name)


def mark(
    of: Assignment, notebook: NotebookNode, seconds: float = 100, private: Any = None
) -> Marked:
    """Without a sandbox, unless told otherwise. Then students' processes are copies of
    one that has loaded what they need. The limit leaves room for a machine that is ten
    times slower."""
    restored, notes = of.restored(notebook)
    with ExitStack() as stack:
        if private is None:
            stack.enter_context(mock.patch.object(marking, "launch", copies.launch))
        results, more = marking.mark(of, restored, seconds, private)
    shares = {part: share for part, (share, _) in results.items()}
    says = {part: said for part, (_, said) in results.items()}
    return Marked(shares, says, notes + more)


def table(name: str) -> Any:
    """The table of an assignment, ``a1.py`` … in this folder, with RIGHT and WRONG."""
    return importlib.import_module(f"tests.course.{name.partition('_')[0].lower()}")


def solution(source: NotebookNode, cell: str) -> str:
    """The reference answer, without its marks."""
    text = next(c.source for c in source.cells if grade_id(c) == cell)
    return re.sub(r"(?m)^ *###.*\n?", "", text)


def solutions(source: NotebookNode) -> dict[str, str]:
    ids = [
        grade_id(c)
        for c in source.cells
        if c.metadata.nbgrader.solution and c.cell_type == "code"
    ]
    return {id: solution(source, id) for id in ids}


def tries(name: str) -> dict[str, tuple[str, str, list[str]]]:
    """Each answer of a table: its cell, its code, and the parts where it must fail; of
    a wrong one, the code is the solution with its edits, "piece → other piece"."""
    source, these = assignment(name).source, table(name)
    found = dict[str, tuple[str, str, list[str]]]()
    for title, (cell, fails, *edits) in these.WRONG.items():
        code = solution(source, cell)
        for piece, _, other in (edit.partition(" → ") for edit in edits):
            assert code.count(piece) == 1, f"{title}: {piece!r} is not there, or twice"
            code = code.replace(piece, other)
        found[title] = cell, code, fails.split()
    for cell, variants in these.RIGHT.items():
        found |= {f"right: {cell}, {t}": (cell, c, []) for t, c in variants.items()}
    return found


def submission(
    of: Assignment, answers: dict[str, str] | None = None, blank: bool = False
) -> NotebookNode:
    """The release, filled in with the reference answers (unless ``blank``) and then
    with other ones."""
    student = nbformat.from_dict(of.released)
    right = {} if blank else solutions(of.source)
    for cell in student.cells:
        grading = cell.metadata.nbgrader
        if grading.solution and cell.cell_type == "code":
            cell.source = {**right, **(answers or {})}.get(grade_id(cell), cell.source)
        elif grading.solution and not blank:
            cell.source = "A written answer."
    return student


def hand_in(path: Path, notebook: NotebookNode) -> None:
    """Writes what a student hands in, in a folder that may be new."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(notebook))  # half a character, too


def in_sandbox(expression: str, shown: Path, private: Iterable[Path] = ()) -> Any:
    """What an expression gives in a sandbox that shows one more folder."""
    paths = [*sandbox._shown(), str(shown)]
    with mock.patch.object(sandbox, "_shown", lambda: paths):
        line = [*sandbox.command([], private), sys.executable, "-c"]
    code = f"import os, json; print(json.dumps({expression}))"
    done = subprocess.run([*line, code], capture_output=True, text=True)
    assert not done.returncode, done.stderr
    return json.loads(done.stdout)


class Here:
    """In place of a student's process: answers that are defined in this one."""

    def __init__(self, of: Assignment, answers: dict[str, str]) -> None:
        self.names = dict(of.namespace)
        for cell in of.answers:
            with suppress(Exception):
                self.ask("give", answers.get(cell, ""))

    def ask(self, request: str, *args: str) -> Any:
        torch.set_default_dtype(torch.float32)
        torch.set_grad_enabled(True)
        if request == "give":
            return exec(compile(args[0], "answer", "exec"), self.names)
        return eval(args[1], self.names)


def failed_here(of: Assignment, answers: dict[str, str]) -> dict[str, str]:
    """The parts that fail with these answers and no others, and why, tested in this
    process: ten times faster than ``mark``, for answers that leave alone what they are
    given."""
    with redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what an answer does is its own
        here = Here(of, answers)
        said = {part: marking.run_tests(of, of.tests[part], here) for part in of.tests}
        here.ask("give", "")  # torch as it was
    return {part: text for part, text in said.items() if text}
