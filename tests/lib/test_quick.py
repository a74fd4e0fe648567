"""``make quick`` runs the tests of what has changed, whatever it is."""

from subprocess import CompletedProcess
from typing import Any

import pytest

from tests.lib.small import rows
from tools import quick

TEXTS = {
    "nmt_lib/__init__.pyi": "from .model.masks import causal_mask as causal_mask",
    "nmt_lib/errors.py": "",
    "nmt_lib/model/__init__.py": "",
    "nmt_lib/model/masks.py": "from ..errors import InputError",
    "nmt_book/chapter03/check.py": "import nmt_lib as nmt",
    "nmt_book/chapter03/lab.py": "from nmt_lib.model import masks",
    "nmt_book/web/kit.js": "",
    "nmt_book/web/train.js": "",
    "nmt_book/web/viewer.js": 'import { button } from "./kit.js"',
    "nmt_book/course/grade.py": "from . import marking",
    "nmt_book/course/marking.py": "",
    "nmt_book/pictures/grids.py": "",
    "benchmarks/decoding.py": "",
    "tools/pages.py": "",
    "notebooks/03_masks.ipynb": "from nmt_book.chapter03 import check, lab",
    "tests/lib/small.py": "from nmt_lib.errors import InputError",
    "tests/lib/test_masks.py": "import nmt_lib as nmt\nnmt.causal_mask(3)",
    "tests/lib/test_cli.py": 'main("train")\nfrom tests.lib import small',
    "tests/book/test_exercises.py": "",
    "tests/book/test_pictures.py": (
        "from nmt_book.pictures import (\n    charts,\n    grids as g,\n)"
    ),
    "tests/book/test_benchmarks.py": "",
    "tests/course/test_grade.py": "from nmt_book.course import grade",
    "tests/notebooks/claims/03_masks.py": "",
    "tests/notebooks/test_chapters.py": "from tools import pages",
    "tests/site/test_viewer.py": "await import(`${folder}/viewer.js`)",
    "tests/site/test_train.py": 'load("train")',
}


TESTS = """
nmt_lib/model/masks.py | lib/test_masks.py
nmt_lib/errors.py | lib/test_masks.py | lib/test_cli.py
nmt_book/chapter03/check.py | book/test_exercises.py -k chapter03
nmt_book/chapter03/lab.py | book/test_exercises.py -k chapter03
nmt_book/web/kit.js | site/test_viewer.py
nmt_book/web/train.js | site/test_train.py
nmt_book/course/marking.py | course/test_grade.py
nmt_book/pictures/grids.py | book/test_pictures.py
benchmarks/decoding.py | book/test_benchmarks.py
tools/pages.py | notebooks/test_chapters.py
notebooks/03_masks.ipynb | notebooks/test_chapters.py -k 03_masks
tests/notebooks/claims/03_masks.py
tests/lib/small.py | lib/test_cli.py
tests/lib/test_cli.py | lib/test_cli.py
figures/new.py
"""


@pytest.mark.parametrize("line", rows(TESTS), ids=lambda line: line[0])
def test_the_tests_of(line: list[str]) -> None:
    path, *tests = line
    found = quick.tests_of([path], TEXTS)
    pages = [test for test in found if test.endswith(".ipynb")]
    assert pages == ["notebooks/03_masks.ipynb"] * ("03" in path)
    assert {*found} - {*pages} == {f"tests/{name}" for name in tests}


def test_with_many_tests_the_one_of_that_name_is_enough() -> None:
    many = {
        f"tests/lib/test_{i}.py": "from nmt_lib.model import masks" for i in "abcdef"
    }
    found = quick.tests_of(["nmt_lib/model/masks.py"], TEXTS | many)
    assert [*found] == ["tests/lib/test_masks.py"]


def test_each_source_has_a_test() -> None:
    """None that a reader of this project may change is left out."""
    files = [
        path.relative_to(quick.ROOT).as_posix()
        for room in quick.ROOT.glob("[nt]*[a-z]/")
        for path in room.rglob("*.*")
        if "__pycache__" not in path.parts
    ]
    texts = {path: quick.read(path) for path in files}
    sources = [
        path
        for path in files
        if path.startswith("nmt_") and path.endswith((".py", ".js", ".html", ".css"))
    ]
    assert len(sources) > 100
    tests = quick.tests_of(sources, texts)
    tested = {path for paths in tests.values() for path in paths}
    assert sorted({*sources} - tested) == []


def test_pytest_gets_files_parts_and_notebooks(monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[list[str]] = []

    def run(line: list[str], **_: Any) -> Any:
        lines.append(line[4:])
        return CompletedProcess(line, int("-k" in line))

    paths = ["nmt_lib/cli.py", "tests/lib/test_quick.py", "nmt_lib/tests_gone.py"]
    notebook = "notebooks/03_masks.ipynb"
    monkeypatch.setattr(quick, "changed", lambda: [*paths, notebook])
    monkeypatch.setattr(quick.subprocess, "run", run)
    listed = [*paths, notebook, "tests/lib/test_cli.py"]
    listed += ["tests/notebooks/test_chapters.py"]
    monkeypatch.setattr(quick, "git", lambda _: listed)
    assert quick.main() == 1
    files, part, page = lines
    assert "tests/lib/test_quick.py" in files and "tests/lib/test_cli.py" in files
    assert part == ["tests/notebooks/test_chapters.py", "-k", "03_masks"]
    assert page[-1] == notebook and "--nbval" in page
