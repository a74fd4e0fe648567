"""The page of a submission, for the student: points, what the tests say, and the work as handed in."""

from __future__ import annotations

import hashlib
import html
import re

from .marks import Result
from .submissions import Submission

CELL = 20_000  # characters of a cell, of a notebook or a table, that are shown
WORK = 700_000  # bytes of a page for what was handed in
STYLE = """body { font: 15px sans-serif; max-width: 60em; margin: 2em auto; color: #222 }
table { border-collapse: collapse } tr { border-top: 1px solid #ddd }
td, th { padding: 3px 10px; text-align: left; vertical-align: top }
pre { background: #f6f6f6; padding: 8px; overflow-x: auto }
.full { color: #060 } .none { color: #a00 } .open { color: #850 }"""


def page_name(submission: Submission) -> str:
    """Of this submission alone, on every file system: no case, no odd letters, no length decides."""
    who = f"{submission.student}\n{submission.assignment}".encode("utf-8", "surrogatepass")
    readable = re.sub(r"[^A-Za-z0-9.]+", "-", submission.student)[:60].strip("-.")
    return f"{readable}-{submission.assignment}-{hashlib.sha256(who).hexdigest()[:10]}.html".lstrip("-")


def feedback(result: Result) -> str:
    """A page of 1 MB at most."""
    marks, rows = result.marks, ""
    for part in marks.parts:
        kind = "open" if part.score is None else "full" if part.score == part.points else "none"
        score = "to be read" if part.score is None else f"{part.score:g}"
        told = _text(part.says[:2000])
        rows += f"<tr class={kind}><td>{_text(part.name)}<td>{score} of {part.points:g}<td>{told}</tr>\n"
    total = f"{marks.score:g} of {marks.of:g}" if marks.parts else "not marked"
    notes = "".join(f"<li>{_text(note.removeprefix('PLEASE LOOK: ')[:500])}" for note in marks.notes)
    title = _text(f"{result.submission.assignment} · {result.submission.student}")
    head = f"<!DOCTYPE html><html lang=en><meta charset=utf-8><title>{title}</title><style>{STYLE}</style>"
    return (f"{head}<h1>{title}</h1>"
            f"<p><b>{total}</b></p><table><tr><th>part<th>points<th>what the tests say</tr>{rows}</table>"
            f"<ul>{notes}</ul><h2>What was handed in</h2>{result.work}</html>")  # fmt: skip


def handed_in(sources: list[str]) -> str:
    """The cells, as HTML, as far as a page has room."""
    work = ""
    for source in sources:
        cell = f"<pre>{_text(source[:CELL])}</pre>\n"
        if len((work + cell).encode()) > WORK:
            return work + "<p>The rest is not shown: it is too long.</p>"
        work += cell
    return work


def letters(text: str) -> str:
    """Without control characters; what is no Unicode is spelled out."""
    if text.isprintable():
        return text
    text = text.encode("utf-8", "backslashreplace").decode()
    return "".join(c if c.isprintable() or c in "\n\t" else " " * c.isspace() for c in text)


def _text(value: str) -> str:
    return html.escape(letters(value))
