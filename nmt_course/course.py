"""From the sources to a course: ``make class`` draws its constants, stamps its links,
and writes the students' edition.

``build/class`` becomes the folder of an nbgrader course: ``source/`` (with solutions
and hidden tests: keep it to
yourself), ``release/`` (what students get) and ``nbgrader_config.py``.
"""

from __future__ import annotations

import argparse
import random
import re
import shutil
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
SOURCES = ROOT / "notebooks/assignments/source"
BADGE = re.compile(r"^\[!\[Open in Colab\].*\n\n?", re.MULTILINE)
COLAB = "https://colab.research.google.com"
SEED_WORD = "seed"  # among the choices of a drawn constant: any number


def names() -> list[str]:
    """The assignments: A1_… first."""
    return [path.stem for path in sorted(SOURCES.glob("A[0-9]*.ipynb"))]


def load(name: str, seed: str = "") -> NotebookNode:
    """A source notebook. A seed draws each constant anew, everywhere: text, solutions,
    public and hidden tests; stored
    outputs go, since they came from other constants."""
    notebook = nbformat.read(SOURCES / f"{name}.ipynb", as_version=4)
    notebook.metadata.nmt.seed = seed
    if not seed:
        return notebook
    draw, chosen = random.Random(f"{name} {seed}"), {}
    for value, choices in sorted(notebook.metadata.nmt.drawn.items()):
        chosen[value] = (
            str(draw.randint(10_000, 99_999))
            if choices == [SEED_WORD]
            else draw.choice(choices)
        )
    pattern = constants(chosen)
    for cell in notebook.cells:
        cell.source = pattern.sub(lambda found: chosen[found[0]], cell.source)
        if cell.cell_type == "code":
            cell.update(outputs=[], execution_count=None)
    return notebook


def constants(values: Iterable[str]) -> re.Pattern[str]:
    """Finds the constants as whole words: 23 is not found in 123 or in 0.23."""
    whole = [
        rf"(?<![\w.]){v}(?!\w|\.\d)" if v.isalnum() else re.escape(v) for v in values
    ]
    return re.compile("|".join(whole))


def drawn_constants(source: NotebookNode) -> re.Pattern[str]:
    """Finds what any seed could have drawn."""
    drawn = source.metadata.get("nmt", {}).get("drawn", {})
    every = {choice for value, choices in drawn.items() for choice in (value, *choices)}
    return constants(sorted(every, key=lambda choice: (-len(choice), choice)))


def release(notebook: NotebookNode, name: str = "", repo: str = "") -> NotebookNode:
    """The students' edition, made by nbgrader: answers are stubs, hidden tests are
    gone, other cells are locked.

    Its badge opens it in the repository where the teacher publishes it; without one
    there is no badge.

    Raises:
        RuntimeError: a mark has no partner, or stands in a cell of another kind.
    """
    student = nbformat.from_dict(notebook)
    resources: dict[str, Any] = {}
    student.metadata.pop("nmt", None)
    for step in _steps():
        student, resources = step.preprocess(student, resources)
    address = f"{COLAB}/github/{repo}/blob/main/{name}/{name}.ipynb"
    badge = (
        f"[![Open in Colab]({COLAB}/assets/colab-badge.svg)]({address})\n\n"
        if repo
        else ""
    )
    student.cells[0].source = BADGE.sub(badge, student.cells[0].source)
    return student


@cache
def _steps() -> list[Any]:
    from nbgrader.preprocessors import (
        ClearHiddenTests,
        ClearOutput,
        ClearSolutions,
        LockCells,
    )
    from traitlets.config import PyFileConfigLoader

    config = PyFileConfigLoader(
        "nbgrader_config.py", path=str(HERE)
    ).load_config()  # the stubs
    return [
        step(config=config)
        for step in (ClearSolutions, ClearHiddenTests, LockCells, ClearOutput)
    ]


def make(seed: str, repo: str, out: Path) -> None:
    """Writes the course.

    Raises:
        ValueError: why not.
        ImportError: nbgrader is missing.
    """
    if repo and not re.fullmatch(r"[\w.-]+/[\w.-]+", repo):
        raise ValueError(f"{repo!r} is no owner/name: try make class COURSE=owner/name")
    made = [nbformat.read(path, as_version=4) for path in out.glob("source/*/*.ipynb")]
    if any(old.metadata.nmt.get("seed") != seed for old in made):
        raise ValueError(
            f"{out} holds a class made with another SEED, which its submissions need: "
            "remove that folder if they are graded, or name another one with --out"
        )
    for name in names():
        source = load(name, seed)
        for step, edition in (
            ("source", source),
            ("release", release(source, name, repo)),
        ):
            target = out / step / name / f"{name}.ipynb"
            target.parent.mkdir(parents=True, exist_ok=True)
            nbformat.write(edition, target)
        print(f"{name}: release for students in {target.parent}")
    shutil.copy(HERE / "nbgrader_config.py", out)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--seed",
        default="",
        help="draws fresh constants; default: those of the sources",
    )
    parser.add_argument(
        "--repo",
        default="",
        help="owner/name of the repository where you will publish release/",
    )
    parser.add_argument("--out", type=Path, default=ROOT / "build/class")
    options = parser.parse_args()
    try:
        make(options.seed, options.repo, options.out)
    except (ValueError, ImportError) as error:
        print(
            f"error: {error}"
            + " (pip install '.[class]')" * isinstance(error, ImportError),
            file=sys.stderr,
        )
        return 2
    drawn = (
        f"constants drawn by seed {options.seed!r}"
        if options.seed
        else "constants as in the sources (no SEED)"
    )
    print(
        
            f"{drawn}; keep {options.out / 'source'} to yourself: it holds "
            "solutions and tests, and make grade reads it"
        
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
