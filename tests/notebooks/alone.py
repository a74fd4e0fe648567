"""Runs each chapter as a reader who has nothing but this chapter: ``make weekly``.

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

from tools import links

ROOT = Path(__file__).resolve().parents[2]
STUB = "# replace this line"


def main() -> int:
    chapters = [Path(name) for name in sys.argv[1:]] or sorted(
        (ROOT / "notebooks").rglob("[0-9]*.ipynb")
    )
    failed = 0
    for chapter in chapters:
        if package := links.lacking(chapter):
            print(f"{chapter.name}: left out, since {package} is not installed")
            continue
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
        files = [f"{folder}/in.ipynb", f"{folder}/out.ipynb"]
        nbformat.write(notebook, files[0])
        options = {"kernel_name": "python3", "cwd": folder, "progress_bar": False}
        try:
            done = papermill.execute_notebook(*files, **options)
        except papermill.PapermillExecutionError as error:
            return f"cell {error.exec_count}: {error.ename}: {error.evalue}"
    cells = done.cells[-len(notebook.cells) :]  # papermill may put some in front
    for stub, answer in answered:
        outputs = [
            out for cell in cells[stub:answer] for out in cell.get("outputs", [])
        ]
        said = str(outputs)
        if "✓ right" not in said or "not written yet" in said:
            return f"the answer of the exercise in cell {stub} is refused: {said!r}"
    return ""


def fill_in(notebook: nbformat.NotebookNode) -> list[tuple[int, int]]:
    """Puts the answers in place of the stubs; returns the indices of both."""
    answered = []
    for i, cell in enumerate(notebook.cells):
        if cell.cell_type == "code" and STUB in cell.source:
            for j, later in enumerate(notebook.cells[i:], start=i):
                answer = re.search(r"```python\n(.*?)```", later.source, re.DOTALL)
                if later.cell_type == "markdown" and answer:
                    cell.source = answer[1]
                    answered.append((i, j))
                    break
    return answered


if __name__ == "__main__":
    sys.exit(main())
