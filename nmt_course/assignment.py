"""One assignment, as marking needs it: its tests, its answers' names, and the cells of
a submission to run for them."""

from __future__ import annotations

import ast
import re
from contextlib import suppress
from functools import lru_cache
from itertools import pairwise
from types import ModuleType
from typing import Any
from warnings import catch_warnings, simplefilter

from nbformat import NotebookNode

from .course import drawn_constants
from .report import Part
from .submissions import Cell

CELL_MAGIC = re.compile(r"\A\s*%%[^\n]*\n")
LINE_MAGIC = re.compile(r"^([ \t]*)(?:[%!?]|[\w., ]+= *[%!]|[\w.]+\?).*$", re.MULTILINE)
Step = tuple[
    str, str, bool
    # A cell's source, the answer in whose place it stands, and whether it is still its
    # stub.
]


class Assignment:
    """What marking needs of a source notebook, and of its release."""

    def __init__(self, source: NotebookNode, released: NotebookNode) -> None:
        self.source, self.released = source, released
        self.blocked = list(source.metadata.get("nmt", {}).get("blocked", []))
        self.drawn = drawn_constants(source)
        self.cells, self.given = (
            source.cells,
            released.cells,
        )  # ours, and as the student got them
        self.graded = [cell for cell in self.cells if cell.metadata.nbgrader.grade]
        self.solutions = {
            c.metadata.nbgrader.grade_id: c.source for c in self.cells if _is_answer(c)
        }
        # What each answer cell defines, and whether it is something to call.
        self.answers = {
            part: answer_names(text) for part, text in self.solutions.items()
        }
        code = [
            c
            for c in self.cells
            if c.cell_type == "code" and "no-grading" not in c.metadata.get("tags", [])
        ]
        self.set_up = [
            c.source
            for c in code
            if c.metadata.nbgrader.locked and not c.metadata.nbgrader.grade
        ]
        self.namespace: dict[str, Any] = {"__name__": "tests"}
        for text in self.set_up:
            exec(compile(parsed(text), "set-up", "exec"), self.namespace)
        modules = [
            thing.__name__
            for thing in self.namespace.values()
            if isinstance(thing, ModuleType)
        ]
        self.helpers = [name for name in modules if name.startswith(f"{__package__}.")]
        # An optimizer imports this when it is first used: two seconds that are not the
        # student's. It needs operators.
        needed = any("optim" in c.source for c in self.cells) or any(
            "torch.ops" in name for name in self.blocked
        )
        self.warm = ["torch._dynamo"] if needed else []

    def __reduce__(self) -> tuple[Any, ...]:
        return Assignment, (
            self.source,
            self.released,
        )  # modules cannot be sent to another process

    def parts(self) -> list[Part]:
        about = [cell.metadata.nbgrader for cell in self.graded]
        return [
            Part(part.grade_id, part.points, by_hand=part.solution) for part in about
        ]

    def program(self, cells: list[Cell], notes: list[str]) -> list[Step]:
        """The cells to run: our set-up, then all that the student wrote. Locked cells
        are ours, whatever became of
        them."""
        locked = [c for c in [*self.given, *self.cells] if c.metadata.nbgrader.locked]
        ours, texts = (
            {c.metadata.nbgrader.grade_id for c in locked},
            {c.source.strip() for c in locked},
        )
        stubs = {c.source.strip() for c in self.given if _is_answer(c)}
        steps, place = [(source, "", False) for source in self.set_up], ""
        for cell in (cell for cell in cells if cell.source.strip()):
            if cell.grade_id in ours or cell.source.strip() in texts:
                place = ""
                if cell.kind == "code" and cell.source.strip() not in texts:
                    notes.append(
                        
                            f"the locked cell {cell.grade_id} was changed; the "
                            "change does not count"
                        
                    )
            elif cell.kind == "code":
                place = cell.grade_id if cell.grade_id in self.answers else place
                steps.append((cell.source, place, cell.source.strip() in stubs))
        return steps

    def written(self, part: Part, cells: list[Cell]) -> None:
        """Finds the text of a written answer: by its id, else behind the question."""
        place = next(
            i
            for i, c in enumerate(self.given)
            if c.metadata.nbgrader.grade_id == part.name
        )
        stub, question = (
            self.given[place].source.strip(),
            self.given[place - 1].source.strip(),
        )
        texts = [cell.source.strip() for cell in cells if cell.grade_id == part.name]
        if not texts:
            pairs = pairwise(cells)
            texts = [
                b.source.strip()
                for a, b in pairs
                if a.source.strip() == question and b.kind == "markdown"
            ]
        part.written = next(
            (text for text in reversed(texts) if text not in ("", stub)), ""
        )
        if not part.written:
            part.score, part.says = 0.0, "nothing is written here"

    def of_another_seed(self, cells: list[Cell]) -> list[str]:
        """Notes on locked cells, and on published solutions, with the constants of a
        class made with another seed."""

        def bare(source: str) -> str:
            return self.drawn.sub("_", source)

        ours = {c.source.strip() for c in [*self.given, *self.cells]}
        like_ours, theirs = (
            {bare(text) for text in ours},
            [cell.source.strip() for cell in cells],
        )
        others, notes = (
            sum(text not in ours and bare(text) in like_ours for text in theirs),
            [],
        )
        if others:
            notes.append(
                
                    f"PLEASE LOOK: {others} locked cells are of another SEED: was "
                    "the class made anew since?"
                
            )
        code = [cell.source for cell in cells if cell.kind == "code"]
        exact, alike = (
            {ast.dump(parsed(text)) for text in code},
            {ast.dump(parsed(bare(text))) for text in code},
        )
        copied = [
            part
            for part, text in self.solutions.items()
            if ast.dump(parsed(bare(text))) in alike
        ]
        adapted = [
            part for part in copied if ast.dump(parsed(self.solutions[part])) in exact
        ]
        if copied != adapted and len(copied) >= min(3, len(self.answers)):
            notes.append(
                
                    "PLEASE LOOK: published solutions with the constants of "
                    f"another SEED: {', '.join(copied)}"
                
            )
        return notes


@lru_cache(512)
def parsed(source: str) -> ast.Module:
    """A cell's code; a magic, such as ``%%time``, is left out, what stands below it
    counts. Empty: it is not Python."""
    for text in (source, LINE_MAGIC.sub(r"\1pass", CELL_MAGIC.sub("", source))):
        with (
            suppress(SyntaxError, ValueError, RecursionError, MemoryError),
            catch_warnings(),
        ):
            simplefilter("ignore")
            return ast.parse(text)
    return ast.Module([], [])


def answer_names(source: str) -> dict[str, bool]:
    """What a solution defines, and whether it is a function or class (else a
    variable)."""
    names, nodes = dict[str, bool](), list[ast.AST](ast.parse(source).body)
    for node in (
        nodes
    ):  # it grows; what stands in a function or comprehension is that one's own
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names[node.name] = True
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.setdefault(node.id, False)
        elif not isinstance(
            node,
            (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda),
        ):
            nodes += ast.iter_child_nodes(node)
    return names


def _is_answer(cell: NotebookNode) -> bool:
    return cell.cell_type == "code" and cell.metadata.nbgrader.solution
