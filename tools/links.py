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
import sys
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
    "No site has been published from this copy yet: `make site` writes it to "
    "`build/site`, and `make links REPO=owner/name` puts its links here."
)
BOOK_AT = (
    "**[Try it in your browser]({site}live.html)** · [read it as a book]({site}) · "
    "[chapter 00](notebooks/00_start_here.ipynb), or "
    "[on Colab](https://colab.research.google.com/github/{repo}/blob/v{version}"
    "/notebooks/00_start_here.ipynb)"
)


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
    repo, version = address()
    print(repo, version)
    if published():
        print(
            f"Colab opens and installs the tag v{version}: once all is committed, "
            f"git tag v{version} && git push origin v{version}"
        )
    return 0


def chapters() -> list[Path]:
    """The main chapters, then the deeper pages."""
    patterns = ("[0-9]*.ipynb", "deeper/[0-9]*.ipynb")
    return [path for pattern in patterns for path in sorted(NOTEBOOKS.glob(pattern))]


def assignments() -> list[Path]:
    return sorted(NOTEBOOKS.glob("assignments/source/*.ipynb"))


def lacking(path: Path) -> str:
    """The package that a notebook needs (metadata ``nmt.needs``) and that is not here.

    It comes with an extra, so that what executes notebooks leaves this one out.
    """
    found = json.loads(path.read_text(encoding="utf-8"))["metadata"].get("nmt", {})
    package = str(found.get("needs", ""))
    return package if package and not find_spec(package) else ""


def address() -> tuple[str, str]:
    """The repository's ``owner/name`` and the version, from pyproject.toml."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    repo = re.search(r'(?m)^Repository = "https://github\.com/([^"]+)"', text)
    version = re.search(r'(?m)^version = "([^"]+)"', text)
    assert repo and version, "pyproject.toml must name version and Repository"
    return repo[1], version[1]


def published() -> bool:
    """Whether the repository has an address."""
    return address()[0] != PLACEHOLDER


def documentation(repo: str) -> str:
    """The address of the site of ``owner/name``, on GitHub Pages."""
    owner, _, name = repo.partition("/")
    return f"https://{owner.lower()}.github.io/{name}/"


def set_address(repo: str) -> None:
    """Writes the address of another repository and of its site."""
    old = address()[0]
    for name in ("pyproject.toml", "README.md"):
        text = (ROOT / name).read_text(encoding="utf-8")
        for was, now in (
            (said_of_the_site(old), said_of_the_site(repo)),
            (f"github.com/{old}", f"github.com/{repo}"),
            (documentation(old), documentation(repo)),
        ):
            text = text.replace(was, now)
        (ROOT / name).write_text(text, "utf-8")


def said_of_the_site(repo: str) -> str:
    if repo == PLACEHOLDER:
        return BOOK
    site, version = documentation(repo), address()[1]
    return BOOK_AT.format(site=site, repo=repo, version=version)


def stamp(notebook: nbformat.NotebookNode, path: Path) -> None:
    """Writes the badge and the first lines of the set-up cell, and nothing else.

    The set-up cell is the third of a chapter and the second of an assignment.

    Raises:
        ValueError: there is no set-up cell.
    """
    repo, version = address()
    name = path.resolve().relative_to(NOTEBOOKS).as_posix()
    badge = BADGE.format(repo=repo, version=version, name=name)
    first, cell = notebook.cells[0], notebook.cells[1 + (path.parent.name != "source")]
    first.source = with_badge(first.source, badge if published() else "")
    library = f"{repo}@v{version}" if published() else ""
    cell.source = with_set_up(cell.source, library)


def with_badge(source: str, badge: str) -> str:
    """The first cell with this badge below its title; an empty one removes it."""
    title, *others = source.split("\n\n")
    others = [part for part in others if not part.startswith("[![Open in Colab]")]
    return "\n\n".join([title, *([badge] if badge else []), *others])


def with_set_up(source: str, library: str) -> str:
    """The set-up cell; it installs the library from this repository, if it is named.

    Raises:
        ValueError: it is not a set-up cell.
    """
    head, line, rest = f"{source}\n".rpartition("import nmt_lib as nmt")
    if not line or not f"{head}{line}".startswith(("try:\n", "import nmt_lib")):
        raise ValueError(f"no set-up cell: {source[:60]!r}")
    head = SET_UP.format(library=library) if library else HERE
    return f"{head}\n{rest.partition(chr(10))[2].strip()}".strip()


if __name__ == "__main__":
    sys.exit(main())
