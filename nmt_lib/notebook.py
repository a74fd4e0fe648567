"""What the chapters use beside the library itself."""

from __future__ import annotations

import inspect
from typing import Any


def show_source(thing: Any, docstring: bool = False) -> Any:
    """The library's own source of a function or class, coloured, so that a chapter never holds a copy of it.

    Args:
        thing: a function, method or class.
        docstring: show its docstring too.
    """
    from IPython.display import Code

    source = inspect.cleandoc("\n" + inspect.getsource(thing))
    doc = inspect.getdoc(thing)
    if not docstring and doc:
        source = without_docstrings(source)
    return Code(source, language="python")


def without_docstrings(source: str) -> str:
    """Python source without the docstrings of its functions and classes."""
    import ast

    lines = source.splitlines()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node) and len(node.body) > 1:
            first = node.body[0]
            lines[first.lineno - 1 : first.end_lineno] = [""] * ((first.end_lineno or 0) - first.lineno + 1)
            lines[first.lineno - 1] = "\0"
    text = "\n".join(line for line in lines)
    import re

    return re.sub(r"\0\n*", "", text)
