"""Says what is wrong with notebooks as stored: ``python notebooks/check.py [NOTEBOOK …]``; exit code 1 if any is bad.

The stored outputs must be those of one clean run from the first cell to the last, in chapters and in the sources of the
assignments; and every chapter has the same frame.
"""

from __future__ import annotations

import argparse
import re
import sys
from itertools import pairwise
from pathlib import Path

import nbformat

sys.path.insert(0, str(Path(__file__).resolve().parent))
import links

HERE = Path(__file__).resolve().parent
PARAMETERS = 'config = "tiny"\noverrides = ""'
EXEMPT = "# NBVAL_IGNORE_OUTPUT"
MAX_BYTES = 1_000_000
# What differs from run to run or machine to machine: addresses of objects, folders, process ids in warnings.
UNSTABLE = re.compile(r"\bat 0x[0-9a-f]{6,}|/(?:home|root|tmp|usr|work|mnt)/|ipykernel_\d+|site-packages|Warning:")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("notebooks", nargs="*", type=Path, help="default: all")
    notebooks = parser.parse_args().notebooks
    notebooks = notebooks or sorted([*HERE.glob("[0-9]*.ipynb"), *HERE.glob("assignments/source/*.ipynb")])
    found = [f"{path.name}: {problem}" for path in notebooks for problem in problems(path)]
    print("\n".join(found) or f"{len(notebooks)} notebooks, each stored from one clean run")
    return bool(found)


def problems(path: Path) -> list[str]:
    """What is wrong with a chapter or the source of an assignment, one sentence each."""
    notebook = nbformat.read(path, as_version=4)
    found = [*stored_run(notebook), *pictures(notebook), *size(path)]
    return found if path.parent.name == "source" else frame(notebook, path) + found  # course.py knows their frame


def stored_run(notebook: nbformat.NotebookNode) -> list[str]:
    """One clean run: every code cell executed, counted from 1 in order, no error, no warning, nothing unstable."""
    found = []
    cells = [cell for cell in notebook.cells if cell.cell_type == "code" and cell.source.strip()]
    counts = [cell.execution_count for cell in cells]
    if counts != list(range(1, len(cells) + 1)):
        found.append(f"the code cells are numbered {counts}, not 1 to {len(cells)}: run make notebooks")
    for cell in cells:
        first = cell.source.splitlines()[0]
        names = [output.get("name") for output in cell.outputs]
        if any(name and name == after for name, after in pairwise(names)):
            found.append(f"the cell {first!r} stores a printed text in pieces: run make notebooks")
        for output in cell.outputs:
            text = str(output.get("text", "")) + str(output.get("data", {}).get("text/plain", ""))
            if output.output_type == "error":
                found.append(f"the cell {first!r} stores an error")
            elif output.get("name") == "stderr" and EXEMPT not in cell.source:
                found.append(f"the cell {first!r} stores a warning: {text[:60]!r}")
            elif UNSTABLE.search(text):
                found.append(f"the cell {first!r} stores what differs elsewhere: {UNSTABLE.search(text)[0]!r}")
    exempt = sum(EXEMPT in cell.source for cell in cells)
    if 3 * exempt > len(cells):
        found.append(f"{exempt} of {len(cells)} code cells are exempt from comparison: a third is the limit")
    return found


def frame(notebook: nbformat.NotebookNode, path: Path) -> list[str]:
    """Title, badge, aim, parameters, set-up cell; questions, summary, exercises, where to read on; no dead link."""
    found = []
    if [tag for cell in notebook.cells for tag in cell.metadata.get("tags", [])] != ["parameters"]:
        found.append("one cell, the second, has a tag, and it is 'parameters'")
    if notebook.cells[1].source != PARAMETERS:
        found.append(f"the second cell must be {PARAMETERS!r}")
    stamped = nbformat.from_dict(notebook)
    before = [cell.source for cell in stamped.cells]
    try:
        links.stamp(stamped, path.name, *links.address())
    except ValueError as error:
        found.append(str(error))
    if [cell.source for cell in stamped.cells] != before:
        found.append("badge or set-up cell is not the one of pyproject.toml: run make links")
    text = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    number = path.name[:2]
    for part in (
        f"# {number} · ",
        "**You will be able to**",
        "**You need**",
        "**Time:**",
        "## Exercises",
        "## Where to read on",
    ):
        if part not in text:
            found.append(f"{part!r} is missing")
    summary = text.partition("## Summary")[2].partition("## Exercises")[0]
    if re.findall(r"(?m)^(\d)\. ", summary) != list("12345"):
        found.append("the summary must have five numbered lines")
    if text.count("What do you expect?") < 2 or text.count("<details>") != text.count("</details>"):
        found.append("at least two 'What do you expect?', each with an answer to unfold")
    code = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
    if "# replace this line" not in code or "not written yet" not in code:
        found.append("an exercise with a stub ('# replace this line') and a check ('not written yet') is missing")
    for link in re.findall(r"\]\((?!https?://)([^)#]+)", text):
        if not (path.parent / link).exists():
            found.append(f"dead link {link!r}")
    return found


def pictures(notebook: nbformat.NotebookNode) -> list[str]:
    """Each picture has its text for those who cannot see it."""
    found, count = [], 0
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if "image/png" in output.get("data", {}):
                count += 1
                if not output.metadata.get("image/png", {}).get("alt"):
                    first = cell.source.splitlines()[0]
                    found.append(
                        f"the picture of {first!r} has no alt text: 'nmt': {{'alt': …}} in its cell's metadata"
                    )
    return found if count else ["there is no picture"]


def size(path: Path) -> list[str]:
    """Below one megabyte."""
    n_bytes = path.stat().st_size
    return [] if n_bytes < MAX_BYTES else [f"{n_bytes:,} bytes: {MAX_BYTES:,} is the limit"]


if __name__ == "__main__":
    sys.exit(main())
