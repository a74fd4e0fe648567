"""From the sources to a course: ``make class`` draws its constants, stamps its links,
and writes the students' edition.

``build/class`` becomes the folder of an nbgrader course: ``source/`` (with solutions
and hidden tests: keep it to yourself), ``release/`` (what students get) and
``nbgrader_config.py``.
"""

from __future__ import annotations

import argparse
import random
import re
import shutil
import sys
import zlib
from collections.abc import Iterable
from pathlib import Path

import nbformat
from nbformat import NotebookNode

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SOURCES = ROOT / "notebooks/assignments/source"
OUT = ROOT / "build/class"
COLAB = "https://colab.research.google.com"
SHOWN = re.compile(r"\{\{(.*?)\}\}")  # in a marking scheme: what the picture shows
SEED_WORD = "seed"  # among the choices of a drawn constant: any number


def text_sum(notebook: NotebookNode) -> int:
    return zlib.crc32("\n".join(cell.source for cell in notebook.cells).encode())


def is_changed(notebook: NotebookNode) -> bool:
    """Whether a teacher has corrected a source since ``make class`` wrote it."""
    return bool(notebook.metadata.nmt.get("made") != text_sum(notebook))


def names() -> list[str]:
    """The assignments: A1_… first."""
    return [path.stem for path in sorted(SOURCES.glob("A[0-9]*.ipynb"))]


def made_names(root: Path) -> list[str]:
    """The assignments of a class.

    Raises:
        ValueError: there is none yet.
    """
    if made := sorted(path.name for path in root.glob("source/*")):
        return made
    raise ValueError(f"{root} holds no course: run make class first")


def load(name: str, seed: str = "", repo: str = "") -> NotebookNode:
    """A source notebook.

    A seed draws each constant wherever it occurs: in text, solutions, public and hidden
    tests. Stored outputs are removed, since they came from other constants. Marking
    schemes say what the pictures show with these constants. The badge opens the
    notebook in the repository ``owner/name`` where the teacher publishes the release;
    without one there is no badge. The library comes from this project's own address.
    """
    from tools import links  # in the checkout, where every class is made

    notebook = nbformat.read(SOURCES / f"{name}.ipynb", as_version=4)
    notebook.metadata.nmt.seed = seed
    draw, chosen = random.Random(f"{name} {seed}"), dict[str, str]()
    for value, choices in sorted(notebook.metadata.nmt.drawn.items()):
        any_number = choices == [SEED_WORD]
        new = str(draw.randint(10_000, 99_999)) if any_number else draw.choice(choices)
        chosen[value] = new if seed else value
    pattern = constants(chosen)
    for cell in notebook.cells:
        cell.source = pattern.sub(lambda found: chosen[found[0]], cell.source)
        if cell.metadata.nbgrader.solution and cell.cell_type == "markdown":
            cell.source = SHOWN.sub(lambda m: _shown(m[1]), cell.source)
        if seed and cell.cell_type == "code":
            cell.update(outputs=[], execution_count=None)
    first = notebook.cells[0]
    address = f"{COLAB}/github/{repo}/blob/main/{name}/{name}.ipynb"
    badge = f"[![Open in Colab]({COLAB}/assets/colab-badge.svg)]({address})"
    first.source = links.with_badge(first.source, badge if repo else "")
    return notebook


def _shown(expression: str) -> str:
    """What a function of ``lots`` says about a picture, for a marking scheme."""
    from . import lots

    return str(eval(expression, vars(lots)))


def constants(values: Iterable[str]) -> re.Pattern[str]:
    """Matches the constants as whole words: 23 does not match in 123 or in 0.23."""
    whole = [
        rf"(?<![\w.]){v}(?!\w|\.\d)" if v.isalnum() else re.escape(v) for v in values
    ]
    return re.compile("|".join(whole))


def drawn_constants(source: NotebookNode) -> re.Pattern[str]:
    """Matches every constant that any seed could have drawn."""
    drawn = source.metadata.get("nmt", {}).get("drawn", {})
    every = {choice for value, choices in drawn.items() for choice in (value, *choices)}
    return constants(sorted(every, key=lambda choice: (-len(choice), choice)))


def make(seed: str, repo: str, out: Path) -> None:
    """Writes the course, and the releases by nbgrader's own ``generate_assignment``,
    as a folder that can be a repository of its own. On a shared server, only the
    teacher's account can read the folder.

    A source that a teacher has corrected is kept.

    Raises:
        ValueError: the course cannot be made; the message says why.
        ImportError: nbgrader is missing.
    """
    from nbgrader.apps import NbGraderAPI
    from traitlets.config import PyFileConfigLoader

    from tools import links

    if repo and not re.fullmatch(r"[\w.-]+/[\w.-]+", repo):
        raise ValueError(f"{repo!r} is no owner/name: try make class COURSE=owner/name")
    made = [nbformat.read(path, as_version=4) for path in out.glob("source/*/*.ipynb")]
    if any(old.metadata.nmt.get("seed") != seed for old in made):
        raise ValueError(
            f"{out} holds a class made with another SEED, which its submissions need: "
            "remove that folder if they are graded, or name another one with --out"
        )
    out.mkdir(parents=True, exist_ok=True)
    out.chmod(0o700)  # before solutions are in it
    if not (out / "nbgrader_config.py").exists():  # else the teacher's
        shutil.copy(HERE / "nbgrader_config.py", out)
    config = PyFileConfigLoader("nbgrader_config.py", path=str(out)).load_config()
    api = NbGraderAPI(config=config)
    for name in names():
        target = out / "source" / name / f"{name}.ipynb"
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.exists() and is_changed(nbformat.read(target, as_version=4)):
            print(f"{target} is kept as it was changed: remove it for this version's")
        else:
            notebook = load(name, seed, repo)
            notebook.metadata.nmt.made = text_sum(notebook)
            nbformat.write(notebook, target)
        done = api.generate_assignment(name, force=True, create=True)
        if not done["success"]:
            raise ValueError(f"nbgrader makes no release of {name}: {done['log']}")
        print(f"{name}: release for students in {out / 'release' / name}")
    checks = out / "release/.github/workflows/checks.yml"
    checks.parent.mkdir(parents=True, exist_ok=True)
    text = (ROOT / ".github/classroom.yml").read_text(encoding="utf-8")
    library = "@v".join(links.address())
    checks.write_text(text.replace(links.PLACEHOLDER, library), encoding="utf-8")
    if not links.published():
        print("notebooks install no library: make links REPO=owner/name, and again")
    for path in (out / "gradebook.db", out / "source", *out.glob("source/**/*")):
        path.chmod(0o700 if path.is_dir() else 0o600)


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
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args()
    try:
        make(options.seed, options.repo, options.out)
    except (ImportError, ValueError) as error:
        install = " (pip install '.[class]')" * isinstance(error, ImportError)
        print(f"error: {error}{install}", file=sys.stderr)
        return 2
    drawn = (
        f"constants drawn by seed {options.seed!r}"
        if options.seed
        else "no SEED: the solutions that anyone can read in the sources fit"
    )
    print(
        f"{drawn}; keep {options.out / 'source'} to yourself: it holds "
        "solutions and tests, and make grade reads it"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
