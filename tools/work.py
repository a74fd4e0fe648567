"""Opens the chapters in JupyterLab: ``make lab``, or ``python -m tools.work``.

What opens is a copy in ``work/``, which git ignores. It is the reader's: an update of
the project replaces the pages of which she has changed no cell, and no others.
Arguments go to JupyterLab.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from pathlib import Path

from nmt_lib.training.atomic_write import write_file

ROOT = Path(__file__).parents[1]
PAGES = ROOT / "notebooks"


def main() -> None:
    work = ROOT / "work"
    for sentence in copy_pages(work):
        print(sentence)
    root = hasattr(os, "geteuid") and os.geteuid() == 0  # as in most containers
    # From the project's folder, as links of the pages lead to files beside work/.
    options = [str(ROOT), f"--FileContentsManager.preferred_dir={work}"]
    options += [*["--allow-root"] * root, *sys.argv[1:]]
    os.execv(sys.executable, [sys.executable, "-m", "jupyter", "lab", *options])


def copy_pages(work: Path, pages: Path = PAGES) -> list[str]:
    """Copies the chapters that are new, and those that have not been changed here.

    Args:
        work: where the copies are, with a list of the editions that were copied.
        pages: the project's own.

    Returns:
        What the reader should know, in sentences.
    """
    record, sentences = work / ".editions.json", []
    editions = read_editions(record)
    for page in [*pages.glob("[0-9]*.ipynb"), *pages.glob("deeper/*.ipynb")]:
        name = page.relative_to(pages).as_posix()
        copy, edition = work / name, edition_of(page)
        if editions.get(name) == edition and copy.exists():
            continue
        if not copy.exists() or edition_of(copy) in (edition, editions.get(name)):
            write_file(copy, page.read_bytes())
            editions[name] = edition
        else:
            sentences.append(
                f"work/{name} stays as you have changed it. There is a newer edition: "
                "rename yours, and the next start copies it"
            )
    write_file(record, json.dumps(editions, indent=1, sort_keys=True).encode())
    return sorted(sentences)


def read_editions(record: Path) -> dict[str, str]:
    try:
        editions = json.loads(record.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return editions if isinstance(editions, dict) else {}


def edition_of(page: Path) -> str:
    """A digest of a notebook's sources: outputs are no change of hers."""
    try:
        cells = json.loads(page.read_text("utf-8"))["cells"]
        text = json.dumps(["".join(cell["source"]) for cell in cells])
    except (OSError, ValueError, KeyError, TypeError):
        return "unreadable"
    return hashlib.sha256(text.encode()).hexdigest()[:16]


if __name__ == "__main__":
    main()
