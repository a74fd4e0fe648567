"""What several chapters call: the library's source, the answer to a guess."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Sequence
from typing import Any

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from .exercise.values import show
from .web import Html

STYLE = (
    "font-family: monospace; font-size: 13px; line-height: 1.35; "
    "background: #f8f8f8; color: #222; padding: 6px"
)

GUESS_FIRST = "Your guess first: write it in place of None, and run the cells again."
IdPair = tuple[list[int], list[int]]  # of a source and its target

# fmt: on


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


def compare_guess(guess: Any, measured: Any, unit: str = "") -> None:
    """Prints a measured value beside the reader's guess; with None, asks for one."""
    print(
        GUESS_FIRST
        if guess is None
        else f"measured: {show(measured)}{unit}   your guess: {show(guess)}{unit}"
    )


def long_and_short(pairs: Sequence[IdPair]) -> tuple[IdPair, IdPair]:
    """A pair that is longer than the shortest on both sides, of unequal lengths."""
    by_length = sorted(pairs, key=lambda pair: len(pair[0]) + len(pair[1]))
    short = by_length[0]
    longer = [
        (src, tgt)
        for src, tgt in by_length
        if len(src) > len(short[0]) + 2 and len(short[1]) + 1 < len(tgt) < len(src)
    ]
    return longer[0] if longer else by_length[-1], short
