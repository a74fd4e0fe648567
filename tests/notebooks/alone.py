"""Runs each chapter as a reader who has nothing but this chapter: ``make alone``.

Nothing is trained yet, and the working directory is another one. The answers that the
chapter prints replace the stubs of the exercises, and must pass the chapter's checks.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
import time
from pathlib import Path

import nbformat
import papermill

ROOT = Path(__file__).resolve().parents[2]
STUB = "# replace this line"


def main() -> int:
    chapters = [Path(name) for name in sys.argv[1:]] or sorted(
        (ROOT / "notebooks").rglob("[0-9]*.ipynb")
    )
    failed = 0
    for chapter in chapters:
        start = time.time()
        problem = run_alone(chapter)
        failed += bool(problem)
        print(
            f"{chapter.name}: {time.time() - start:.0f} s, {problem or 'fine'}",
            flush=True,
        )
    return bool(failed)


def run_alone(chapter: Path) -> str:
    """What went wrong, or nothing."""
    notebook = nbformat.read(chapter, as_version=4)
    answered = fill_in(notebook)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["NMT_RUNS"] = f"{folder}/runs"
        nbformat.write(notebook, f"{folder}/in.ipynb")
        try:
            papermill.execute_notebook(
                f"{folder}/in.ipynb",
                f"{folder}/out.ipynb",
                {},
                kernel_name="python3",
                cwd=folder,
                progress_bar=False,
            )
        except papermill.PapermillExecutionError as error:
            return f"cell {error.exec_count}: {error.ename}: {error.evalue}"
        cells = nbformat.read(f"{folder}/out.ipynb", as_version=4).cells[
            -len(notebook.cells) :
        ]  # without papermill's
    for stub, answer in answered:
        said = "".join(
            out.get("text", "")
            for cell in cells[stub:answer]
            for out in cell.get("outputs", [])
        )
        if "right" not in said or "not written yet" in said:
            return f"the answer of the exercise in cell {stub} is refused: {said!r}"
    return ""


def fill_in(notebook: nbformat.NotebookNode) -> list[tuple[int, int]]:
    """Puts the answers in place of the stubs; returns the indices of both."""
    answered = []
    for i, cell in enumerate(notebook.cells):
        if cell.cell_type == "code" and STUB in cell.source:
            later = (
                (j, c)
                for j, c in enumerate(notebook.cells)
                if j > i and c.cell_type == "markdown"
            )
            answer = next(
                (j, found)
                for j, c in later
                if (found := re.search(r"```python\n(.*?)```", c.source, re.DOTALL))
            )
            cell.source = answer[1][1]
            answered.append((i, answer[0]))
    return answered


if __name__ == "__main__":
    sys.exit(main())
