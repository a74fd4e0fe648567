"""Lists the faults of stored notebooks: ``python -m tools.check [NOTEBOOK …]``.

The stored outputs must come from one clean run, first cell to last, in chapters, deeper
pages and the sources of the assignments. A chapter keeps to its frame.
The exit code is 1 if anything is wrong.
"""

from __future__ import annotations

import argparse
import re
import sys
from copy import deepcopy
from itertools import pairwise
from pathlib import Path

import nbformat

from nmt_book.notebook import GUESS_FIRST
from tools import answers, links, run
from tools.answers import ANSWER, EXEMPT

PARAMETERS = 'config = "tiny"\noverrides = ""'
FOLDED, STUB = "hide-input", "# replace this line"
EXPECT = "<summary>What do you expect?"
MAX_BYTES, DEEPER = 1_000_000, 14
LONGEST_CELL, ASSERTS = 14, 8  # open lines
# These differ from run to run or from machine to machine: addresses of objects,
# folders, process ids in warnings.
UNSTABLE = re.compile(
    r"\bat 0x[0-9a-f]{6,}|/(?:home|root|tmp|usr|work|mnt)/"
    r"|ipykernel_\d+|site-packages|Warning:"
)
# A reader should not see comments for tests, branches for a single corpus, or verdicts
# instead of numbers.
MACHINERY = re.compile(
    r"# NBVAL_|\bif (?:not )?tiny\b|\bif french\b"
    r"|print\([^\n]*, True\)|pip install"
)
FRAME = ["**You will be able to**", "**You need**", "**Time:** "]
END = ["## Summary", "## Exercises", "## Where to read on"]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("notebooks", nargs="*", type=Path, help="default: all")
    notebooks = parser.parse_args().notebooks
    notebooks = notebooks or [*links.chapters(), *links.assignments()]
    faults = [f"{path.name}: {fault}" for path in notebooks for fault in problems(path)]
    print(*faults, f"{len(notebooks)} notebooks, {len(faults)} problems", sep="\n")
    return bool(faults)


def tags(cell: nbformat.NotebookNode) -> list[str]:
    return list(cell.metadata.get("tags", []))


def is_hidden(cell: nbformat.NotebookNode) -> bool:
    """Whether JupyterLab folds it."""
    return bool(cell.metadata.get("jupyter", {}).get("source_hidden"))


def start(cell: nbformat.NotebookNode) -> str:
    """Its first line, by which a fault names it."""
    return repr(cell.source.partition("\n")[0])


def problems(path: Path) -> list[str]:
    """The faults of a chapter, a deeper page or the source of an assignment."""
    notebook = answers.read(path)
    faults = [*stored_run(notebook), *alt_texts(notebook)]
    answers.hide(copy := deepcopy(notebook))
    if copy != nbformat.read(path, as_version=4):
        faults.append("an answer is not out of sight: run make notebooks")
    if path.stat().st_size > MAX_BYTES:
        faults.append(f"more than {MAX_BYTES:,} bytes")
    if path.parent.name != "source":  # course.py checks the frame of an assignment
        faults += [*frame(notebook, path), *cells(notebook), *guesses(notebook)]
    return faults


def stored_run(notebook: nbformat.NotebookNode) -> list[str]:
    """One clean run: every code cell executed in order, no error, nothing unstable."""
    faults = []
    code = [c for c in notebook.cells if c.cell_type == "code" and c.source.strip()]
    if [c.execution_count for c in code] != list(range(1, len(code) + 1)):
        faults.append("the code cells are not numbered 1, 2, 3 …: run make notebooks")
    if 3 * sum(EXEMPT in tags(cell) for cell in code) > len(code):
        faults.append("more than a third of the code cells are exempt from comparison")
    for cell in code:
        prefix = f"the cell {start(cell)} stores "
        names = [output.get("name") for output in cell.outputs]
        if any(name and name == follower for name, follower in pairwise(names)):
            faults.append(prefix + "a printed text in parts: run make notebooks")
        for output in cell.outputs:
            data = output.get("data", {})
            text = output.get("text", "") + data.get("text/plain", "")
            if "application/vnd.jupyter.widget-view+json" in data:
                faults.append(prefix + "a widget, which has another id in each run")
            if output.output_type == "error":
                faults.append(prefix + "an error")
            elif output.get("name") == "stderr" and EXEMPT not in tags(cell):
                faults.append(prefix + f"a warning: {text[:60]!r}")
            elif unstable := UNSTABLE.search(text):
                faults.append(prefix + f"what differs elsewhere: {unstable[0]!r}")
    return faults


def frame(notebook: nbformat.NotebookNode, path: Path) -> list[str]:
    """Title, badge, aim, parameters, set-up cell; summary, exercises, reading."""
    faults = []
    main_line = path.parent.name != "deeper"
    parameters, set_up = notebook.cells[1:3]
    used = {tag for cell in notebook.cells for tag in tags(cell)}
    if extra_tags := used - {"parameters", FOLDED, EXEMPT, ANSWER}:
        faults.append(f"unknown tags: {', '.join(sorted(extra_tags))}")
    if "parameters" not in tags(parameters) or parameters.source != PARAMETERS:
        faults.append(f"the second cell must be {PARAMETERS!r}, tagged 'parameters'")
    if not all(is_hidden(c) and FOLDED in tags(c) for c in (parameters, set_up)):
        faults.append("the parameters and the set-up cell must be folded")
    try:
        copy = nbformat.from_dict(notebook)
        links.stamp(copy, path)
        if copy != notebook:
            faults.append("badge or set-up cell is not up to date: run make links")
    except ValueError as error:
        faults.append(str(error))
    text = "\n".join(c.source for c in notebook.cells if c.cell_type == "markdown")
    parts = [f"# {path.name[:2]} · ", *FRAME, *(END if main_line else [])]
    faults += [f"{part!r} is missing" for part in parts if part not in text]
    if main_line:
        _, _, rest = text.partition("## Summary")
        summary, _, exercises = rest.partition("## Exercises")
        if not 3 <= len(re.findall(r"(?m)^\d\. ", summary)) <= 5:
            faults.append("the summary must have three to five numbered lines")
        if re.findall(r"(?m)^### (\d) · ", exercises)[:2] != ["1", "2"]:
            faults.append("there must be two exercises, '### 1 · …' and '### 2 · …'")
        code = [c for c in notebook.cells if c.cell_type == "code"]
        for stub, check in pairwise(code):
            if STUB in stub.source and not check.source.startswith("check."):
                faults.append(f"{start(stub)}: no check follows")
    sections = [int(n) for n in re.findall(r"(?m)^## (\d+) · ", text)]
    if sections != list(range(1, len(sections) + 1)):
        faults.append(f"its sections have the numbers {sections}")
    if text.count("<details>") != text.count("</details>"):
        faults.append("a <details> is not closed")
    for link in re.findall(r"\]\((?!https?://)([^)#]+)", text):
        if not (path.parent / link).exists():
            faults.append(f"dead link {link!r}")
    return faults


def cells(notebook: nbformat.NotebookNode) -> list[str]:
    """Long cells, traces of tests, what is folded in one place only."""
    faults, n_asserts, optional = [], 0, False
    for i, cell in enumerate(notebook.cells):
        if cell.cell_type == "markdown":
            text = re.sub(r"```.*?```|`[^`\n]*`", "", cell.source, flags=re.DOTALL)
            if len(re.findall(r"(?<!\\)\$", text)) % 2:
                faults.append(f"a $ is not closed in the text {cell.source[:40]!r}")
            if re.search(r"(?mi)^#+ .*(going deeper|more time)", cell.source):
                optional = True
            if re.search(r"(?mi)^## going deeper", cell.source):
                if len(notebook.cells) - i > DEEPER:
                    faults.append(f"more than {DEEPER} cells under Going deeper")
                if not cell.metadata.get("jp-MarkdownHeadingCollapsed"):
                    faults.append("Going deeper must be collapsed")
        elif i != 2:  # links.py writes the set-up cell
            if match := MACHINERY.search(cell.source):
                faults.append(f"{start(cell)} shows machinery of tests: {match[0]!r}")
            if is_hidden(cell) != (FOLDED in tags(cell)):
                faults.append(f"{start(cell)} is folded in one of JupyterLab and site")
            if not (is_hidden(cell) or optional or STUB in cell.source):
                # Blank lines and imports do not count.
                lines = re.findall(r"(?m)^ *(?!import |from )(\S.*)", cell.source)
                n_asserts += sum(line.startswith("assert") for line in lines)
                if len(lines) > LONGEST_CELL:
                    faults.append(
                        f"{start(cell)} has more than {LONGEST_CELL} open lines"
                    )
    if n_asserts > ASSERTS:
        faults.append(f"{n_asserts} asserts, the limit is {ASSERTS}")
    return faults


def guesses(notebook: nbformat.NotebookNode) -> list[str]:
    """What answers a question is out of sight, or waits for a guess."""
    faults = []
    for question, cell in pairwise(notebook.cells):
        if cell.cell_type != "code" or not cell.outputs:
            continue
        waits = GUESS_FIRST in str(cell.outputs)
        if EXPECT in question.source and not (ANSWER in tags(cell) or waits):
            faults.append(f"{start(cell)} needs the tag {ANSWER!r}")
        if "compare_guess" in cell.source and not waits:
            faults.append(f"{start(cell)} tells before one has guessed")
    return faults


def alt_texts(notebook: nbformat.NotebookNode) -> list[str]:
    """Each picture has an alt text."""
    images = list(run.images(notebook))
    if not images:
        return ["there is no picture"]
    return [
        f"the picture of {start(cell)} lacks its alt text"
        for cell, output in images
        if not output.metadata.get("image/png", {}).get("alt")
    ]


if __name__ == "__main__":
    sys.exit(main())
