"""The API page: every public name once, below the file that defines it."""

from __future__ import annotations

import ast
import inspect
from importlib import import_module

import nmt_lib as nmt
from tools.links import ROOT

# It lists the public names in reading order, file by file.
STUB = ROOT / "nmt_lib" / "__init__.pyi"


def page(repository: str) -> str:
    """The page as Markdown."""
    parts = []
    for node in ast.parse(STUB.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom):
            module = import_module(f"nmt_lib.{node.module}")
            about = (module.__doc__ or "").split("\n\n")[0]
            file = f"nmt_lib/{(node.module or '').replace('.', '/')}.py"
            parts += [f"## {node.module}", f"{about} [{file}]({repository}/{file})"]
            parts += ["```{eval-rst}"]
            parts += [directive(alias.name) for alias in node.names] + ["```"]
    return "\n\n".join(parts)


def directive(name: str) -> str:
    """The directive that makes Sphinx document one public name."""
    thing = getattr(nmt, name)
    if inspect.isclass(thing):
        return f".. autoclass:: nmt_lib.{name}\n   :members:\n"
    if inspect.isroutine(thing):
        return f".. autofunction:: nmt_lib.{name}\n"
    return f".. py:data:: nmt_lib.{name}\n   :value: {thing!r}\n"
