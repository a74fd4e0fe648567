"""The chapters as files: frame, stored run, size, and the addresses in them."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from tools import check, links

NOTEBOOKS = [*links.chapters(), *links.assignments()]
MAIN = [path for path in links.chapters() if path.parent.name == "notebooks"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_frame_and_stored_run(path: Path) -> None:
    assert check.problems(path) == []


def test_the_map_in_chapter_00_and_the_readme_know_each_chapter() -> None:
    readme = (links.ROOT / "README.md").read_text(encoding="utf-8")
    first = [nbformat.read(path, as_version=4).cells for path in MAIN]
    plan = "\n".join(cell.source for cell in first[0])
    for path in MAIN:
        rows = [r for r in readme.splitlines() if f"| [{path.stem[:2]} " in r]
        assert any(path.name in row for row in rows), f"README has no {path.name}"
        assert path == MAIN[0] or f"({path.name})" in plan, f"no {path.name} in the map"


def test_links_write_another_repository_and_back(tmp_path: Path) -> None:
    """In a copy of the project, every address changes, and only addresses."""
    shutil.copytree(links.ROOT / "tools", tmp_path / "tools")
    (tmp_path / "notebooks").mkdir()
    for file in (links.ROOT / "pyproject.toml", links.ROOT / "README.md", MAIN[0]):
        shutil.copy(file, tmp_path / file.relative_to(links.ROOT))

    def write(repo: str) -> int:
        command = [sys.executable, "-m", "tools.links", repo]
        return subprocess.run(command, cwd=tmp_path, capture_output=True).returncode

    def texts() -> list[str]:
        names = "pyproject.toml", "README.md", f"notebooks/{MAIN[0].name}"
        return [(tmp_path / name).read_text(encoding="utf-8") for name in names]

    assert write(links.PLACEHOLDER) == 0
    before = texts()
    assert write("somebody/fork") == 0
    project, readme, chapter = texts()
    assert links.PLACEHOLDER not in project + readme + chapter
    assert "https://somebody.github.io/fork/" in project and "fork/" in readme
    assert "https://somebody.github.io/fork/live.html" in readme
    assert "/github/somebody/fork/blob/" in readme and links.BOOK not in readme
    version = links.address()[1]
    assert f"github.com/somebody/fork@v{version}" in chapter
    assert f"github/somebody/fork/blob/v{version}" in chapter
    assert write(links.PLACEHOLDER) == 0 and texts() == before
    assert write("no address") == 2


def test_changelog_citation_and_package_name_one_version() -> None:
    changes, citation = (
        (links.ROOT / name).read_text(encoding="utf-8")
        for name in ("CHANGELOG.md", "CITATION.cff")
    )
    dated = re.findall(r"(?m)^## ([\d.]+), (\d{4}-\d\d-\d\d)", changes)
    newest = max(dated, key=lambda entry: entry[1])
    assert newest == dated[0] and newest[0] == links.address()[1]
    said = re.findall(r"(?m)^(?:version|date-released): (.*)", citation)
    assert tuple(said) == newest


LINK = re.compile(r"\]\(([^)#\s]+)[^)]*\)|(?:src|srcset|href)=\"([^\"]+)\"")


@pytest.mark.parametrize(
    "name",
    ["README.md", "AGENTS.md", "CHANGELOG.md", "benchmarks/results/README.md"],
)
def test_what_a_text_of_the_repository_links_to_is_there(name: str) -> None:
    text = (links.ROOT / name).read_text(encoding="utf-8")
    paths = {one or other for one, other in LINK.findall(text)}
    own = sorted(path for path in paths if not re.match("https?:|mailto:", path))
    folder = (links.ROOT / name).parent
    assert [path for path in own if not (folder / path).exists()] == []
