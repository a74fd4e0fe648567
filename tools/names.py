"""The API page: every public name once, below the file that defines it."""

from __future__ import annotations

import ast
import inspect
import re
from importlib import import_module

import nbformat

import nmt_lib as nmt
from tools.links import NOTEBOOKS, ROOT

# It lists the public names in reading order, file by file.
STUB = ROOT / "nmt_lib" / "__init__.pyi"


def page(repository: str) -> str:
    """The page as Markdown: a heading for each file, and where its names are taught."""
    names: dict[str, list[str]] = {}
    for node in ast.parse(STUB.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.module:
            found = names.setdefault(node.module, [])
            found += [alias.name for alias in node.names]
    parts = []
    for module, found in names.items():
        about = (import_module(f"nmt_lib.{module}").__doc__ or "").split("\n\n")[0]
        file = f"nmt_lib/{module.replace('.', '/')}.py"
        parts += [
            f"## {module}",
            f"{about} [{file}]({repository}/{file}){taught(found)}",
        ]
        parts += ["```{eval-rst}", *map(directive, found), "```"]
    return "\n\n".join(parts)


def taught(names: list[str]) -> str:
    """Links to the chapters that show the source of one of these names."""
    pattern = re.compile(rf"show_source\(\s*nmt\.({'|'.join(map(re.escape, names))})\b")
    links = []
    for path in sorted(NOTEBOOKS.glob("[0-9]*.ipynb")):
        cells = nbformat.read(path, as_version=4).cells
        if any(pattern.search(cell.source) for cell in cells):
            title = cells[0].source.partition("\n")[0].strip("# ").partition(":")[0]
            links.append(f"[{title}](/notebooks/{path.name})")
    return f" · taught in chapter {', '.join(links)}" if links else ""


def directive(name: str) -> str:
    """The directive that makes Sphinx document one public name."""
    thing = getattr(nmt, name)
    if inspect.isclass(thing):
        return f".. autoclass:: nmt_lib.{name}\n   :members:\n"
    if inspect.isroutine(thing):
        return f".. autofunction:: nmt_lib.{name}\n"
    return f".. py:data:: nmt_lib.{name}\n   :value: {thing!r}\n"
