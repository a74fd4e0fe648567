"""Says what is wrong with notebooks as stored: ``python notebooks/check.py [NOTEBOOK …]``; exit code 1 if any is bad.

The stored outputs must be those of one clean run from the first cell to the last, in chapters, deeper pages and the
sources of the assignments. A chapter's page keeps its frame and its budget: half an hour for the person who reads it.
"""

from __future__ import annotations

import argparse
import re
import sys
from itertools import pairwise
from pathlib import Path

import nbformat

from tools import budget
from tools import links

HERE = Path(__file__).resolve().parents[1] / "notebooks"
PARAMETERS = 'config = "tiny"\noverrides = ""'
EXEMPT, FOLDED = "nbval-ignore-output", "hide-input"
MAX_BYTES, COLUMNS, DEEPER = 1_000_000, 88, 14
LIMITS = {
    "cells": 70,
    "words": 1800,
    "code": 110,
    "longest": 14,
    "asserts": 10,
    "pictures": 8,
    "minutes": 30,
}
PAGE_LIMITS = LIMITS | {"cells": 40}  # of a page in deeper/
# What differs from run to run or machine to machine: addresses of objects, folders, process ids in warnings.
UNSTABLE = re.compile(
    r"\bat 0x[0-9a-f]{6,}|/(?:home|root|tmp|usr|work|mnt)/|ipykernel_\d+|site-packages|Warning:"
)
# What a reader should not see: comments for tests, branches for one corpus, verdicts in place of numbers.
MACHINERY = re.compile(
    r"# NBVAL_|\bif (?:not )?tiny\b|\bif french\b|print\([^\n]*, True\)|pip install"
)
FORMULA = re.compile(r"\$\$(.+?)\$\$|(?<![\\$])\$([^$\n]+?)\$", re.DOTALL)
# The commands that KaTeX, MathJax and GitHub all know, as far as the chapters need them.
COMMANDS = """
    frac sqrt sum prod log exp sin cos tan max min arg operatorname mathrm mathbf mathbb mathcal text hat bar tilde
    left right begin end alpha beta gamma delta epsilon varepsilon theta lambda mu sigma omega pi Delta Sigma Omega
    cdot times odot oplus approx ne neq le leq ge geq lt gt in notin to leftarrow rightarrow Rightarrow mapsto top infty
    partial nabla lvert rvert lVert rVert lfloor rfloor lceil rceil dots ldots cdots quad qquad sim pm mid colon
    underbrace overline underline limits displaystyle big Big bigl bigr cap cup prime circ ell forall exists not
    subset subseteq wedge vee star langle rangle mathsf mathit equiv propto bigg binom tfrac dfrac
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("notebooks", nargs="*", type=Path, help="default: all")
    notebooks = parser.parse_args().notebooks
    notebooks = notebooks or sorted(
        [*chapters(), *HERE.glob("assignments/source/*.ipynb")]
    )
    found = [
        f"{path.name}: {problem}" for path in notebooks for problem in problems(path)
    ]
    print(table([path for path in notebooks if path.parent.name != "source"]))
    print(
        "\n".join(found)
        or f"{len(notebooks)} notebooks, each stored from one clean run"
    )
    return bool(found)


def chapters() -> list[Path]:
    """The main line, then the deeper pages."""
    return [
        *sorted(HERE.glob("[0-9]*.ipynb")),
        *sorted(HERE.glob("deeper/[0-9]*.ipynb")),
    ]


def table(notebooks: list[Path]) -> str:
    """How long each page is."""
    lines = [f"{'minutes':>7} {'words':>6} {'code':>5} {'cells':>5}"]
    sums = dict.fromkeys(("minutes", "words", "code", "cells"), 0.0)
    for path in notebooks:
        n = budget.measure(path)
        sums = {key: value + n[key] for key, value in sums.items()}
        lines.append(
            f"{n['minutes']:7.1f} {n['words']:6.0f} {n['code']:5.0f} {n['cells']:5.0f}  {path.stem}"
        )
    lines.append(
        f"{sums['minutes']:7.1f} {sums['words']:6.0f} {sums['code']:5.0f} {sums['cells']:5.0f}  all"
    )
    return "\n".join(lines)


def problems(path: Path) -> list[str]:
    """What is wrong with a chapter, a deeper page or the source of an assignment, one sentence each."""
    notebook = nbformat.read(path, as_version=4)
    found = [*stored_run(notebook), *pictures(notebook), *size(path)]
    if path.parent.name == "source":  # course.py knows their frame
        return found
    return [*frame(notebook, path), *page(notebook, path), *formulas(notebook), *found]


def stored_run(notebook: nbformat.NotebookNode) -> list[str]:
    """One clean run: every code cell executed, counted from 1 in order, no error, no warning, nothing unstable."""
    found = []
    cells = [
        cell
        for cell in notebook.cells
        if cell.cell_type == "code" and cell.source.strip()
    ]
    counts = [cell.execution_count for cell in cells]
    if counts != list(range(1, len(cells) + 1)):
        found.append(
            f"the code cells are numbered {counts}, not 1 to {len(cells)}: run make notebooks"
        )
    for cell in cells:
        first = cell.source.splitlines()[0]
        names = [output.get("name") for output in cell.outputs]
        exempt = EXEMPT in cell.metadata.get("tags", [])
        if any(name and name == after for name, after in pairwise(names)):
            found.append(
                f"the cell {first!r} stores a printed text in pieces: run make notebooks"
            )
        for output in cell.outputs:
            text = str(output.get("text", "")) + str(
                output.get("data", {}).get("text/plain", "")
            )
            if output.output_type == "error":
                found.append(f"the cell {first!r} stores an error")
            elif output.get("name") == "stderr" and not exempt:
                found.append(f"the cell {first!r} stores a warning: {text[:60]!r}")
            elif UNSTABLE.search(text):
                found.append(
                    f"the cell {first!r} stores what differs elsewhere: {UNSTABLE.search(text)[0]!r}"
                )
    exempt = sum(EXEMPT in cell.metadata.get("tags", []) for cell in cells)
    if 3 * exempt > len(cells):
        found.append(
            f"{exempt} of {len(cells)} code cells are exempt from comparison: a third is the limit"
        )
    return found


def frame(notebook: nbformat.NotebookNode, path: Path) -> list[str]:
    """Title, badge, aim, parameters, set-up cell; summary, exercises, where to read on; no dead link."""
    found = []
    deeper = path.parent.name == "deeper"
    tags = [cell.metadata.get("tags", []) for cell in notebook.cells]
    if [i for i, names in enumerate(tags) if "parameters" in names] != [1]:
        found.append("one cell, the second, has the tag 'parameters'")
    strange = {tag for names in tags for tag in names} - {"parameters", FOLDED, EXEMPT}
    if strange:
        found.append(f"unknown tags: {', '.join(sorted(strange))}")
    if notebook.cells[1].source != PARAMETERS:
        found.append(f"the second cell must be {PARAMETERS!r}")
    if not folded(notebook.cells[1]) or not folded(notebook.cells[2]):
        found.append("the parameters and the set-up cell must be folded")
    stamped = nbformat.from_dict(notebook)
    before = [cell.source for cell in stamped.cells]
    try:
        links.stamp(
            stamped, f"deeper/{path.name}" if deeper else path.name, *links.address()
        )
    except ValueError as error:
        found.append(str(error))
    if [cell.source for cell in stamped.cells] != before:
        found.append(
            "badge or set-up cell is not the one of pyproject.toml: run make links"
        )
    text = "\n".join(
        cell.source for cell in notebook.cells if cell.cell_type == "markdown"
    )
    parts = [
        f"# {path.name[:2]} · ",
        "**You will be able to**",
        "**You need**",
        "**Time:** about ",
    ]
    parts += [] if deeper else ["## Summary", "## Exercises", "## Where to read on"]
    found += [f"{part!r} is missing" for part in parts if part not in text]
    if not deeper:
        summary = text.partition("## Summary")[2].partition("## Exercises")[0]
        if not 3 <= len(re.findall(r"(?m)^\d\. ", summary)) <= 5:
            found.append("the summary must have three to five numbered lines")
        exercises = text.partition("## Exercises")[2].partition("## Where to read on")[
            0
        ]
        if re.findall(r"(?m)^### (\d) · ", exercises) != ["1", "2"]:
            found.append("there must be two exercises, '### 1 · …' and '### 2 · …'")
        code = "\n".join(
            cell.source for cell in notebook.cells if cell.cell_type == "code"
        )
        if "# replace this line" not in code or "not written yet" not in code:
            found.append(
                "an exercise with a stub ('# replace this line') and a check ('not written yet') is missing"
            )
    if text.count("<details>") != text.count("</details>"):
        found.append("a <details> is not closed")
    for link in re.findall(r"\]\((?!https?://)([^)#]+)", text):
        if not (path.parent / link).exists():
            found.append(f"dead link {link!r}")
    return found


def folded(cell: nbformat.NotebookNode) -> bool:
    return bool(
        cell.metadata.get("jupyter", {}).get("source_hidden")
    ) and FOLDED in cell.metadata.get("tags", [])


def page(notebook: nbformat.NotebookNode, path: Path) -> list[str]:
    """The budget, the columns, what goes deeper, and no machinery of tests in the open."""
    measured = budget.measure(path)
    limits = PAGE_LIMITS if path.parent.name == "deeper" else LIMITS
    found = [
        f"{key}: {measured[key]:.1f}, {limit} is the limit"
        for key, limit in limits.items()
        if measured[key] > limit
    ]
    said = re.search(r"\*\*Time:\*\* about (\d+) minutes", notebook.cells[0].source)
    if said and abs(int(said[1]) - measured["minutes"]) > 1.5:
        found.append(
            f"its first cell says {said[1]} minutes, but it takes {measured['minutes']:.0f}"
        )
    heads = [
        i
        for i, cell in enumerate(notebook.cells)
        if re.search(r"(?mi)^## going deeper", cell.source)
    ]
    if heads and len(notebook.cells) - heads[0] > DEEPER:
        found.append(
            f"{len(notebook.cells) - heads[0]} cells under Going deeper: {DEEPER} is the limit"
        )
    if heads and not notebook.cells[heads[0]].metadata.get(
        "jp-MarkdownHeadingCollapsed"
    ):
        found.append("Going deeper must be collapsed when the notebook opens")
    for i, cell in enumerate(notebook.cells):
        if (
            cell.cell_type != "code" or i == 2
        ):  # the set-up cell stands as links.py writes it
            continue
        first = cell.source.splitlines()[0]
        wide = [
            line.strip() for line in cell.source.splitlines() if len(line) > COLUMNS
        ]
        if wide:
            found.append(f"the line {wide[0]!r} is longer than {COLUMNS} columns")
        if MACHINERY.search(cell.source):
            found.append(
                f"the cell {first!r} shows the machinery of tests: {MACHINERY.search(cell.source)[0]!r}"
            )
        if bool(cell.metadata.get("jupyter", {}).get("source_hidden")) != (
            FOLDED in cell.metadata.get("tags", [])
        ):
            found.append(
                f"the cell {first!r} is folded in JupyterLab or on the site, but not in both"
            )
    return found


def formulas(notebook: nbformat.NotebookNode) -> list[str]:
    """Formulas whose braces and environments do not close, or with a command that a renderer may not know."""
    found = []
    for cell in notebook.cells:
        if cell.cell_type != "markdown":
            continue
        text = re.sub(r"```.*?```|`[^`\n]*`", "", cell.source, flags=re.DOTALL)
        if len(re.findall(r"(?<!\\)\$", text)) % 2:
            found.append(f"a $ is not closed in the text {cell.source[:40]!r}")
        for display, inline in FORMULA.findall(text):
            formula = display or inline
            bare = re.sub(r"\\[\\{}$%#&_|]", " ", formula)
            unknown = set(re.findall(r"\\([A-Za-z]+)", bare)) - set(COMMANDS.split())
            opened, closed = (
                re.findall(rf"\\{word}\{{(\w+\*?)\}}", bare)
                for word in ("begin", "end")
            )
            paired = bare.count("\\left") - bare.count("\\leftarrow") == bare.count(
                "\\right"
            ) - bare.count("\\rightarrow")
            if unknown or opened != closed or not paired or not balanced(bare):
                why = (
                    f"unknown command {', '.join(sorted(unknown))}"
                    if unknown
                    else "something is not closed"
                )
                found.append(f"the formula {formula.strip()[:60]!r}: {why}")
    return found


def balanced(formula: str) -> bool:
    depth = 0
    for character in formula:
        depth += (character == "{") - (character == "}")
        if depth < 0:
            return False
    return depth == 0


def pictures(notebook: nbformat.NotebookNode) -> list[str]:
    """Each picture has its text for those who cannot see it."""
    found, count = [], 0
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if "image/png" in output.get("data", {}):
                count += 1
                if not output.metadata.get("image/png", {}).get("alt"):
                    found.append(
                        f"the picture of {cell.source.splitlines()[0]!r} lacks its alt text (metadata nmt.alt)"
                    )
    return found if count else ["there is no picture"]


def size(path: Path) -> list[str]:
    """Below one megabyte."""
    n_bytes = path.stat().st_size
    return (
        []
        if n_bytes < MAX_BYTES
        else [f"{n_bytes:,} bytes: {MAX_BYTES:,} is the limit"]
    )


if __name__ == "__main__":
    sys.exit(main())
