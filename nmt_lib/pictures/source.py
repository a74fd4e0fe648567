"""What the chapters use beside the library itself."""

from __future__ import annotations

import ast
import inspect
import textwrap
from typing import Any

STYLE = "font-family: monospace; font-size: 13px; line-height: 1.35; background: #f8f8f8; color: #222; padding: 6px"


def show_source(thing: Any) -> Any:
    """The library's own source of a function, method or class, coloured, so that a chapter never holds a copy of it."""
    from IPython.display import HTML
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import PythonLexer

    source = without_docstrings(textwrap.dedent(inspect.getsource(thing)))
    return HTML(
        highlight(
            source,
            PythonLexer(),
            HtmlFormatter(noclasses=True, nobackground=True, prestyles=STYLE),
        )
    )


def without_docstrings(source: str) -> str:
    """Python source without the docstrings of its functions and classes, all else as it stands."""
    lines = source.splitlines()
    hidden: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if (
            isinstance(node, (ast.FunctionDef, ast.ClassDef))
            and ast.get_docstring(node)
            and len(node.body) > 1
        ):
            hidden |= set(range(node.body[0].lineno - 1, node.body[0].end_lineno or 0))
    kept = [
        line
        for i, line in enumerate(lines)
        if i not in hidden and not (i - 1 in hidden and not line.strip())
    ]
    return "\n".join(kept)
