"""Checks what chapters claim of their models: ``pytest -p tests.notebooks.chapters``.

Under nbval, each ``test_…(chapter)`` of ``claims/<chapter>.py`` runs in the chapter's
kernel after its last cell; ``chapter`` holds the names that the cells have defined.
Those called ``test_real_…`` need ``NMT_DATA``. Then each stub's check is asked about
the answers in ``answers/<chapter>.py``, and about the answer that the chapter prints.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import runpy
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from nbformat.v4 import new_code_cell
from nbval.plugin import IPyNbCell, IPyNbFile

# nbval reads a cell's messages when it has run: those of a long progress bar get lost.
os.environ.setdefault("TQDM_MININTERVAL", "3600")

HERE = Path(__file__).resolve().parent
CLAIMS, ANSWERS = HERE / "claims", HERE / "answers"
STUB = "# replace this line"
CALL = """\
import runpy, types
runpy.run_path({path!r})[{name!r}](types.SimpleNamespace(**globals()))"""

JUDGE = """\
import runpy
runpy.run_path({path!r})["judge"](globals(), {check!r}, {answers!r})"""


class Chapter(IPyNbFile):
    def collect(self) -> Iterator[IPyNbCell]:
        cells = list(super().collect())
        yield from cells
        path = CLAIMS / f"{self.path.stem}.py"
        source = path.read_text(encoding="utf-8") if path.exists() else ""
        for name in re.findall(r"(?m)^def (test_\w+)", source):
            claim = self.claim(name, CALL.format(path=str(path), name=name), cells)
            if name.startswith("test_real_") and "NMT_DATA" not in os.environ:
                claim.add_marker(pytest.mark.skip("NMT_DATA is not set"))
            yield claim
        for name, check, answers in stubs(self.nb.cells, self.path.stem):
            call = JUDGE.format(path=__file__, check=check, answers=answers)
            yield self.claim(f"answers to {name}", call, cells)

    def claim(self, name: str, source: str, cells: list[IPyNbCell]) -> IPyNbCell:
        return IPyNbCell.from_parent(
            self,
            name=name,
            cell_num=len(cells),
            cell=new_code_cell(source),
            options=defaultdict(bool),
        )


def stubs(cells: list[Any], chapter: str) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Each stub's name, the source of its check (the next code cell), and its answers.

    ``ANSWERS[name]`` of ``answers/<chapter>.py`` maps the source of an answer to what
    the check must say: a word of its message, ``right`` first for a right one.
    """
    path = ANSWERS / f"{chapter}.py"
    table = runpy.run_path(str(path))["ANSWERS"] if path.exists() else {}
    for i, cell in enumerate(cells):
        if cell.cell_type == "code" and STUB in cell.source:
            found = re.search(r"(?m)^(?:def|class) (\w+)", cell.source)
            name = found[1] if found else f"the stub in cell {i}"
            check = next(c.source for c in cells[i + 1 :] if c.cell_type == "code")
            if check.startswith("check."):  # an Exercise: tests/lib/test_exercises.py
                continue
            printed = (
                re.search(r"(?s)```python\n(.*?)```", c.source) for c in cells[i:]
            )
            answer = next(block[1] for block in printed if block)
            own = {cell.source: "not written yet", answer: "right"}
            yield name, check, {**own, **table.pop(name, {})}
    assert not table, f"{path.name} has answers without a stub: {', '.join(table)}"


def judge(names: dict[str, Any], check: str, answers: dict[str, str]) -> None:
    """Runs a check on each answer, in a copy of the chapter's names."""
    wrong = []
    for answer, wanted in answers.items():
        space, printed = dict(names), io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(answer, space)
            exec(check, space)
        said = printed.getvalue().strip()
        accepted = said.startswith("right") or "\nright" in said
        if wanted not in said or accepted != wanted.startswith("right"):
            wrong.append(f"wanted {wanted!r}, but it says {said!r} to\n{answer}")
    assert not wrong, "\n\n".join(wrong)


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(parent: Any) -> Any:
    return [
        Chapter.from_parent(parent, path=file.path) if type(file) is IPyNbFile else file
        for file in (yield)
    ]
