"""The wheel has all files, and the set-up cells install it where it is missing."""

from __future__ import annotations

import json
import os
import re
import shutil
import site
import subprocess
import sys
import textwrap
import zipfile
from importlib.metadata import metadata
from pathlib import Path

import nbformat
import pytest
from ruamel.yaml import YAML

from tools import links

ROOT = links.ROOT
PACKAGES = sorted(path.parent.name for path in ROOT.glob("nmt_*/__init__.py"))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    project = folder / "project"
    for name in PACKAGES:
        ignore = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, project / name, ignore=ignore)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, project)
    pip = [sys.executable, "-m", "pip", "-q", "--disable-pip-version-check", "wheel"]
    options = ["--no-deps", "--no-build-isolation", "-w", str(folder), str(project)]
    subprocess.run([*pip, *options], check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built


def test_every_file_of_the_packages_is_in_it(wheel: Path) -> None:
    files = {
        file.relative_to(ROOT).as_posix()
        for name in PACKAGES
        for file in (ROOT / name).rglob("*.*")
        if file.is_file() and "__pycache__" not in file.parts
    }
    assert "nmt_book/web/translator.js" in files
    assert sorted(files - {*zipfile.ZipFile(wheel).namelist()}) == []


def test_conda_make_ci_and_readme_ask_for_the_same() -> None:
    names = "environment.yml", ".github/workflows/test.yml", "Makefile", "README.md"
    conda, ci, makefile, readme = ((ROOT / n).read_text("utf-8") for n in names)
    python, _, rest = YAML(typ="safe").load(conda)["dependencies"]
    assert rest == {"pip": ["-c constraints.txt", "-e .[notebooks,lab]"]}
    assert "-e '.[notebooks,lab]'" in makefile and '".[notebooks,lab]"' in readme
    first, above = (int(minor) for minor in re.findall(r"3\.(\d+)", python))
    assert metadata("nmt-lib")["Requires-Python"] == f">=3.{first}"
    assert f"(3, {first}) <= sys.version_info < (3, {above})" in makefile
    assert f"Python 3.{first} to 3.{above - 1}" in makefile
    assert f"Python 3.{first} to 3.{above - 1}" in readme
    matrix = YAML(typ="safe").load(ci)["jobs"]["test"]["strategy"]["matrix"]["python"]
    assert (matrix[0], matrix[-1]) == (f"3.{first}", f"3.{above - 1}")


def test_each_command_of_the_guides_is_there() -> None:
    targets = re.findall(r"(?m)^([\w-]+):", (ROOT / "Makefile").read_text("utf-8"))
    for path in (*ROOT.glob("*.md"), links.NOTEBOOKS / "assignments/README.md"):
        commands = re.findall(r"`make ([a-z-]+)", path.read_text("utf-8"))
        assert {*commands} <= {*targets}, path


# What runs on Colab: the first cell installs the library, and nothing else changes.
DRIVER = """
    import json, os, site, sys
    import google.colab  # a stand-in
    from IPython.core.interactiveshell import InteractiveShell

    packages, cells = site.getsitepackages()[0], json.loads(sys.stdin.read())
    before = {p: os.stat(os.path.join(packages, p)) for p in os.listdir(packages)}
    for name, source in cells.items():
        shell = InteractiveShell()
        shell.run_cell('config = "tiny"; overrides = ""').raise_error()
        shell.run_cell(source).raise_error()
        import nmt_lib
        assert nmt_lib.__file__.startswith(packages), nmt_lib.__file__
        names = shell.user_ns
        assert "check" in names if name[0] == "A" else names["nmt"] is nmt_lib
    new = sorted(set(os.listdir(packages)) - set(before))
    version = nmt_lib.__version__
    assert new == ["nmt_book", "nmt_lib", f"nmt_lib-{version}.dist-info"], new
    for package in ("torch", "numpy"):
        path = os.path.join(packages, package)
        assert os.path.islink(path), f"{package} was replaced"
        assert os.stat(path).st_mtime_ns == before[package].st_mtime_ns
    print(nmt_lib.config.config_names()[0], nmt_lib.Translator.pretrained()[0])
    translator = nmt_lib.Translator.load("multi30k-en-de")
    from importlib import import_module
    page = import_module("nmt_book.pictures.explore").live_script()
    assert "function makeHeads" in page
    assert 'class="model"' in import_module("nmt_book").explore(translator).data
    print(translator("Two dogs.").text)
    assert os.listdir() == []
"""


def test_set_up_cells_on_colab(
    wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In an environment with everything but the library, the set-up cell installs it.

    The cell is the same in all notebooks; those of the assignments also import their
    public checks. What was installed works in an empty folder.
    """
    bare = tmp_path / "bare"
    create = [sys.executable, "-m", "venv", "--without-pip", str(bare)]
    subprocess.run(create, check=True)
    python, (packages,) = bare / "bin/python", (bare / "lib").glob("*/site-packages")
    for file in Path(site.getsitepackages()[0]).iterdir():
        if not file.name.startswith(("nmt_", "__editable__")):
            (packages / file.name).symlink_to(file)
    version = links.address()[1]
    monkeypatch.setattr(links, "address", lambda: ("ada/nmt", version))
    address = f"git+https://github.com/ada/nmt@v{version}"
    cells = {}
    for path in (*links.chapters(), *links.assignments()):
        notebook = nbformat.read(path, as_version=4)
        links.stamp(notebook, path)
        number = 1 if path.parent.name == "source" else 2
        cells[path.name] = notebook.cells[number].source
    heads = {source.partition("\n\nimport")[0].strip() for source in cells.values()}
    assert len(heads) == 1 and heads.pop().count(address) == 1
    chosen = [path.name for path in (links.chapters()[0], *links.assignments())]
    cells = {name: cells[name].replace(address, wheel.as_uri()) for name in chosen}
    colab = tmp_path / "stand-in/google/colab/__init__.py"
    for folder in (tmp_path / "empty", colab.parent):
        folder.mkdir(parents=True)
    colab.touch()
    settings = {
        "PYTHONPATH": str(tmp_path / "stand-in"),
        "HOME": str(tmp_path),
        "PIP_NO_INDEX": "1",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    }
    run = subprocess.run(
        [python, "-c", textwrap.dedent(DRIVER)],
        input=json.dumps(cells),
        env={**os.environ, **settings},
        cwd=tmp_path / "empty",
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout[-2000:] + run.stderr[-3000:]
    *_, names, text = run.stdout.splitlines()
    assert names == "multi30k multi30k-de-en" and text.endswith(".")
