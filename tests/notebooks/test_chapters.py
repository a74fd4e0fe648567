"""The chapters as files: frame, stored run, size, and the addresses in them."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from tools import budget, check, links

NOTEBOOKS = [*links.chapters(), *links.assignments()]
MAIN = [path for path in links.chapters() if path.parent.name == "notebooks"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_frame_and_stored_run(path: Path) -> None:
    assert check.problems(path) == []


def test_the_main_line_takes_six_hours_at_most() -> None:
    assert sum(budget.measure(path)["minutes"] for path in MAIN) <= 360


def test_the_map_in_chapter_00_and_the_readme_know_each_chapter() -> None:
    readme = (links.ROOT / "README.md").read_text(encoding="utf-8")
    first = [nbformat.read(path, as_version=4).cells for path in MAIN]
    plan = "\n".join(cell.source for cell in first[0])
    for path, (title, *_) in zip(MAIN, first, strict=True):
        minutes = re.findall(r"about (\d+) minutes to read", title.source)
        name = r"00 start here" if path == MAIN[0] else rf"\[[^]]+\]\({path.name}\)"
        assert re.search(rf"(?m)^\| {name} \|[^|]*\| {minutes[0]} \|", plan), path.name
        assert path.name in readme


def test_links_write_another_repository_and_back(tmp_path: Path) -> None:
    """In a copy of the project, every address changes, and only addresses."""
    shutil.copytree(links.ROOT / "tools", tmp_path / "tools")
    (tmp_path / "notebooks").mkdir()
    for file in (links.ROOT / "pyproject.toml", links.ROOT / "README.md", *MAIN[:2]):
        shutil.copy(file, tmp_path / file.relative_to(links.ROOT))

    def write(repo: str) -> int:
        command = [sys.executable, "-m", "tools.links", repo]
        return subprocess.run(command, cwd=tmp_path, capture_output=True).returncode

    def texts() -> dict[str, str]:
        files = [*tmp_path.glob("*.*"), *tmp_path.glob("notebooks/*")]
        return {file.name: file.read_text(encoding="utf-8") for file in files}

    placeholder, version = links.PLACEHOLDER, links.address()[1]
    assert write(placeholder) == 0
    before = texts()
    for name, text in before.items():
        found = text.count(placeholder)
        assert found == (name == "pyproject.toml"), name  # nothing leads nowhere
    assert write("somebody/fork") == 0
    for path in MAIN[:2]:
        assert f"github.com/somebody/fork@v{version}" in texts()[path.name]
        assert f"github/somebody/fork/blob/v{version}" in texts()[path.name]
    for name, text in texts().items():
        assert placeholder not in text
        if name in ("pyproject.toml", "README.md"):
            assert "https://somebody.github.io/fork/" in text
    assert write(placeholder) == 0 and texts() == before
    assert write("no address") == 2
