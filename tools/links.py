"""Writes the repository's address into the badges and set-up cells of all notebooks.

``python -m tools.links`` takes it, and the version that the set-up cells install, from
pyproject.toml; ``python -m tools.links owner/name`` writes that address there first,
and the address of the site into pyproject.toml and README. As long as the address is
the placeholder ``OWNER/REPO``, there is no badge, no install line and no link to the
site, because none of them would work.
"""

from __future__ import annotations

import argparse
import json
import re
from importlib.util import find_spec
from pathlib import Path

import nbformat

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = ROOT / "notebooks"
BADGE = (
    "[![Open in Colab](https://colab.research.google.com/assets/colab-badge.svg)]"
    "(https://colab.research.google.com/github/{repo}/blob/v{version}/notebooks/{name})"
)
PLACEHOLDER = "OWNER/REPO"
SET_UP_CELL = re.compile(r"(?s)\A(try:.*)?import nmt_lib as nmt[^\n]*\n*")
HERE = "import nmt_lib as nmt  # not found? In the repository: pip install .\n"
SET_UP = """\
try:
    import nmt_lib as nmt
except ModuleNotFoundError:  # on Colab: install it, keep torch and numpy
    from importlib.metadata import version

    library = "nmt-lib @ git+https://github.com/{library}"
    keep = [f"{{name}}=={{version(name)}}" for name in ("torch", "numpy")]
    %pip install -q {{" ".join(keep)}} "{{library}}"
    import nmt_lib as nmt
"""
# What README says about the site, before and after it has an address.
BOOK = (
    "Begin with [chapter 00](notebooks/00_start_here.ipynb): read it here, or open it "
    "with the one command below."
)
BOOK_AT = (
    "**[Try it in your browser]({site}live.html)** · [read it as a book]({site}) · "
    "[chapter 00](notebooks/00_start_here.ipynb), or "
    "[on Colab](https://colab.research.google.com/github/{repo}/blob/v{version}"
    "/notebooks/00_start_here.ipynb)"
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repo", nargs="?", help="owner/name; default: as it is")
    if repo := parser.parse_args().repo:
        if not re.fullmatch(r"[\w.-]+/[\w.-]+", repo):
            parser.error(f"{repo!r} is not of the form owner/name")
        set_address(repo)
    for path in [*chapters(), *assignments()]:
        notebook = nbformat.read(path, as_version=4)
        stamp(notebook, path)
        nbformat.write(notebook, path)
    print(*address())


def chapters() -> list[Path]:
    """The main chapters, then the deeper pages."""
    deeper = sorted(NOTEBOOKS.glob("deeper/[0-9]*.ipynb"))
    return [*sorted(NOTEBOOKS.glob("[0-9]*.ipynb")), *deeper]


def assignments() -> list[Path]:
    return sorted(NOTEBOOKS.glob("assignments/source/*.ipynb"))


def lacking(path: Path) -> str:
    """The package that a notebook needs (metadata ``nmt.needs``) and that is not here.

    It comes with an extra, so that what executes notebooks leaves this one out.
    """
    metadata = json.loads(path.read_text(encoding="utf-8"))["metadata"]
    package = str(metadata.get("nmt", {}).get("needs", ""))
    return package if package and not find_spec(package) else ""


def address() -> tuple[str, str]:
    """The repository's ``owner/name`` and the version, from pyproject.toml."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    metadata = dict(re.findall(r'(?m)^(version|Repository) = "([^"]+)"', text))
    repository = metadata["Repository"].removeprefix("https://github.com/")
    return repository, metadata["version"]


def published() -> bool:
    """Whether the repository has an address."""
    return address()[0] != PLACEHOLDER


def documentation(repo: str) -> str:
    """The address of the site of ``owner/name``, on GitHub Pages."""
    owner, _, name = repo.partition("/")
    return f"https://{owner.lower()}.github.io/{name}/"


def set_address(repo: str) -> None:
    """Writes the address of another repository and of its site."""
    changes = [*zip(addresses(address()[0]), addresses(repo), strict=True)]
    for path in (ROOT / "pyproject.toml", ROOT / "README.md"):
        text = path.read_text(encoding="utf-8")
        for before, after in changes:
            text = text.replace(before, after)
        path.write_text(text, encoding="utf-8")


def addresses(repo: str) -> tuple[str, str, str]:
    """What README and pyproject.toml say of a repository and of its site."""
    site = documentation(repo)
    book = BOOK_AT.format(site=site, repo=repo, version=address()[1])
    return BOOK if repo == PLACEHOLDER else book, f"github.com/{repo}", site


def stamp(notebook: nbformat.NotebookNode, path: Path) -> None:
    """Writes the badge and the first lines of the set-up cell, and nothing else.

    The set-up cell is the third of a chapter and the second of an assignment.

    Raises:
        ValueError: there is no set-up cell.
    """
    repo, version = address()
    badge = library = ""
    if published():
        name = path.resolve().relative_to(NOTEBOOKS).as_posix()
        badge = BADGE.format(repo=repo, version=version, name=name)
        library = f"{repo}@v{version}"
    first, cell = notebook.cells[0], notebook.cells[1 + (path.parent.name != "source")]
    first.source = with_badge(first.source, badge)
    cell.source = with_set_up(cell.source, library)


def with_badge(source: str, badge: str) -> str:
    """The first cell with this badge below its title; an empty one removes it."""
    source = re.sub(r"\n\n\[!\[Open in Colab\].*", "", source)
    return source.replace("\n\n", f"\n\n{badge}\n\n", 1) if badge else source


def with_set_up(source: str, library: str) -> str:
    """The set-up cell; it installs the library from this repository, if it is named.

    Raises:
        ValueError: it is not a set-up cell.
    """
    head = SET_UP.format(library=library) if library else HERE
    cell, n = SET_UP_CELL.subn(lambda _: f"{head}\n", source)
    if not n:
        raise ValueError(f"no set-up cell: {source[:60]!r}")
    return cell.strip()


if __name__ == "__main__":
    main()
