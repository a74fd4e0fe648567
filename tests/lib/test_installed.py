"""The wheel: all that is in the packages, installed by the set-up cells in an environment without the library."""

from __future__ import annotations

import json
import os
import shutil
import site
import subprocess
import sys
import textwrap
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = sorted(path.parent.name for path in ROOT.glob("nmt_*/__init__.py"))
CHAPTERS = sorted((ROOT / "notebooks").glob("[0-9]*.ipynb"))
ASSIGNMENTS = sorted((ROOT / "notebooks/assignments/source").glob("*.ipynb"))
sys.path.insert(0, str(ROOT / "notebooks"))
from tools import links


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = tmp_path_factory.mktemp("wheel") / "project"
    for package in PACKAGES:
        shutil.copytree(
            ROOT / package,
            project / package,
            ignore=shutil.ignore_patterns("__pycache__"),
        )
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, project)
    pip = [sys.executable, "-m", "pip", "-q", "--disable-pip-version-check"]
    build = [
        *pip,
        "wheel",
        "--no-deps",
        "--no-build-isolation",
        "-w",
        str(project.parent),
        str(project),
    ]
    subprocess.run(build, check=True, capture_output=True)
    (wheel,) = project.parent.glob("*.whl")
    return wheel


def test_every_file_of_the_packages_is_in_it(wheel: Path, tmp_path: Path) -> None:
    shutil.unpack_archive(wheel, tmp_path, "zip")
    assert (tmp_path / "nmt_lib" / "py.typed").is_file()
    ours = {
        file.relative_to(ROOT)
        for name in PACKAGES
        for file in (ROOT / name).rglob("*")
        if file.is_file()
    }
    theirs = {
        file.relative_to(tmp_path) for file in tmp_path.rglob("*") if file.is_file()
    }
    assert {file for file in ours - theirs if "__pycache__" not in file.parts} == set()


DRIVER = """
    import json, os, site, sys
    import google.colab  # a stand-in
    from IPython.core.interactiveshell import InteractiveShell
    packages, cells = site.getsitepackages()[0], json.loads(sys.stdin.read())
    before = {p: os.stat(os.path.join(packages, p)) for p in os.listdir(packages)}
    for name, source in cells.items():  # the first installs the library
        shell = InteractiveShell()
        shell.run_cell('config = "tiny"; overrides = ""').raise_error()
        shell.run_cell(source).raise_error()
        import nmt_lib
        assert nmt_lib.__file__.startswith(packages), nmt_lib.__file__
        assert "check" in shell.user_ns if name[0] == "A" else shell.user_ns["nmt"] is nmt_lib
    new = sorted(set(os.listdir(packages)) - set(before))
    assert new == ["nmt_course", "nmt_lib", f"nmt_lib-{nmt_lib.__version__}.dist-info"], new
    for package in ("torch", "numpy"):
        assert os.path.islink(os.path.join(packages, package)), f"{package} was replaced"
        assert os.stat(os.path.join(packages, package)).st_mtime_ns == before[package].st_mtime_ns
    print(nmt_lib.config_names()[0], nmt_lib.Translator.pretrained()[0])
    print(nmt_lib.Translator.load("multi30k-en-de")("Two dogs.").text)
    assert os.listdir() == []
    print("fine")
"""


def test_set_up_cells_on_colab(wheel: Path, tmp_path: Path) -> None:
    """In a bare environment that has everything but the library, the set-up cell installs it, and nothing else.
    It is the same everywhere; those of the assignments import their public checks, too. What was installed does its
    work, in a folder that holds nothing."""
    subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", tmp_path / "bare"], check=True
    )
    python = tmp_path / "bare/bin/python"
    (packages,) = (tmp_path / "bare/lib").glob("python*/site-packages")
    for there in Path(site.getsitepackages()[0]).iterdir():
        if not there.name.startswith(("nmt_", "__editable__")):
            (packages / there.name).symlink_to(there)
    assert (
        subprocess.run(
            [python, "-I", "-c", "import nmt_lib"], capture_output=True, cwd=tmp_path
        ).returncode
        == 1
    )

    repo, version = links.address()
    address = f"git+https://github.com/{repo}@v{version}"
    cells = {
        path.name: nbformat.read(path, as_version=4).cells[2].source
        for path in CHAPTERS
    }
    cells |= {
        path.name: nbformat.read(path, as_version=4).cells[1].source
        for path in ASSIGNMENTS
    }
    assert all(source.count(address) == 1 for source in cells.values())
    assert (
        len({source.partition("\n\nimport")[0].strip() for source in cells.values()})
        == 1
    )
    chosen = [CHAPTERS[0].name, *(path.name for path in ASSIGNMENTS)]
    cells = {name: cells[name].replace(address, wheel.as_uri()) for name in chosen}
    (tmp_path / "empty").mkdir()
    (tmp_path / "stand-in/google/colab").mkdir(parents=True)
    (tmp_path / "stand-in/google/colab/__init__.py").touch()
    environment = {
        **os.environ,
        "PYTHONPATH": str(tmp_path / "stand-in"),
        "HOME": str(tmp_path),
        "PIP_NO_INDEX": "1",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    }
    run = subprocess.run(
        [python, "-c", textwrap.dedent(DRIVER)],
        input=json.dumps(cells),
        env=environment,
        cwd=tmp_path / "empty",
        capture_output=True,
        text=True,
    )
    *_, names, text, last = run.stdout.splitlines() or [""] * 3
    assert run.returncode == 0 and last == "fine", (
        run.stdout[-2000:] + run.stderr[-3000:]
    )
    assert names == "multi30k multi30k-de-en" and text.endswith(".")
