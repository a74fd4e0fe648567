"""One assignment, as marking needs it: its tests, its answers' names, and the cells of a submission to run for them."""

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
Step = tuple[str, list[tuple[str, str, bool]]]  # a cell's source; part, name, is it a function: what to take after it


class Assignment:
    """What marking needs of a source notebook, and of its release."""

    def __init__(self, source: NotebookNode, released: NotebookNode) -> None:
        self.source, self.released = source, released
        self.blocked = list(source.metadata.get("nmt", {}).get("blocked", []))
        self.drawn = drawn_constants(source)
        self.cells, self.given = source.cells, released.cells  # ours, and as the student got them
        self.graded = [cell for cell in self.cells if cell.metadata.nbgrader.grade]
        self.solutions = {c.metadata.nbgrader.grade_id: c.source for c in self.cells if _is_answer(c)}
        # What each answer cell defines, and whether it is something to call.
        self.answers = {part: answer_names(text) for part, text in self.solutions.items()}
        code = [c for c in self.cells if c.cell_type == "code" and "no-grading" not in c.metadata.get("tags", [])]
        self.set_up = [c.source for c in code if c.metadata.nbgrader.locked and not c.metadata.nbgrader.grade]
        self.namespace: dict[str, Any] = {"__name__": "tests"}
        for text in self.set_up:
            exec(compile(parsed(text), "set-up", "exec"), self.namespace)
        modules = [thing.__name__ for thing in self.namespace.values() if isinstance(thing, ModuleType)]
        self.helpers = [name for name in modules if name.startswith(f"{__package__}.")]
        # An optimizer imports this when it is first used: two seconds that are not the student's. It needs operators.
        needed = any("optim" in c.source for c in self.cells) or any("torch.ops" in name for name in self.blocked)
        self.warm = ["torch._dynamo"] if needed else []

    def __reduce__(self) -> tuple[Any, ...]:
        return Assignment, (self.source, self.released)  # modules cannot be sent to another process

    def parts(self) -> list[Part]:
        about = [cell.metadata.nbgrader for cell in self.graded]
        return [Part(part.grade_id, part.points, by_hand=part.solution) for part in about]

    def program(self, cells: list[Cell], notes: list[str]) -> list[Step]:
        """The cells to run, each with the answers to take after it: our set-up first, then all that the student wrote.

        An answer is what its names stand for after the last cell that binds them: a function or class anywhere, a
        variable in the answer's own place if it is bound there. So copied, moved, retyped, split cells and lost
        metadata change nothing.
        """
        written = self._students_own(cells, notes)
        steps: list[Step] = [(source, []) for source, _ in written]
        stubs = {c.source.strip() for c in self.given if _is_answer(c)}
        ids = {cell.grade_id for cell in cells}
        for part, wanted in self.answers.items():
            found = part in ids
            for name, is_function in wanted.items():
                binds = [i for i, (source, _) in enumerate(written) if bound(source).keys() & {name, "*"}]
                if not is_function:
                    binds = [i for i in binds if written[i][1] == part] or binds
                binds = [i for i in binds if written[i][0].strip() not in stubs] or binds
                for i in binds:
                    steps[i][1].append((part, name, is_function))
                found = found or bool(binds)
            if not found:
                notes.append(f"no cell with the answer {part} ({', '.join(wanted)}) was found")
        return [(source, []) for source in self.set_up] + steps

    def _students_own(self, cells: list[Cell], notes: list[str]) -> list[tuple[str, str]]:
        """Sources, each with the answer in whose place it stands. Locked cells are ours, whatever became of them."""
        locked = [c for c in [*self.given, *self.cells] if c.metadata.nbgrader.locked]
        ours, texts = {c.metadata.nbgrader.grade_id for c in locked}, {c.source.strip() for c in locked}
        written, place = [], ""
        for cell in (cell for cell in cells if cell.source.strip()):
            if cell.grade_id in ours or cell.source.strip() in texts:
                place = ""
                if cell.kind == "code" and cell.source.strip() not in texts:
                    notes.append(f"the locked cell {cell.grade_id} was changed; the change does not count")
            elif cell.kind == "code":
                place = cell.grade_id if cell.grade_id in self.answers else place
                written.append((cell.source, place))
        return written

    def written(self, part: Part, cells: list[Cell]) -> None:
        """Finds the text of a written answer: by its id, else behind the question."""
        place = next(i for i, c in enumerate(self.given) if c.metadata.nbgrader.grade_id == part.name)
        stub, question = self.given[place].source.strip(), self.given[place - 1].source.strip()
        texts = [cell.source.strip() for cell in cells if cell.grade_id == part.name]
        if not texts:
            pairs = pairwise(cells)
            texts = [b.source.strip() for a, b in pairs if a.source.strip() == question and b.kind == "markdown"]
        part.written = next((text for text in reversed(texts) if text not in ("", stub)), "")
        if not part.written:
            part.score, part.says = 0.0, "nothing is written here"

    def of_another_seed(self, cells: list[Cell]) -> list[str]:
        """Notes on locked cells, and on published solutions, with the constants of a class made with another seed."""

        def bare(source: str) -> str:
            return self.drawn.sub("_", source)

        ours = {c.source.strip() for c in [*self.given, *self.cells]}
        like_ours, theirs = {bare(text) for text in ours}, [cell.source.strip() for cell in cells]
        others, notes = sum(text not in ours and bare(text) in like_ours for text in theirs), []
        if others:
            notes.append(f"PLEASE LOOK: {others} locked cells are of another SEED: was the class made anew since?")
        code = [cell.source for cell in cells if cell.kind == "code"]
        exact, alike = {_layout_free(text) for text in code}, {_layout_free(bare(text)) for text in code}
        copied = [part for part, text in self.solutions.items() if _layout_free(bare(text)) in alike]
        adapted = [part for part in copied if _layout_free(self.solutions[part]) in exact]
        if copied != adapted and len(copied) >= min(3, len(self.answers)):
            notes.append(f"PLEASE LOOK: published solutions with the constants of another SEED: {', '.join(copied)}")
        return notes


@lru_cache(512)
def parsed(source: str) -> ast.Module:
    """A cell's code; a magic, such as ``%%time``, is left out, what stands below it counts. Empty: it is not Python."""
    for text in (source, LINE_MAGIC.sub(r"\1pass", CELL_MAGIC.sub("", source))):
        with suppress(SyntaxError, ValueError, RecursionError, MemoryError), catch_warnings():
            simplefilter("ignore")
            return ast.parse(text)
    return ast.Module([], [])


def bound(source: str) -> dict[str, str]:
    """The names that a cell's top level binds, and by what: "def" (or class), "=", "import"; ``*``: it imports all."""
    names: dict[str, str] = {}
    for node in parsed(source).body:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                names[node.name] = "def"
            case ast.Import() | ast.ImportFrom():
                names |= {(alias.asname or alias.name).split(".")[0]: "import" for alias in node.names}
            case ast.Assign() | ast.AnnAssign() | ast.AugAssign():
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                assigned = [n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)]
                names = dict.fromkeys(assigned, "=") | names
    return names


def answer_names(source: str) -> dict[str, bool]:
    """What a solution defines, and whether it is a function or class (else a variable)."""
    return {name: how == "def" for name, how in sorted(bound(source).items()) if how != "import"}


def _layout_free(source: str) -> str:
    """The code without comments and layout; where constants were taken out it may be no Python."""
    tree, lines = parsed(source), (line.strip() for line in source.splitlines())
    return ast.dump(tree) if tree.body else "\n".join(line for line in lines if line and not line.startswith("#"))


def _is_answer(cell: NotebookNode) -> bool:
    return cell.cell_type == "code" and cell.metadata.nbgrader.solution
