"""The text of a reader's function, with the helpers and imports that it names."""

from __future__ import annotations

import ast
import inspect
import linecache
import sys
from collections.abc import Iterator
from contextlib import suppress
from symtable import symtable
from typing import Any

MOST_LETTERS = 20_000


class NotKept(Exception):
    """A function whose text alone would not run, with the reason."""


def full_source(function: Any) -> str:
    """The text of a function or class, after that of all that it names in its notebook.

    Raises:
        NotKept: the reason why it could not run elsewhere.
    """
    parts, texts = _functions(function), list[str]()
    if not parts or not definition(function):
        raise NotKept("it is no function or class that begins a line of a cell")
    _add(function.__name__, function, parts[0].__globals__, set(), texts)
    text = "\n".join(texts)
    if len(text) > MOST_LETTERS:
        raise NotKept(f"its text has more than {MOST_LETTERS:,} letters")
    return text


def _add(
    name: str, value: Any, notebook: dict[str, Any], seen: set[str], texts: list[str]
) -> None:
    """Adds the text that gives a value its name, after what this text needs."""
    seen.add(name)
    if len(seen) > 1 and (text := statement(name, value)):
        return texts.append(text)
    if not (text := definition(value)):
        raise NotKept(
            f"it uses {name}, which is no function, module, number or text: "
            "put it inside"
        )
    for other in _global_names(text):
        if other in notebook and other not in seen:
            _add(other, notebook[other], notebook, seen, texts)
    title = value.__name__
    texts.append(text if title == name else f"{text}{name} = {title}\n")


def statement(name: str, value: Any) -> str:
    """An import or assignment that gives a value its name; empty if there is none."""
    if inspect.ismodule(value):
        return f"import {value.__name__} as {name}\n"
    title = getattr(value, "__qualname__", getattr(value, "__name__", ""))
    module = getattr(value, "__module__", None)
    for place in (module, type(value).__module__, "torch", "math"):
        if place != "__main__" and title:
            there = getattr(sys.modules.get(place or ""), title, None)
            if there is value:
                return f"from {place} import {title} as {name}\n"
            if getattr(there, "right", None) is value:  # the answer of an exercise
                return f"from {place} import {title} as {name}\n{name} = {name}.right\n"
    with suppress(Exception):  # of a foreign repr, or of what it says
        if ast.literal_eval(repr(value)) == value:
            return f"{name} = {value!r}\n"
    return ""


def definition(value: Any) -> str:
    """The text of a function or class, cut out of its file or cell; or an empty text.

    ``inspect.getsource`` does not find a class that a notebook defines.
    """
    for file in {function.__code__.co_filename for function in _functions(value)}:
        lines = linecache.getlines(file)
        with suppress(SyntaxError):
            for node in reversed(ast.parse("".join(lines)).body):
                if getattr(node, "name", "") == value.__name__:
                    decorators = getattr(node, "decorator_list", [])
                    first = min(part.lineno for part in [node, *decorators])
                    return "".join(lines[first - 1 : node.end_lineno]).rstrip() + "\n"
    return ""


def _functions(value: Any) -> list[Any]:
    """A function itself, or the methods of a class."""
    value = inspect.unwrap(value)
    parts = vars(value).values() if inspect.isclass(value) else [value]
    return [part for part in parts if inspect.isfunction(part)]


def _global_names(text: str) -> Iterator[str]:
    """The global names that a text reads, also inside its functions."""
    tables = [symtable(text, "", "exec")]
    for table in tables:
        tables += table.get_children()
        for symbol in table.get_symbols():
            if symbol.is_referenced() and symbol.is_global():
                yield symbol.get_name()
