"""The chapters as files: their frame and stored run, the address stamped into them, and their set-up cells on Colab."""

from __future__ import annotations

import json
import os
import re
import shutil
import site
import subprocess
import sys
import textwrap
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).resolve().parent.parent
CHAPTERS = sorted((ROOT / "notebooks").glob("[0-9]*.ipynb"))
DEEPER = sorted((ROOT / "notebooks/deeper").glob("*.ipynb"))
ASSIGNMENTS = sorted((ROOT / "notebooks/assignments/source").glob("*.ipynb"))
sys.path.insert(0, str(ROOT / "notebooks"))
import budget  # noqa: E402
import check  # noqa: E402
import links  # noqa: E402


@pytest.mark.parametrize("chapter", [*CHAPTERS, *DEEPER, *ASSIGNMENTS], ids=lambda path: path.stem)
def test_frame_and_stored_run(chapter: Path):
    assert check.problems(chapter) == []


def broken(chapter: Path, tmp_path: Path, change) -> list[str]:
    """The complaints about a changed copy."""
    notebook = nbformat.read(chapter, as_version=4)
    change(notebook)
    copy = tmp_path / chapter.name
    nbformat.write(notebook, copy)
    return check.problems(copy)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda nb: nb.cells[2].update(execution_count=7), "numbered"),
        (lambda nb: nb.cells[2].update(execution_count=None), "numbered"),
        (lambda nb: nb.cells[1].update(source='config = "toy"'), "second cell"),
        (lambda nb: nb.cells[2].update(source="import nmt_lib as nmt"), "set-up cell"),
        (lambda nb: nb.cells[0].update(source=nb.cells[0].source.replace("/blob/v", "/blob/x")), "links"),
        (lambda nb: [o.get("metadata", {}).clear() for c in nb.cells for o in c.get("outputs", ())], "lacks its alt"),
        (lambda nb: nb.cells.append(nbformat.v4.new_markdown_cell("[there](99_nowhere.ipynb)")), "dead link"),
        (lambda nb: nb.cells[2].outputs.append(nbformat.v4.new_output("stream", text="<a at 0x7fabc0>")), "elsewhere"),
        (lambda nb: nb.cells[2].outputs.extend([nbformat.v4.new_output("stream", text="a")] * 2), "in pieces"),
        (lambda nb: nb.cells[3].update(source="x = 1  # " + "long " * 20), "longer than 88"),
        (lambda nb: nb.cells[3].update(source="x = 1\n" * 15), "longest: 15.0, 14 is the limit"),
        (lambda nb: nb.cells[3].update(source="# NBVAL_IGNORE_OUTPUT"), "machinery of tests"),
        (lambda nb: nb.cells[3].update(source="print('equal:', True)"), "machinery of tests"),
        (lambda nb: nb.cells[2].metadata.clear(), "must be folded"),
        (lambda nb: nb.cells[3].metadata.update(jupyter={"source_hidden": True}), "folded in JupyterLab or on"),
        (lambda nb: nb.cells[3].metadata.update(tags=["skip"]), "unknown tags: skip"),
        (lambda nb: nb.cells[4].update(source="word " * 1800), "words: "),
        (lambda nb: nb.cells[4].update(source="costs $5"), "a $ is not closed"),
        (lambda nb: nb.cells[4].update(source=r"$\frac{1}{2$"), "something is not closed"),
        (lambda nb: nb.cells[4].update(source=r"$$\left( x$$"), "something is not closed"),
        (lambda nb: nb.cells[4].update(source=r"$\colour{red}$"), "unknown command colour"),
        (lambda nb: [c.update(source=c.source.replace("### 2 ·", "### 3 ·")) for c in nb.cells], "two exercises"),
        (lambda nb: nb.cells[0].update(source=re.sub(r"about \d+", "about 3", nb.cells[0].source)), "says 3 minutes"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_found(tmp_path, change, complaint):
    assert any(complaint in problem for problem in broken(CHAPTERS[3], tmp_path, change))


def test_the_whole_series_keeps_its_bounds():
    measured = [budget.measure(path) for path in [*CHAPTERS, *DEEPER]]
    assert sum(n["minutes"] for n in measured[: len(CHAPTERS)]) <= 360
    assert sum(n["cells"] for n in measured) <= 1000 and len(DEEPER) <= 8
    words = sum(len(cell.source.split()) for path in [*CHAPTERS, *DEEPER]
                for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "markdown")  # fmt: skip
    assert words <= 33_000


@pytest.mark.parametrize("script", ["run.py", "check.py", "links.py"])
def test_the_scripts_find_what_setup_installs(script: str):
    """What they import must come with the extras that `make setup` names: CI has nothing else."""
    says_how([ROOT / "notebooks" / script])


@pytest.mark.parametrize("module", ["course", "grade"])
def test_the_modules_of_the_course_find_it_too(module: str):
    says_how(["-m", f"nmt_course.{module}"])


def says_how(command: list[str | Path]) -> None:
    done = subprocess.run([sys.executable, *command, "--help"], capture_output=True, text=True)
    assert done.returncode == 0 and "usage" in done.stdout, done.stderr


def test_the_map_in_chapter_00_knows_the_minutes_of_every_chapter():
    texts = {path.name: "\n".join(c.source for c in nbformat.read(path, as_version=4).cells) for path in CHAPTERS}
    for name, text in texts.items():
        minutes = re.search(r"about (\d+) minutes to read", text)
        assert minutes, f"{name} does not say how long it takes"
        row = rf"(?m)^\| (?:00 start here|\[[^]]+\]\({name}\)) \|[^|]*\| {minutes[1]} \|"
        assert name.startswith("00") or re.search(row, texts["00_start_here.ipynb"]), f"{name}: {minutes[1]} minutes"
        assert name in (ROOT / "README.md").read_text(encoding="utf-8"), f"README does not link {name}"


def test_links_stamp_another_repository_and_back(tmp_path):
    """``make links`` in a copy of the project: every address changes, and only addresses."""
    (tmp_path / "notebooks").mkdir()
    for file in (ROOT / "pyproject.toml", ROOT / "README.md", *CHAPTERS[:2], ROOT / "notebooks/links.py"):
        shutil.copy(file, tmp_path / file.relative_to(ROOT))
    before = {path: path.read_text(encoding="utf-8") for path in sorted(tmp_path.rglob("*.*"))}
    repo, _ = links.address()
    command = [sys.executable, tmp_path / "notebooks/links.py"]
    subprocess.run([*command, "somebody/fork"], check=True, capture_output=True)
    for path in (tmp_path / "notebooks").glob("*.ipynb"):
        text = path.read_text(encoding="utf-8")
        assert "github.com/somebody/fork@v" in text and "github/somebody/fork/blob/v" in text
        assert f"{repo}/blob" not in text and f"{repo}@" not in text
    for name in ("pyproject.toml", "README.md"):
        assert "https://somebody.github.io/fork/" in (tmp_path / name).read_text(encoding="utf-8")
    subprocess.run([*command, repo], check=True, capture_output=True)
    assert before == {path: path.read_text(encoding="utf-8") for path in before}
    assert subprocess.run([*command, "no address"], capture_output=True).returncode == 2


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
    print("fine")
"""


def test_set_up_cells_on_colab(tmp_path: Path):
    """In a bare environment that has everything but the library, the set-up cell installs it, and nothing else.
    It is the same everywhere; those of the assignments import their public checks, too."""
    project = tmp_path / "project"
    for package in ("nmt_lib", "nmt_course"):
        shutil.copytree(ROOT / package, project / package, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, project)
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", tmp_path, project]
    subprocess.run(command, check=True)
    (wheel,) = tmp_path.glob("*.whl")

    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "bare"], check=True)
    python = tmp_path / "bare/bin/python"
    (packages,) = (tmp_path / "bare/lib").glob("python*/site-packages")
    for there in Path(site.getsitepackages()[0]).iterdir():
        if not there.name.startswith(("nmt_", "__editable__")):
            (packages / there.name).symlink_to(there)
    assert subprocess.run([python, "-c", "import nmt_lib"], capture_output=True, cwd=tmp_path).returncode == 1

    repo, version = links.address()
    address = f"git+https://github.com/{repo}@v{version}"
    cells = {path.name: nbformat.read(path, as_version=4).cells[2].source for path in CHAPTERS}
    cells |= {path.name: nbformat.read(path, as_version=4).cells[1].source for path in ASSIGNMENTS}
    assert all(source.count(address) == 1 for source in cells.values())
    assert len({source.partition("\n\nimport")[0].strip() for source in cells.values()}) == 1
    chosen = [CHAPTERS[0].name, *(path.name for path in ASSIGNMENTS)]
    cells = {name: cells[name].replace(address, wheel.as_uri()) for name in chosen}
    (tmp_path / "stand-in/google/colab").mkdir(parents=True)
    (tmp_path / "stand-in/google/colab/__init__.py").touch()
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "stand-in"), "HOME": str(tmp_path),
                   "PIP_NO_INDEX": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}  # fmt: skip
    run = subprocess.run([python, "-c", textwrap.dedent(DRIVER)], input=json.dumps(cells), env=environment,
                         cwd=tmp_path, capture_output=True, text=True)  # fmt: skip
    assert run.returncode == 0 and run.stdout.endswith("fine\n"), run.stdout[-2000:] + run.stderr[-3000:]
