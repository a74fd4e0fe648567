"""Writes the repository's address into the badges and set-up cells of all notebooks.

``python -m tools.links`` takes it, and the version that the set-up cells install, from
pyproject.toml; ``python -m tools.links owner/name`` writes that address there first,
and the address of the site into pyproject.toml and README.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

import nbformat

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = ROOT / "notebooks"
BADGE = (
    "[![Open in Colab](https://colab.research.google.com/assets/colab-badge.svg)]"
    "(https://colab.research.google.com/github/{repo}/blob/v{version}/notebooks/{name})"
)
SET_UP = """\
try:
    import nmt_lib as nmt
except ModuleNotFoundError:  # on Colab: install it, keep torch and numpy
    from importlib.metadata import version

    library = "nmt-lib @ git+https://github.com/{repo}@v{version}"
    keep = [f"{{name}}=={{version(name)}}" for name in ("torch", "numpy")]
    %pip install -q {{" ".join(keep)}} "{{library}}"
    import nmt_lib as nmt
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("repo", nargs="?", help="owner/name; default: as it is")
    repo = parser.parse_args().repo
    if repo and not re.fullmatch(r"[\w.-]+/[\w.-]+", repo):
        print(f"error: {repo!r} is not of the form owner/name", file=sys.stderr)
        return 2
    if repo:
        set_address(repo)
    for path in [*chapters(), *assignments()]:
        notebook = nbformat.read(path, as_version=4)
        stamp(notebook, path)
        nbformat.write(notebook, path)
    print(*address())
    return 0


def chapters() -> list[Path]:
    """The main line, then the deeper pages."""
    patterns = ("[0-9]*.ipynb", "deeper/[0-9]*.ipynb")
    return [path for pattern in patterns for path in sorted(NOTEBOOKS.glob(pattern))]


def assignments() -> list[Path]:
    return sorted(NOTEBOOKS.glob("assignments/source/*.ipynb"))


def address() -> tuple[str, str]:
    """The repository's ``owner/name`` and the version, from pyproject.toml."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    repo = re.search(r'(?m)^Repository = "https://github\.com/([^"]+)"', text)
    version = re.search(r'(?m)^version = "([^"]+)"', text)
    assert repo and version, "pyproject.toml must name version and Repository"
    return repo[1], version[1]


def documentation() -> str:
    """The address of the site, on GitHub Pages."""
    owner, _, name = address()[0].partition("/")
    return f"https://{owner.lower()}.github.io/{name}/"


def set_address(repo: str) -> None:
    """Writes another repository, and the site that belongs to it."""
    old, site = address()[0], documentation()
    file = ROOT / "pyproject.toml"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace(f"github.com/{old}", f"github.com/{repo}"), "utf-8")
    for file in (ROOT / "pyproject.toml", ROOT / "README.md"):
        text = file.read_text(encoding="utf-8")
        file.write_text(text.replace(site, documentation()), "utf-8")


def stamp(notebook: nbformat.NotebookNode, path: Path) -> None:
    """Writes the badge and the first lines of the set-up cell, and nothing else.

    The set-up cell is the third of a chapter and the second of an assignment.

    Raises:
        ValueError: the notebook has no badge in its first cell, or no set-up cell.
    """
    repo, version = address()
    name = path.relative_to(NOTEBOOKS).as_posix()
    badge = BADGE.format(repo=repo, version=version, name=name)
    first = notebook.cells[0]
    set_up = notebook.cells[1 if path.parent.name == "source" else 2]
    line = re.compile(r"^\[!\[Open in Colab\].*$", re.MULTILINE)
    first.source, n = line.subn(badge, first.source)
    _, *rest = f"{set_up.source}\n".split("    import nmt_lib as nmt\n")
    if n != 1 or len(rest) != 2 or not set_up.source.startswith("try:\n"):
        raise ValueError(f"{name}: no badge in its first cell, or no set-up cell")
    head = SET_UP.format(repo=repo, version=version)
    set_up.source = f"{head}\n{rest[1].strip()}".strip()


if __name__ == "__main__":
    sys.exit(main())
