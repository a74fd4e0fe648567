"""The cells of a notebook that was handed in, and the names that their code binds. Nothing is run."""

from __future__ import annotations

import ast
import json
import re
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any
from warnings import catch_warnings, simplefilter

MAX_FILE = 100 << 20
CELL_MAGIC = re.compile(r"\A\s*%%[^\n]*\n")
LINE_MAGIC = re.compile(r"^([ \t]*)(?:[%!?]|[\w., ]+= *[%!]|[\w.]+\?).*$", re.MULTILINE)


class Unreadable(Exception):
    """The file is no notebook."""


@dataclass(frozen=True)
class Cell:
    kind: str
    source: str
    grade_id: str = ""


def read(path: Path) -> list[Cell]:
    """The cells of a notebook, of any version and in any state; outputs and other metadata are dropped.

    Raises:
        Unreadable: empty, too large, or no notebook.
    """
    if path.is_symlink() or not path.is_file():
        raise Unreadable("this is a link or a folder, no file")
    size = path.stat().st_size
    if not 0 < size <= MAX_FILE:
        raise Unreadable(f"the file has {size >> 20} MB" if size else "the file is empty")
    try:
        data = json.loads(path.read_bytes())
    except OSError as error:
        raise Unreadable(f"the file cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"the file is no notebook ({error})"[:200]) from None
    except MemoryError:
        raise Unreadable("the file holds more than fits into memory") from None
    cells = _inside(data, "cells")
    if cells is None:
        cells = _inside(data, "worksheets", 0, "cells")  # format 3
    if not isinstance(cells, list):
        raise Unreadable("the file has no cells: it is no notebook")
    return [_cell(cell) for cell in cells if isinstance(cell, dict)]


def _cell(cell: dict[str, Any]) -> Cell:
    source = cell.get("source", cell.get("input", ""))
    text = "".join(map(str, source)) if isinstance(source, list) else str(source)
    grade_id = _inside(cell, "metadata", "nbgrader", "grade_id")
    return Cell(str(cell.get("cell_type")), text, grade_id if isinstance(grade_id, str) else "")


def _inside(thing: Any, *keys: str | int) -> Any:
    """Step by step into JSON; None where it is built in another way."""
    with suppress(KeyError, IndexError, TypeError):
        for key in keys:
            thing = thing[key]
        return thing


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
