"""Checks what chapters claim of their models: ``pytest -p tests.notebooks.chapters``.

Under nbval, each ``test_…(chapter)`` of ``claims/<chapter>.py`` runs in the chapter's
kernel after its last cell; ``chapter`` holds the names that the cells have defined,
and ``TYPED``, 200 short sentences as readers type them, none of them the grammar's.
Those called ``test_real_…`` need ``NMT_DATA``. The checks of exercises are tested
without a kernel, in ``tests/book/test_exercises.py``. A notebook that needs a package
of an extra is skipped where that is not installed.

With ``NMT_SEED=n`` (``make seeds``) a chapter draws other random numbers: its models
are trained with ``train.seed=n``, and ``torch.manual_seed(k)`` gets ``k + 1000 n``.
Every claim must hold all the same, unless it is called ``test_in_our_run_…``: then the
sentence of the chapter says so, too. On another kind of processor than that of the
stored run (``chapter.our_cpu`` is False), no model is one of the page's, either.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import nbval.kernel
import pytest
import torch
from nbformat.v4 import new_code_cell
from nbval.plugin import IPyNbCell, IPyNbFile

from tools import answers, links

# No progress bar: it would be an output of a cell whose run is not there yet, and of no
# other; and nbval, which reads messages when a cell has run, loses those of a long one.
os.environ["TQDM_DISABLE"] = "1"
# Kernels that two processes start at the same moment may get the same ports, of which
# one dies. Sockets in a folder of this process cannot be taken by another.
SOCKETS = tempfile.TemporaryDirectory(prefix="nmt-")
nbval.kernel.KernelManager = partial(
    nbval.kernel.KernelManager, transport="ipc", ip=f"{SOCKETS.name}/kernel"
)

SEED = int(os.environ.get("NMT_SEED", "0"))
# Another kind of processor rounds otherwise, so it trains other weights.
OURS = torch.backends.cpu.get_cpu_capability() == "AVX512"
RESEED = f"""\
import torch as _torch
_seed = _torch.manual_seed
_torch.manual_seed = lambda seed: _seed(seed + {1000 * SEED})
"""
CLAIMS = Path(__file__).resolve().parent / "claims"
CALL = """\
import pathlib, runpy, types
TYPED = pathlib.Path({path!r}).parents[1] / "typed.txt"
TYPED = TYPED.read_text(encoding="utf-8").splitlines()
runpy.run_path({path!r})[{name!r}](
    types.SimpleNamespace(**globals(), our_cpu={ours}))"""


class Chapter(IPyNbFile):
    def collect(self) -> Iterator[IPyNbCell]:
        if package := links.lacking(self.path):
            pytest.skip(f"{package} is not installed")
        with mock.patch("nbval.plugin.nbformat", answers):  # its `read`
            cells = list(super().collect())
        if SEED:
            reseed([cell.cell for cell in cells])
        for cell in cells:
            yield cell
            _, call, answer = cell.cell.source.partition("book.compare_guess(")
            if call:  # as somebody runs it who has guessed
                source = f"my_guess = 0\n{call}{answer}"
                yield self.claim("test_a_guess_is_answered", source, cells)
        path = CLAIMS / f"{self.path.stem}.py"
        source = path.read_text(encoding="utf-8") if path.exists() else ""
        for name in re.findall(r"(?m)^def (test_\w+)", source):
            if (SEED or not OURS) and name.startswith("test_in_our_run_"):
                continue
            call = CALL.format(path=str(path), name=name, ours=OURS)
            claim = self.claim(name, call, cells)
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


def reseed(cells: list[Any]) -> None:
    """Changes the code cells of a chapter, as ``NMT_SEED`` says."""
    for cell in cells:
        cell.source = cell.source.replace(
            'overrides = ""', f'overrides = "train.seed={SEED}"'
        )
    cells[0].source = RESEED + cells[0].source


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(parent: Any) -> Any:
    return [
        Chapter.from_parent(parent, path=file.path) if type(file) is IPyNbFile else file
        for file in (yield)
    ]
