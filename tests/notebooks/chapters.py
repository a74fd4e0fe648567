"""Checks what chapters claim of their models: ``pytest -p tests.notebooks.chapters``.

Under nbval, each ``test_…(chapter)`` of ``claims/<chapter>.py`` runs in the chapter's
kernel after its last cell; ``chapter`` holds the names that the cells have defined.
Those called ``test_real_…`` need ``NMT_DATA``. The checks of exercises are tested
without a kernel, in ``tests/lib/test_exercises.py``. A notebook that needs a package of
an extra is skipped where that is not installed.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from nbformat.v4 import new_code_cell
from nbval.plugin import IPyNbCell, IPyNbFile

from tools import links

# nbval reads a cell's messages when it has run: those of a long progress bar get lost.
os.environ.setdefault("TQDM_MININTERVAL", "3600")

CLAIMS = Path(__file__).resolve().parent / "claims"
CALL = """\
import runpy, types
runpy.run_path({path!r})[{name!r}](types.SimpleNamespace(**globals()))"""


class Chapter(IPyNbFile):
    def collect(self) -> Iterator[IPyNbCell]:
        if package := links.lacking(self.path):
            pytest.skip(f"{package} is not installed")
        cells = list(super().collect())
        yield from cells
        path = CLAIMS / f"{self.path.stem}.py"
        source = path.read_text(encoding="utf-8") if path.exists() else ""
        for name in re.findall(r"(?m)^def (test_\w+)", source):
            claim = self.claim(name, CALL.format(path=str(path), name=name), cells)
            if name.startswith("test_real_") and "NMT_DATA" not in os.environ:
                claim.add_marker(pytest.mark.skip("NMT_DATA is not set"))
            yield claim

    def claim(self, name: str, source: str, cells: list[IPyNbCell]) -> IPyNbCell:
        return IPyNbCell.from_parent(
            self,
            name=name,
            cell_num=len(cells),
            cell=new_code_cell(source),
            options=defaultdict(bool),
        )


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(parent: Any) -> Any:
    return [
        Chapter.from_parent(parent, path=file.path) if type(file) is IPyNbFile else file
        for file in (yield)
    ]
