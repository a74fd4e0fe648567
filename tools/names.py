"""The API page: every public name once, below the file that defines it.

``__init__.pyi`` of each package lists them in reading order, file by file.
"""

from __future__ import annotations

import ast
import inspect
import re
from importlib import import_module
from types import ModuleType

import nbformat

import nmt_book as book
import nmt_lib as nmt
from tools.links import NOTEBOOKS, ROOT


def page(repository: str) -> str:
    """The page as Markdown: a heading for each file, and where its names are taught."""
    parts = []
    for package in (nmt, book):
        names: dict[str, list[str]] = {}
        stub = ROOT / package.__name__ / "__init__.pyi"
        for node in ast.parse(stub.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ImportFrom) and node.module:
                names.setdefault(node.module, []).extend(a.name for a in node.names)
        for module, members in names.items():
            path = f"{package.__name__}.{module}"
            summary = (import_module(path).__doc__ or "").split("\n\n")[0]
            file = f"{path.replace('.', '/')}.py"
            parts += [
                f"## {module}",
                f"{summary} [{file}]({repository}/{file}){chapters(members)}",
                "```{eval-rst}",
                *(directive(package, name) for name in members),
                "```",
            ]
    return "\n\n".join(parts)


def chapters(names: list[str]) -> str:
    """Links to the chapters that show the source of one of these names."""
    pattern = re.compile(rf"show_source\(\s*nmt\.({'|'.join(map(re.escape, names))})\b")
    links = []
    for path in sorted(NOTEBOOKS.glob("[0-9]*.ipynb")):
        cells = nbformat.read(path, as_version=4).cells
        if any(pattern.search(cell.source) for cell in cells):
            title = cells[0].source.partition("\n")[0].strip("# ").partition(":")[0]
            links.append(f"[{title}](/notebooks/{path.name})")
    return f" · taught in chapter {', '.join(links)}" if links else ""


def directive(package: ModuleType, name: str) -> str:
    """The directive that makes Sphinx document one public name."""
    thing, path = getattr(package, name), f"{package.__name__}.{name}"
    if inspect.isclass(thing) and thing.__name__ == name:
        return f".. autoclass:: {path}\n   :members:\n"
    if inspect.isroutine(thing):
        return f".. autofunction:: {path}\n"
    value = getattr(thing, "__name__", repr(thing))
    return f".. py:data:: {path}\n   :value: {value}\n"
