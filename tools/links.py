"""Stamps the repository's address into the chapters (badges, what their set-up cells install on Colab) and the site's
into README and pyproject.toml.

``python notebooks/links.py`` stamps the address that stands in pyproject.toml; with ``owner/name`` it writes that one
there first. The version is the one of pyproject.toml too, so that a chapter installs the library it was written with.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

import nbformat

HERE = Path(__file__).resolve().parents[1] / "notebooks"
PYPROJECT = HERE.parent / "pyproject.toml"
README = HERE.parent / "README.md"
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
    parser.add_argument(
        "repo", nargs="?", help="owner/name; default: what pyproject.toml says"
    )
    options = parser.parse_args()
    if options.repo:
        if not re.fullmatch(r"[\w.-]+/[\w.-]+", options.repo):
            print(
                f"error: {options.repo!r} is no owner/name: try make links REPO=owner/name",
                file=sys.stderr,
            )
            return 2
        site = documentation()
        text = PYPROJECT.read_text(encoding="utf-8")
        text = re.sub(
            r'(?m)^(Repository = "https://github\.com/)[^"]*',
            rf"\g<1>{options.repo}",
            text,
        )
        PYPROJECT.write_text(text, encoding="utf-8")
        for path in (PYPROJECT, README):
            path.write_text(
                path.read_text(encoding="utf-8").replace(site, documentation()),
                encoding="utf-8",
            )
    repo, version = address()
    chapters = [
        (path, 2)
        for path in sorted(
            [*HERE.glob("[0-9]*.ipynb"), *HERE.glob("deeper/[0-9]*.ipynb")]
        )
    ]
    for chapter, place in chapters + [
        (path, 1) for path in sorted(HERE.glob("assignments/source/*.ipynb"))
    ]:
        notebook = nbformat.read(chapter, as_version=4)
        try:
            stamp(notebook, chapter.relative_to(HERE).as_posix(), repo, version, place)
        except ValueError as error:
            print(f"error: {error}", file=sys.stderr)
            return 2
        nbformat.write(notebook, chapter)
        print(f"{chapter.name}: {repo}, version {version}")
    return 0


def address() -> tuple[str, str]:
    """The repository's ``owner/name`` and the version, from pyproject.toml."""
    text = PYPROJECT.read_text(encoding="utf-8")
    repo = re.search(r'(?m)^Repository = "https://github\.com/([^"]+)"', text)
    version = re.search(r'(?m)^version = "([^"]+)"', text)
    assert repo and version, "pyproject.toml must name version and Repository"
    return repo[1], version[1]


def documentation() -> str:
    """The address of the site, on GitHub Pages."""
    owner, _, name = address()[0].partition("/")
    return f"https://{owner.lower()}.github.io/{name}/"


def stamp(
    notebook: nbformat.NotebookNode, name: str, repo: str, version: str, place: int = 2
) -> None:
    """Writes badge and head of the set-up cell, which is number ``place``; nothing else changes.

    Raises:
        ValueError: the chapter has no badge in its first cell, or no set-up cell in its place.
    """
    first, set_up = notebook.cells[0], notebook.cells[place]
    badge = BADGE.format(repo=repo, version=version, name=name)
    first.source, found = re.subn(
        r"^\[!\[Open in Colab\].*$", badge, first.source, flags=re.MULTILINE
    )
    if found != 1:
        raise ValueError(
            f"{name}: the first cell needs one line that starts with [![Open in Colab]"
        )
    parts = f"{set_up.source}\n".split(
        "    import nmt_lib as nmt\n"
    )  # try, except, and what an assignment adds
    if len(parts) != 3 or parts[0] != "try:\n":
        nth = "second" if place == 1 else "third"
        raise ValueError(
            f"{name}: the {nth} cell must be the set-up cell, which starts with try: import nmt_lib as nmt"
        )
    set_up.source = (
        SET_UP.format(repo=repo, version=version) + "\n" + parts[2].lstrip("\n")
    ).strip()


if __name__ == "__main__":
    sys.exit(main())
