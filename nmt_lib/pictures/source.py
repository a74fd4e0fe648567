"""The library's source, as the chapters show it."""

from __future__ import annotations

import ast
import inspect
import textwrap
from typing import Any

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

STYLE = (
    "font-family: monospace; font-size: 13px; line-height: 1.35; "
    "background: #f8f8f8; color: #222; padding: 6px"
)


class Html:
    """HTML that a notebook shows as an output; ``data`` holds it."""

    def __init__(self, data: str) -> None:
        self.data = data

    def __repr__(self) -> str:
        return "<Html>"

    def _repr_html_(self) -> str:
        return self.data


def show_source(thing: Any) -> Html:
    """The source of a function, method or class, with syntax highlighting.

    Docstrings are left out, because the chapter explains the same in other words.
    """
    source = without_docstrings(textwrap.dedent(inspect.getsource(thing)))
    look = HtmlFormatter(noclasses=True, nobackground=True, prestyles=STYLE)
    return Html(highlight(source, PythonLexer(), look))


def without_docstrings(source: str) -> str:
    """Python source without the docstrings of its functions and classes."""
    lines, hidden = source.splitlines(), set[int]()
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.FunctionDef | ast.ClassDef) or len(node.body) < 2:
            continue
        if ast.get_docstring(node):
            end = node.body[0].end_lineno or 0
            blank = end < len(lines) and not lines[end].strip()  # below the docstring
            hidden |= set(range(node.body[0].lineno - 1, end + blank))
    return "\n".join(line for i, line in enumerate(lines) if i not in hidden)
