"""How long a chapter is for the person who reads it: the site prints it, and check.py compares it with the limits."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat

FOLDED = {"hide-input", "hide-cell"}


def measure(path: Path) -> dict[str, float]:
    """Counts what lies open on the page, and the minutes that it takes.

    170 words take a minute, or 10 lines of code, 15 lines of the library's source, 40 lines of output; a picture and
    a question take 20 seconds each. The code of a folded cell costs nothing, nor does what stands under a heading
    "Going deeper".
    """
    counts = (
        "words",
        "code",
        "longest",
        "asserts",
        "source",
        "output",
        "pictures",
        "questions",
        "formulas",
    )
    n = dict.fromkeys(counts, 0.0)
    cells = nbformat.read(path, as_version=4).cells
    n["cells"] = len(cells)  # all of them
    for cell in cells:
        if cell.cell_type == "markdown" and re.search(
            r"^#+ .*going deeper", cell.source, re.I | re.M
        ):
            break
        if cell.cell_type == "markdown":
            _text(cell.source, n)
        elif cell.cell_type == "code":
            _code(cell, n)
    n["minutes"] = (
        n["words"] / 170
        + n["code"] / 10
        + n["source"] / 15
        + n["output"] / 40
        + (n["pictures"] + n["questions"]) / 3
    )
    return n


def _text(source: str, n: dict[str, float]) -> None:
    """Adds the words, questions and formulas of a cell of text."""
    text = re.sub(r"```.*?```", "", source, flags=re.S)
    n["questions"] += text.count("<details")
    n["formulas"] += len(re.findall(r"\$\$.+?\$\$|\$[^$\n]+?\$", text, re.S))
    n["words"] += len(
        re.sub(r"\[([^\]]*)\]\([^)]*\)|<[^>]+>|https?://\S+", r"\1", text).split()
    )


def _code(cell: nbformat.NotebookNode, n: dict[str, float]) -> None:
    """Adds the lines of a cell of code and what it shows."""
    tags = set(cell.metadata.get("tags", []))
    if "hide-cell" in tags:
        return
    lines = [line for line in cell.source.splitlines() if line.strip()]
    data = [output.get("data", {}) for output in cell.outputs]
    picture = any("image/png" in shown or "image/svg+xml" in shown for shown in data)
    n["pictures"] += picture
    for output, shown in zip(cell.outputs, data, strict=True):
        if "text/html" in shown and "show_source" in cell.source:
            n["source"] += re.sub(r"<[^>]+>", "", shown["text/html"]).count("\n")
        elif not picture:
            n["output"] += (output.get("text") or shown.get("text/plain", "")).count(
                "\n"
            )
    if not (tags & FOLDED or cell.metadata.get("jupyter", {}).get("source_hidden")):
        n["code"] += len(lines)
        n["longest"] = max(n["longest"], len(lines))
        n["asserts"] += sum(line.strip().startswith("assert") for line in lines)
