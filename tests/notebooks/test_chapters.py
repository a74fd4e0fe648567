"""The chapters as files: their frame and stored run, and the address stamped into them."""

from __future__ import annotations

import re
import runpy
import shutil
import sys
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).resolve().parents[2]
CHAPTERS = sorted((ROOT / "notebooks").glob("[0-9]*.ipynb"))
DEEPER = sorted((ROOT / "notebooks/deeper").glob("*.ipynb"))
ASSIGNMENTS = sorted((ROOT / "notebooks/assignments/source").glob("*.ipynb"))
sys.path.insert(0, str(ROOT / "notebooks"))
import budget  # noqa: E402
from tools import check
from tools import links


@pytest.mark.parametrize(
    "chapter", [*CHAPTERS, *DEEPER, *ASSIGNMENTS], ids=lambda path: path.stem
)
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
        (
            lambda nb: nb.cells[0].update(
                source=nb.cells[0].source.replace("/blob/v", "/blob/x")
            ),
            "links",
        ),
        (
            lambda nb: [
                o.get("metadata", {}).clear()
                for c in nb.cells
                for o in c.get("outputs", ())
            ],
            "lacks its alt",
        ),
        (
            lambda nb: nb.cells.append(
                nbformat.v4.new_markdown_cell("[there](99_nowhere.ipynb)")
            ),
            "dead link",
        ),
        (
            lambda nb: nb.cells[2].outputs.append(
                nbformat.v4.new_output("stream", text="<a at 0x7fabc0>")
            ),
            "elsewhere",
        ),
        (
            lambda nb: nb.cells[2].outputs.extend(
                [nbformat.v4.new_output("stream", text="a")] * 2
            ),
            "in pieces",
        ),
        (
            lambda nb: nb.cells[3].update(source="x = 1  # " + "long " * 20),
            "longer than 88",
        ),
        (
            lambda nb: nb.cells[3].update(source="x = 1\n" * 15),
            "longest: 15.0, 14 is the limit",
        ),
        (
            lambda nb: nb.cells[3].update(source="# NBVAL_IGNORE_OUTPUT"),
            "machinery of tests",
        ),
        (
            lambda nb: nb.cells[3].update(source="print('equal:', True)"),
            "machinery of tests",
        ),
        (lambda nb: nb.cells[2].metadata.clear(), "must be folded"),
        (
            lambda nb: nb.cells[3].metadata.update(jupyter={"source_hidden": True}),
            "folded in JupyterLab or on",
        ),
        (lambda nb: nb.cells[3].metadata.update(tags=["skip"]), "unknown tags: skip"),
        (lambda nb: nb.cells[4].update(source="word " * 1800), "words: "),
        (lambda nb: nb.cells[4].update(source="costs $5"), "a $ is not closed"),
        (
            lambda nb: nb.cells[4].update(source=r"$\frac{1}{2$"),
            "something is not closed",
        ),
        (
            lambda nb: nb.cells[4].update(source=r"$$\left( x$$"),
            "something is not closed",
        ),
        (
            lambda nb: nb.cells[4].update(source=r"$\colour{red}$"),
            "unknown command colour",
        ),
        (
            lambda nb: [
                c.update(source=c.source.replace("### 2 ·", "### 3 ·"))
                for c in nb.cells
            ],
            "two exercises",
        ),
        (
            lambda nb: nb.cells[0].update(
                source=re.sub(r"about \d+", "about 3", nb.cells[0].source)
            ),
            "says 3 minutes",
        ),
    ],
)
def test_what_is_wrong_is_found(tmp_path, change, complaint):
    assert any(
        complaint in problem for problem in broken(CHAPTERS[3], tmp_path, change)
    )


def test_the_whole_series_keeps_its_bounds():
    measured = [budget.measure(path) for path in [*CHAPTERS, *DEEPER]]
    assert sum(n["minutes"] for n in measured[: len(CHAPTERS)]) <= 360
    assert sum(n["cells"] for n in measured) <= 1000 and len(DEEPER) <= 8
    words = sum(
        len(cell.source.split())
        for path in [*CHAPTERS, *DEEPER]
        for cell in nbformat.read(path, as_version=4).cells
        if cell.cell_type == "markdown"
    )
    assert words <= 33_000


def run_as_main(
    capsys: pytest.CaptureFixture[str], script: Path | str, *arguments: str
) -> tuple[int, str]:
    """Runs a file, or a module, as ``python`` does, without the seconds that it takes to load: its exit code, what it
    said."""
    run = runpy.run_path if isinstance(script, Path) else runpy.run_module
    with pytest.MonkeyPatch.context() as patch, pytest.raises(SystemExit) as done:
        patch.setattr(sys, "argv", [str(script), *arguments])
        patch.delitem(sys.modules, str(script), raising=False)
        run(str(script), run_name="__main__")
    return int(done.value.code or 0), "".join(capsys.readouterr())


@pytest.mark.parametrize(
    "script",
    ["run.py", "check.py", "links.py", "nmt_course.course", "nmt_course.grade"],
)
def test_the_scripts_find_what_setup_installs(script: str, capsys):
    """What they import must come with the extras that `make setup` names: CI has nothing else."""
    code, said = run_as_main(
        capsys,
        ROOT / "notebooks" / script if script.endswith(".py") else script,
        "--help",
    )
    assert code == 0 and "usage" in said


def test_the_map_in_chapter_00_knows_the_minutes_of_every_chapter():
    texts = {
        path.name: "\n".join(c.source for c in nbformat.read(path, as_version=4).cells)
        for path in CHAPTERS
    }
    for name, text in texts.items():
        minutes = re.search(r"about (\d+) minutes to read", text)
        assert minutes, f"{name} does not say how long it takes"
        row = (
            rf"(?m)^\| (?:00 start here|\[[^]]+\]\({name}\)) \|[^|]*\| {minutes[1]} \|"
        )
        assert name.startswith("00") or re.search(row, texts["00_start_here.ipynb"]), (
            f"{name}: {minutes[1]} minutes"
        )
        assert name in (ROOT / "README.md").read_text(encoding="utf-8"), (
            f"README does not link {name}"
        )


def test_links_stamp_another_repository_and_back(tmp_path, capsys):
    """``make links`` in a copy of the project: every address changes, and only addresses."""
    (tmp_path / "notebooks").mkdir()
    for file in (
        ROOT / "pyproject.toml",
        ROOT / "README.md",
        *CHAPTERS[:2],
        ROOT / "notebooks/links.py",
    ):
        shutil.copy(file, tmp_path / file.relative_to(ROOT))
    before = {
        path: path.read_text(encoding="utf-8") for path in sorted(tmp_path.rglob("*.*"))
    }
    repo, _ = links.address()
    script = tmp_path / "notebooks/links.py"
    assert run_as_main(capsys, script, "somebody/fork")[0] == 0
    for path in (tmp_path / "notebooks").glob("*.ipynb"):
        text = path.read_text(encoding="utf-8")
        assert (
            "github.com/somebody/fork@v" in text
            and "github/somebody/fork/blob/v" in text
        )
        assert f"{repo}/blob" not in text and f"{repo}@" not in text
    for name in ("pyproject.toml", "README.md"):
        assert "https://somebody.github.io/fork/" in (tmp_path / name).read_text(
            encoding="utf-8"
        )
    assert run_as_main(capsys, script, repo)[0] == 0
    assert before == {path: path.read_text(encoding="utf-8") for path in before}
    assert run_as_main(capsys, script, "no address")[0] == 2


def test_every_file_of_claims_belongs_to_a_chapter() -> None:
    """``make chapters`` finds them by the chapter's name: under another one, nobody would ask them."""
    chapters = {path.stem for path in CHAPTERS}
    claims = {path.stem for path in (ROOT / "tests/claims").glob("*.py")}
    assert claims and claims <= chapters
