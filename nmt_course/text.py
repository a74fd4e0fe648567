"""Texts of students, made harmless for where they are shown."""

from __future__ import annotations

CELL = 20_000  # characters of a cell, of a notebook or a table, that are shown


def letters(text: str) -> str:
    """Without control characters; what is no Unicode is spelled out."""
    text = text.encode("utf-8", "backslashreplace").decode()
    return "".join(c if c.isprintable() or c in "\n\t" else " " * c.isspace() for c in text)


def safe(text: str) -> str:
    """No spreadsheet takes it for a formula, and no broken character stops the file."""
    text = letters(text)[:CELL]
    return "'" + text if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text


def clean(text: str) -> str:
    """For a terminal: what it would obey, and what is no letter, is spelled out."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
