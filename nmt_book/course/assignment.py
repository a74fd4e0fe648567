"""One assignment, as marking needs it: its tests, the names of its answers, and which
cells of a submission are run."""

from __future__ import annotations

import ast
import base64
import io
import re
from collections import defaultdict
from contextlib import suppress
from copy import deepcopy
from functools import cached_property, lru_cache
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any
from warnings import catch_warnings, simplefilter

import nbformat
from nbformat import NotebookNode, v4

from .course import drawn_constants

CELL_MAGIC = re.compile(r"\A\s*%%[^\n]*\n")
LINE_MAGIC = re.compile(r"^([ \t]*)(?:[%!?]|[\w., ]+= *[%!]|[\w.]+\?).*$", re.MULTILINE)
# Where each kind of node has a name.
NAMED = {ast.FunctionDef: "name", ast.ClassDef: "name", ast.arg: "arg"}
NAMED |= {ast.Name: "id", ast.Attribute: "attr"}
LOOK = "PLEASE LOOK: "  # begins what only a teacher is told
# A cell's source, the answer in whose place it is, and whether it is still its stub.
Step = tuple[str, str, bool]


class Assignment:
    """What marking needs of a source notebook and of its release."""

    def __init__(self, source: NotebookNode, released: NotebookNode) -> None:
        self.source, self.released = source, released
        about = source.metadata.nmt
        self.blocked, self.drawn = list(about.blocked), drawn_constants(source)
        # Some answers call others. Hidden tests give them the right ones, so that a
        # mistake costs points only once.
        self.given = dict(about.get("given", {}))
        # Modules to import before the clock runs, because an optimizer, or an operator
        # that is refused, would import them at its first use.
        self.warm = list(about.get("warm", []))
        self.tests, self.solutions, self.schemes = (dict[str, str]() for _ in range(3))
        self.set_up = list[str]()
        for cell in source.cells:
            grading, is_code = cell.metadata.nbgrader, cell.cell_type == "code"
            if is_test(grading):
                self.tests[grade_id(cell)] = cell.source
            elif grading.solution and is_code:
                self.solutions[grade_id(cell)] = cell.source
            elif grading.solution:
                text = re.sub("(?m)^###.*\n?", "", cell.source)
                self.schemes[grade_id(cell)] = text.rstrip("\n")
            elif is_code and "no-grading" not in cell.metadata.get("tags", []):
                self.set_up.append(cell.source)
        # What each answer cell defines, and whether it is something to call.
        self.answers = {id: answer_names(text) for id, text in self.solutions.items()}
        self.namespace: dict[str, Any] = {"__name__": "tests"}
        for text in self.set_up:
            exec(compile(parsed(text), "set-up", "exec"), self.namespace)
        self.helpers = [
            thing.__name__
            for thing in self.namespace.values()
            if isinstance(thing, ModuleType)
            and thing.__name__.startswith(f"{__package__}.")
        ]

    @cached_property
    def pictures(self) -> dict[str, NotebookNode]:
        """The pictures that the written questions ask about, for the grader."""
        images = dict[str, NotebookNode]()
        for cell in self.source.cells:
            if "alt" in cell.metadata.get("nmt", {}):
                names, tree = dict(self.namespace), ast.parse(cell.source)
                last: Any = tree.body.pop()
                exec(compile(tree, "picture", "exec"), names)
                figure = eval(
                    compile(ast.Expression(last.value), "picture", "eval"), names
                )
                image = io.BytesIO()
                figure.savefig(image, format="png", bbox_inches="tight")
                data = {"image/png": base64.b64encode(image.getvalue()).decode()}
                images[grade_id(cell)] = v4.new_output("display_data", data)
        return images

    def restored(self, handed_in: NotebookNode) -> tuple[NotebookNode, list[str]]:
        """The released notebook with the student's answers and added cells put back in
        place, even if ids, order or locked cells have changed; and notes."""
        ids = [grade_id(c) for c in self.released.cells]
        texts = {plain_text(c): grade_id(c) for c in self.released.cells}
        following = dict(pairwise(["", *ids]))
        have = {grade_id(c) for c in handed_in.cells}
        answers, own = defaultdict[str, list[str]](list), defaultdict[str, list](list)
        notes, place, seen = self.of_another_seed(handed_in), "", set[str]()
        for cell in handed_in.cells:
            text, id = plain_text(cell), grade_id(cell)
            id = id if id in ids else texts.get(text, "")
            expected = following.get(place, "")
            if not id and expected not in have and self._can_be(cell, expected):
                id = expected  # this cell has lost its id
            if id in self.solutions or id in self.schemes:
                answers[id].append(text)
            elif id and cell.cell_type == "code" and text not in texts:
                notes.append(f"locked cell {id} was changed; that does not count")
            elif text and not id:
                own[place].append(_new_cell(cell.cell_type, text))
            place = id or place
            seen.add(id)
        if len(seen & {*self.tests, *self.solutions}) < 2:  # some have one id in common
            notes.append(f"{LOOK}no cell is of this assignment: is it another one's?")
        nb = nbformat.from_dict({**self.released, "cells": own[""]})
        for cell in map(nbformat.from_dict, self.released.cells):
            *copies, last = answers[grade_id(cell)] or [""]
            nb.cells += [_new_cell(cell.cell_type, text) for text in copies]
            cell.source = last or cell.source
            nb.cells += [cell, *own[grade_id(cell)]]
        return nb, notes

    def _can_be(self, cell: NotebookNode, id: str) -> bool:
        """Whether a cell without an id can be this answer."""
        if cell.cell_type == "markdown":
            return id in self.schemes
        return bool(self.answers.get(id, {}).keys() & _names(parsed(cell.source)))

    def program(self, notebook: NotebookNode) -> list[Step]:
        """The cells of a restored notebook to run: our set-up, then everything that
        the student wrote."""
        stubs = {plain_text(c) for c in self.released.cells}
        steps, place = [(source, "", False) for source in self.set_up], ""
        for cell in notebook.cells:
            id = grade_id(cell)
            place = id or place
            if cell.cell_type == "code" and (not id or id in self.answers):
                at = place if place in self.answers else ""
                steps.append((cell.source, at, plain_text(cell) in stubs))
        return steps

    def of_another_seed(self, handed_in: NotebookNode) -> list[str]:
        """A note if cells hold the constants of a class with another seed, be they
        ours or taken from published solutions."""

        def bare(text: str) -> str:
            return shape(self.drawn.sub("_", text))

        texts = [plain_text(c) for c in (*self.released.cells, *self.source.cells)]
        exact, alike = set(map(shape, texts)), set(map(bare, texts))
        code = [plain_text(c) for c in handed_in.cells if c.cell_type == "code"]
        n = sum(shape(text) not in exact and bare(text) in alike for text in code)
        if n <= 2:
            return []
        why = "was the class made again, or are these published solutions?"
        return [f"{LOOK}{n} cells have the constants of another SEED: {why}"]


@lru_cache(8)
def load(root: Path, name: str) -> Assignment:
    """Reads an assignment that ``make class`` wrote into the course folder."""
    source, released = (
        nbformat.read(root / step / name / f"{name}.ipynb", 4)
        for step in ("source", "release")
    )
    return Assignment(source, released)


def is_test(grading: NotebookNode) -> bool:
    return bool(grading.get("grade") and not grading.get("solution"))


def grade_id(cell: NotebookNode) -> str:
    return str(cell.metadata.get("nbgrader", {}).get("grade_id", ""))


def plain_text(cell: NotebookNode) -> str:
    """The source without what editors change: line ends, and spaces around it."""
    return str(cell.source).replace("\r\n", "\n").strip()


@lru_cache(512)
def parsed(source: str) -> ast.Module:
    """A cell's code without magics such as ``%%time``; what follows one counts. Empty
    if it is not Python."""
    for text in (source, LINE_MAGIC.sub(r"\1pass", CELL_MAGIC.sub("", source))):
        errors = SyntaxError, ValueError, RecursionError, MemoryError
        with suppress(*errors), catch_warnings():
            simplefilter("ignore")
            return ast.parse(text)
    return ast.Module([], [])


@lru_cache(4096)
def shape(source: str) -> str:
    """A cell's code without layout, comments and docstrings, and with numbers in place
    of the names that it gives, for comparisons; unchanged if it is nested too deeply,
    as a sum of 3,000 terms is."""
    numbers = dict[str, str]()
    try:
        tree = deepcopy(parsed(source))
        for renamed in (False, True):  # which names it gives is known at its end
            for node in ast.walk(tree):
                field = NAMED.get(type(node), "")
                name = str(getattr(node, field, ""))
                if isinstance(node, ast.Attribute):
                    own = isinstance(node.value, ast.Name) and node.value.id == "self"
                    name = f".{name}" if own else ""
                stored = isinstance(getattr(node, "ctx", ast.Store()), ast.Store)
                if renamed and name in numbers:
                    setattr(node, field, numbers[name])
                elif name and stored:
                    numbers.setdefault(name, f"_{len(numbers)}")
                if isinstance(node, (ast.Module, ast.FunctionDef, ast.ClassDef)):
                    rest = (n for n in node.body if not _is_text(n))
                    node.body = [*rest] or [ast.Pass()]
        return ast.unparse(tree)
    except RecursionError:
        return source


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def answer_names(source: str) -> dict[str, bool]:
    """What a solution defines, and whether it is a function or class (else a
    variable)."""
    return _names(ast.parse(source))


def _names(tree: ast.Module) -> dict[str, bool]:
    inner = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda)
    names, nodes = dict[str, bool](), list[ast.AST](tree.body)
    for node in nodes:  # the list grows meanwhile
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names[node.name] = True
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.setdefault(node.id, False)
        elif not isinstance(node, inner):  # they have a scope of their own
            nodes += ast.iter_child_nodes(node)
    return names


def _new_cell(kind: str, source: str) -> NotebookNode:
    new = {"code": v4.new_code_cell, "markdown": v4.new_markdown_cell}
    return new.get(kind, v4.new_raw_cell)(source)
