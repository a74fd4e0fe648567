"""How long a chapter takes to read: check.py compares it with the limits."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import nbformat

FOLDED = {"hide-input", "hide-cell"}


def measure(path: Path) -> dict[str, float]:
    """Counts what is open on the page, and the minutes that it takes to read.

    In a minute one reads 170 words, 10 lines of code, 15 lines of the library's source
    or 40 lines of output; a picture and a question take 20 seconds each. The code of a
    folded cell is not counted, nor is what follows the heading "Going deeper".
    """
    cells = nbformat.read(path, as_version=4).cells
    n: dict[str, float] = defaultdict(float, {"cells": len(cells)})
    for cell in cells:
        if cell.cell_type == "code":
            _count_code(cell, n)
        elif re.search(r"^#+ .*going deeper", cell.source, re.I | re.M):
            break
        elif cell.cell_type == "markdown":
            text = re.sub(r"```.*?```", "", cell.source, flags=re.S)
            n["questions"] += text.count("<details")
            marks = r"\[([^\]]*)\]\([^)]*\)|<[^>]+>|https?://\S+"
            n["words"] += len(re.sub(marks, r"\1", text).split())
    text_and_code = n["words"] / 170 + n["code"] / 10 + n["source"] / 15
    shown = n["output"] / 40 + (n["pictures"] + n["questions"]) / 3
    n["minutes"] = text_and_code + shown
    return n


def _count_code(cell: nbformat.NotebookNode, n: dict[str, float]) -> None:
    """Adds the lines of a code cell and what it shows."""
    tags = set(cell.metadata.get("tags", []))
    if "hide-cell" in tags:
        return
    shown = [output.get("data", {}) for output in cell.outputs]
    picture = any({"image/png", "image/svg+xml"} & set(data) for data in shown)
    n["pictures"] += picture
    for output, data in zip(cell.outputs, shown, strict=True):
        if "text/html" in data and "show_source" in cell.source:
            n["source"] += re.sub(r"<[^>]+>", "", data["text/html"]).count("\n")
        elif not picture:
            text = output.get("text") or data.get("text/plain", "")
            n["output"] += text.count("\n")
    if not (tags & FOLDED or cell.metadata.get("jupyter", {}).get("source_hidden")):
        lines = [line.strip() for line in cell.source.splitlines() if line.strip()]
        n["code"] += len(lines)
        n["longest"] = max(n["longest"], len(lines))
        n["asserts"] += sum(line.startswith("assert") for line in lines)
