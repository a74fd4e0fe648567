"""Writes the sizes of the library's files into README: ``python -m tools.size``.

A size is the number of Python tokens (names, operators, literals), which comments,
docstrings and layout do not change.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LIBRARY = ROOT / "nmt_lib"
LAYOUT = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}
# A file or folder of nmt_lib, and its size.
LINE = re.compile(r"(?m)^([\w/]+(?:\.py|/))( +[\d,]+)(?=  )")


def size(source: str) -> int:
    """The tokens of a Python file."""
    docstrings = {
        node.body[0].lineno
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and ast.get_docstring(node, clean=False) is not None
    }
    return sum(
        token.type not in LAYOUT
        and not (token.type == tokenize.STRING and token.start[0] in docstrings)
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
    )


def total(path: Path) -> int:
    """The tokens of a file, or of all files in a folder."""
    files = path.rglob("*.py") if path.is_dir() else [path]
    return sum(size(file.read_text(encoding="utf-8")) for file in files)


def updated(readme: str) -> str:
    """README with the sizes as they are now."""

    def line(match: re.Match[str]) -> str:
        name, old = match.groups()
        return f"{name}{total(LIBRARY.parent / name):>{len(old)},}"

    return LINE.sub(line, readme)


def main() -> None:
    path = ROOT / "README.md"
    old = path.read_text(encoding="utf-8")
    new = updated(old)
    path.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    main()
