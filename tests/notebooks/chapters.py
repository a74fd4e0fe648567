"""How ``make chapters`` runs notebooks under nbval: ``pytest -p tests.chapters --nbval …``.

On Linux, their kernels are copies of a process that has loaded what chapters load: torch, spaCy's French and others
take ten seconds, each time. And after its last cell, a chapter answers for what its text says of models that it has
trained: ``tests/claims`` holds a file for it, whose functions get what its cells have defined.
"""

from __future__ import annotations

import ast
import os
import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import nullcontext
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from nbformat.v4 import new_code_cell
from nbval.plugin import IPyNbCell, IPyNbFile

CLAIMS = Path(__file__).resolve().parent / "claims"
ASK = "import runpy, types\nrunpy.run_path({path!r})[{name!r}](types.SimpleNamespace(**globals()))"
LINUX = sys.platform == "linux"
COPIES: Any = get_context("forkserver" if LINUX else "spawn")
if LINUX:
    COPIES.set_forkserver_preload(
        [
            "accelerate",
            "datasets",
            "ipykernel.kernelapp",
            "sacrebleu",
            "spacy.lang.de",
            "spacy.lang.en",
            "spacy.lang.fr",
            "torch._dynamo",
        ]
    )


class Chapter(IPyNbFile):
    def setup(self) -> None:
        place = "jupyter_client.provisioning.local_provisioner.launch_kernel"
        with mock.patch(place, copy_kernel) if LINUX else nullcontext():
            super().setup()

    def collect(self) -> Iterator[IPyNbCell]:
        cells = list(super().collect())
        yield from cells
        path = CLAIMS / f"{self.path.stem}.py"
        parts = (
            ast.parse(path.read_text(encoding="utf-8")).body if path.exists() else []
        )
        names = [
            part.name
            for part in parts
            if isinstance(part, ast.FunctionDef) and part.name.startswith("test_")
        ]
        for number, name in enumerate(names, len(cells)):
            cell, ignore = (
                new_code_cell(ASK.format(path=str(path), name=name)),
                defaultdict(bool),
            )
            yield IPyNbCell.from_parent(
                self, name=name, cell_num=number, cell=cell, options=ignore
            )


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(parent: Any) -> Any:
    found = yield
    return [
        Chapter.from_parent(parent, path=each.path) if type(each) is IPyNbFile else each
        for each in found
    ]


def copy_kernel(
    command: list[str], env: dict[str, str], cwd: str, **others: Any
) -> Any:
    """A kernel, as jupyter_client wants it: a process with some methods of a ``Popen``."""
    ready, theirs = COPIES.Pipe(duplex=False)
    process = COPIES.Process(
        target=be_kernel, args=(theirs, command[command.index("-f") + 1], env, cwd)
    )
    process.start()
    theirs.close()  # so that recv ends where the copy has died
    ready.recv()  # it has left the group of this process, so that signals to it are no signals to us
    process.poll, process.wait = lambda: process.exitcode, process.join
    process.send_signal = lambda number: os.kill(process.pid, number)
    process.stdin = process.stdout = process.stderr = None
    return process


def be_kernel(
    ready: Connection, connection_file: str, env: dict[str, str], cwd: str
) -> None:
    """In the copy."""
    from ipykernel.kernelapp import launch_new_instance

    os.setsid()
    ready.send("")
    os.environ.update(env, JPY_PARENT_PID=str(os.getppid()))  # without a parent it ends
    sys.path[:0] = [
        path for path in env.get("PYTHONPATH", "").split(os.pathsep) if path
    ]
    os.chdir(cwd)
    nothing = os.open(os.devnull, os.O_RDWR)
    for handle in (0, 1, 2):
        os.dup2(nothing, handle)
    launch_new_instance(["-f", connection_file])
