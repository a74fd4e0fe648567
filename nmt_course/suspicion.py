"""Notes that ask a teacher to look: constants of another class, names of the library. Hints, not verdicts."""

from __future__ import annotations

import ast
from contextlib import suppress

from .assignment import MAX_CELL, Assignment
from .cells import Cell, parsed


def of_another_seed(assignment: Assignment, cells: list[Cell]) -> list[str]:
    """The notebook, or its answers, have the constants of a class made with another seed."""

    def bare(source: str) -> str:
        return assignment.drawn.sub("_", source)

    notes = []
    here = {c.source.strip() for c in [*assignment.given, *assignment.cells]}
    given = {bare(text) for text in here}
    others = sum(c.source.strip() not in here and bare(c.source.strip()) in given for c in cells)
    if others:
        notes.append(f"PLEASE LOOK: {others} locked cells are of another SEED: was the class made anew since?")
    theirs = _code(cells)
    exact, without = {_layout_free(text) for text in theirs}, {_layout_free(bare(text)) for text in theirs}
    same = [part for part, text in assignment.solutions.items() if _layout_free(text) in exact]
    alike = [part for part, text in assignment.solutions.items() if _layout_free(bare(text)) in without]
    other = [part for part in alike if part not in same]
    if other and len(same + other) >= min(3, len(assignment.answers)):
        parts = ", ".join([*other, *same])
        notes.append(f"PLEASE LOOK: published solutions with the constants of another SEED: {parts}")
    return notes


def names_used(assignment: Assignment, cells: list[Cell]) -> list[str]:
    """The student's code mentions names of the library that this assignment asks to write."""
    blocked = assignment.blocked
    names = assignment.to_write | _last(blocked, "")
    names -= {name for wanted in assignment.answers.values() for name in wanted}
    files = _last(blocked, "nmt_lib.")  # but model.encoder is fine
    torchs = _last(blocked, "torch.")  # nn.Embedding is not ours
    found: set[str] = set()
    for source in _code(cells):
        with suppress(RecursionError):
            for node in ast.walk(parsed(source)):
                if isinstance(node, (ast.Import, ast.ImportFrom)):
                    paths = [*(alias.name for alias in node.names), getattr(node, "module", None) or ""]
                    found |= {word for path in paths for word in path.split(".")} & names
                elif isinstance(node, ast.Attribute):
                    owner = ast.unparse(node.value)
                    wanted = torchs if owner in ("self", "nn", "torch.nn") else names
                    found |= {node.attr} & (wanted if owner in ("nmt", "nmt_lib") else wanted - files)
    said = f"PLEASE LOOK: uses {', '.join(sorted(found))} of the library, which is to be written"
    return [said] if found else []


def _last(blocked: list[str], start: str) -> set[str]:
    return {name.rpartition(".")[2] for name in blocked if name.startswith(start)}


def _code(cells: list[Cell]) -> list[str]:
    return [cell.source for cell in cells if cell.kind == "code" and len(cell.source) < MAX_CELL]


def _layout_free(source: str) -> str:
    """The code without comments and layout; where constants were taken out it may be no Python."""
    tree, lines = parsed(source), (line.strip() for line in source.splitlines())
    return ast.dump(tree) if tree.body else "\n".join(line for line in lines if line and not line.startswith("#"))
