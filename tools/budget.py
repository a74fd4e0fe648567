"""How long a chapter takes to read and to do; check.py compares it with the limits."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import nbformat

STUB = "# replace this line"
FOLDED = {"hide-input", "hide-cell"}
OPTIONAL = r"^#+ .*(going deeper|more time)"  # a heading: what follows is not counted
RATING = r"[●○]{3} difficulty · [●○]{3} importance · \d+ minutes"


def measure(path: Path) -> dict[str, float]:
    """Counts what is visible on the page, and the minutes to read it and to do it.

    Fitted to the clocks of four readers who did every page: a minute is enough for 140
    words, 5.6 lines of code, 9 lines of the library's source or 28 lines of output; a
    picture and a question take 48 seconds each, a formula 32 if it is displayed and 5
    in the text. A stub takes 8 minutes to fill, an exercise without one 3. The code of
    a folded cell is not counted, nor are imports, nor what follows the heading "Going
    deeper" or "If you have more time".
    """
    cells = nbformat.read(path, as_version=4).cells
    n: dict[str, float] = defaultdict(float, {"cells": len(cells)})
    for cell in cells:
        if cell.cell_type == "code":
            _count_code(cell, n)
        elif re.search(OPTIONAL, cell.source, re.I | re.M):
            break
        elif cell.cell_type == "markdown":
            text = re.sub(rf"```.*?```|{RATING}", "", cell.source, flags=re.S)
            n["questions"] += text.count("<details")
            n["display"] += len(re.findall(r"\$\$.+?\$\$", text, re.S))
            n["formulas"] += len(re.findall(r"\$\$.+?\$\$|\$[^$\n]+?\$", text, re.S))
            n["exercises"] += len(re.findall(r"(?m)^### \d+ ·", text))
            marks = r"\[([^\]]*)\]\([^)]*\)|<[^>]+>|https?://\S+"
            n["words"] += len(re.sub(marks, r"\1", text).split())
    text_and_code = n["words"] / 140 + n["code"] / 5.6 + n["source"] / 9
    views = n["output"] / 28 + 0.8 * (n["pictures"] + n["questions"])
    formulas = 0.53 * n["display"] + (n["formulas"] - n["display"]) / 12
    n["reading"] = text_and_code + views + formulas
    n["doing"] = 8 * n["stubs"] + 3 * max(0, n["exercises"] - n["stubs"])
    return n


def _count_code(cell: nbformat.NotebookNode, n: dict[str, float]) -> None:
    """Adds the lines of a code cell and of its outputs."""
    tags = set(cell.metadata.get("tags", []))
    if "hide-cell" in tags:
        return
    bundles = [output.get("data", {}) for output in cell.outputs]
    picture = any({"image/png", "image/svg+xml"} & set(data) for data in bundles)
    n["pictures"] += picture
    for output, data in zip(cell.outputs, bundles, strict=True):
        if "text/html" in data and "show_source" in cell.source:
            n["source"] += re.sub(r"<[^>]+>", "", data["text/html"]).count("\n")
        elif not picture:
            text = output.get("text") or data.get("text/plain", "")
            n["output"] += text.count("\n")
    if STUB in cell.source:
        n["stubs"] += 1
    elif not (tags & FOLDED or cell.metadata.get("jupyter", {}).get("source_hidden")):
        lines = [line.strip() for line in cell.source.splitlines() if line.strip()]
        n["code"] += sum(not re.match("import |from .* import ", x) for x in lines)
        n["longest"] = max(n["longest"], len(lines))
        n["asserts"] += sum(line.startswith("assert") for line in lines)
