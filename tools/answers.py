"""Outputs that answer a question, kept out of sight in a stored notebook.

GitHub, Colab and VS Code fold no outputs: a reader would see the answer before she has
thought. Those of a cell tagged "hide-output" are in its metadata, from which the site
takes them, folded, and the tests, which compare them. nbval alone finds nothing there
to compare.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

ANSWER, EXEMPT = "hide-output", "nbval-ignore-output"


def hide(notebook: NotebookNode) -> None:
    for cell, tags, about in answers(notebook):
        varies = about.get("answer", {}).get("varies", EXEMPT in tags)
        about.answer = {"outputs": cell.outputs, "varies": varies}
        tags += [EXEMPT] * (EXEMPT not in tags)
        cell.outputs = []


def read(path: str | Path, as_version: int = 4) -> NotebookNode:
    """The notebook with all outputs of its run."""
    notebook = nbformat.read(path, as_version)
    for cell, tags, about in answers(notebook):
        if stored := about.pop("answer", {}):
            cell.outputs = stored.outputs
            tags[:] = [tag for tag in tags if tag != EXEMPT or stored.varies]
    return notebook


def answers(notebook: NotebookNode) -> Iterator[tuple[NotebookNode, list[str], Any]]:
    for cell in notebook.cells:
        tags = cell.metadata.get("tags", [])
        if ANSWER in tags:
            yield cell, tags, cell.metadata.setdefault("nmt", NotebookNode())
