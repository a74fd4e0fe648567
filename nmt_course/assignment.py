"""One assignment, as marking needs it: its tests, its answers' names, and the cells of a submission to run for them."""

from __future__ import annotations

from itertools import pairwise
from types import ModuleType
from typing import Any

from nbformat import NotebookNode

import nmt_lib

from .cells import Cell, answer_names, bound, parsed
from .course import drawn_constants
from .marks import Part

MAX_CELL = 1 << 20
Step = tuple[str, list[tuple[str, str, bool]]]  # a cell's source; part, name, is it a function: what to take after it


class Assignment:
    """What marking needs of a source notebook, and of its release."""

    def __init__(self, source: NotebookNode, released: NotebookNode) -> None:
        self.source, self.released = source, released
        self.blocked = list(source.metadata.get("nmt", {}).get("blocked", []))
        self.drawn = drawn_constants(source)
        # Public names that are to be written. Looking at them imports the library: here, once, not in each process.
        homes = {name: getattr(getattr(nmt_lib, name), "__module__", "") for name in dir(nmt_lib)}
        self.to_write = {name for name, home in homes.items() if home in self.blocked}
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
        for cell in cells:
            if cell.grade_id in ours or cell.source.strip() in texts:
                place = ""
                if cell.kind == "code" and cell.source.strip() and cell.source.strip() not in texts:
                    notes.append(f"the locked cell {cell.grade_id} was changed; the change does not count")
            elif cell.kind == "code" and len(cell.source) > MAX_CELL:
                notes.append(f"a cell of {len(cell.source) >> 10} KB was left out")
            elif cell.kind == "code" and cell.source.strip():
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


def _is_answer(cell: NotebookNode) -> bool:
    return cell.cell_type == "code" and cell.metadata.nbgrader.solution
