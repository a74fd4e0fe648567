"""Who may import whom: the contracts of pyproject.toml, and no circle of files."""

import re
import shutil
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp
import pytest

from tests.lib.small import rows

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = "nmt_lib", "nmt_book"


def test_no_files_import_each_other_in_a_circle() -> None:
    graph = grimp.build_graph(*PACKAGES, cache_dir=None)
    imported = {
        module: graph.find_modules_directly_imported_by(module)
        for module in graph.modules
    }
    try:
        TopologicalSorter(imported).prepare()
    except CycleError as error:
        pytest.fail(f"a circle: {' → '.join(error.args[1])}")


def test_every_chapter_is_under_the_contract() -> None:
    folders = {path.parent.name for path in ROOT.glob("nmt_book/*[0-9]/__init__.py")}
    listed = set(
        re.findall(r'"nmt_book\.(\w+)"', (ROOT / "pyproject.toml").read_text())
    )
    assert folders == {name for name in listed if name[-1].isdigit()}


FORBIDDEN = """
nmt_lib/cli.py | import nmt_book.notebook | The library knows nothing
nmt_lib/data/batches.py | from ..training import loss | Inside the library
nmt_lib/model/layers.py | from ..data import batches | Of the data
nmt_book/chapter05/check.py | from ..chapter04 import check | Chapters' folders
"""


def test_a_forbidden_import_breaks_its_contract(tmp_path: Path) -> None:
    for package in PACKAGES:
        ignore = shutil.ignore_patterns("*.[!p]*", "__pycache__")
        shutil.copytree(ROOT / package, tmp_path / package, ignore=ignore)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    planted = rows(FORBIDDEN)
    for file, line, _ in planted:
        with (tmp_path / file).open("a", encoding="utf-8") as opened:
            opened.write(f"\n{line}\n")
    lint = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]
    said = subprocess.run(lint, cwd=tmp_path, capture_output=True, text=True).stdout
    broken = [text for text in said.splitlines() if text.endswith("BROKEN")]
    for (*_, contract), text in zip(planted, broken, strict=True):
        assert text.startswith(contract), said
