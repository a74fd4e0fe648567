"""Makes a submission harmless to open: only its text is kept, and its Markdown cannot
run anything in the browser of the person who reads it.

Code is always shown escaped. In Markdown, HTML, links, pictures, diagrams and some
macros of MathJax could start a script; in formgrader, that script would act on the
teacher's Jupyter server with the teacher's rights.
"""

from __future__ import annotations

import re
from html import unescape
from typing import Any

from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbformat import NotebookNode, v4

from .remote import Gone, within

# An answered assignment has some 60 cells with 50,000 characters.
MAX_CELLS, MAX_TEXT = 500, 500_000
MAX_ANSWER = 20_000  # characters of Markdown in one cell
SECONDS = 5.0  # of processor time for the Markdown of one submission
# MathJax's macros that set attributes, draw boxes, or give another macro their meaning.
MACRO = r"""\\(?=href|url|class|style|cssId|data|mmlToken|require|def|let|newcommand
    |renewcommand|newenvironment|renewenvironment|bbox|colorbox|fcolorbox|enclose)"""
# A space behind it disarms each of these: a tag, an entity, a picture, a link to
# anything but a web page, a mail address or a heading, a macro.
ACTIVE = re.compile(
    rf"<(?=[A-Za-z/!?]) | &(?=\#|\w+;) | !(?=\[) | {MACRO}"
    r"| \](?=:|\((?!https?://|mailto:|\#))",
    re.VERBOSE,
)
ADDRESS = re.compile(
    'href="(https?://|mailto:|#)|src="https://colab.research.google.com/assets/'
)
TYPED = re.compile(r"<pre>(?:[\w\s]|&#\d+;)*</pre>")


class Unreadable(Exception):
    """Why a submission is not collected."""


def clean(notebook: dict[str, Any]) -> NotebookNode:
    """The cells of a notebook with their text and nbgrader's ids; no outputs, no
    attachments, no other metadata. Raw cells, which a page shows unescaped, become
    Markdown.

    Raises:
        Unreadable: it has too many cells, or too much text.
        Exception: it is not a notebook.
    """
    cells = [*notebook["cells"]]
    if len(cells) > MAX_CELLS:
        raise Unreadable(f"it has {len(cells):,} cells, more than {MAX_CELLS}")
    new = v4.new_notebook(cells=[_cell(i, cell) for i, cell in enumerate(cells)])
    # ``as_typed`` makes a character of text six.
    texts = (re.sub(r"&#\d{1,7};", "-", cell.source) for cell in new.cells)
    if (size := sum(map(len, texts))) > MAX_TEXT:
        raise Unreadable(f"its cells hold {size:,} characters, more than {MAX_TEXT:,}")
    rest = [cell for cell in new.cells if cell.cell_type == "markdown"]
    try:
        with within(SECONDS):
            while rest:
                rest[-1].source = harmless(rest[-1].source)
                rest.pop()
    except Gone:
        for cell in rest:
            cell.source = as_typed(cell.source)
    return new


def _cell(number: int, cell: dict[str, Any]) -> NotebookNode:
    text = _text("".join(cell.get("source", cell.get("input", ""))))
    id = _text(str(cell.get("metadata", {}).get("nbgrader", {}).get("grade_id", "")))
    kind = v4.new_code_cell if cell["cell_type"] == "code" else v4.new_markdown_cell
    metadata = {"nbgrader": {"grade_id": id}} if id else {}
    return kind(text, id=f"cell-{number}", metadata=metadata)


def _text(text: str) -> str:
    """Without half characters (lone surrogates), which no file can hold, and already
    as ``assignment.plain_text`` makes it: four spaces less, and code is Markdown."""
    return text.encode(errors="replace").decode().replace("\r\n", "\n").strip()


def harmless(text: str) -> str:
    """Markdown whose page runs nothing: as it is where that is so, else with a space
    in each active construct, else as it was typed."""
    if is_harmless(text) or TYPED.fullmatch(text):
        return text
    disarmed = ACTIVE.sub(r"\g<0> ", text)
    return disarmed if is_harmless(disarmed) else as_typed(text)


def is_harmless(text: str) -> bool:
    """Whether nbconvert, which makes formgrader's pages and the feedback, finds nothing
    in this Markdown but formatting, formulas and links to web pages."""
    if len(text) > MAX_ANSWER:
        return False
    try:
        page, escaped = (
            MarkdownWithMath(IPythonRenderer(escape=escape)).render(text)
            for escape in (False, True)
        )
    except Exception:  # nested too deep, or a picture that is not there
        return False
    # They differ where there is HTML, or an entity, which could spell anything.
    return (
        page == escaped
        and 'class="mermaid"' not in page
        and all(map(ADDRESS.match, re.findall(r'(?:href|src)=".*?"', page)))
        and not re.search(MACRO, unescape(re.sub("<[^>]*>", "", page)), re.VERBOSE)
    )


def as_typed(text: str) -> str:
    """Markdown that shows a text as it was typed. Every punctuation mark is an entity,
    so nothing in it is Markdown, HTML or a formula."""
    entities = re.sub(r"[^\w\s]", lambda mark: f"&#{ord(mark[0])};", text)
    return f"<pre>{entities}</pre>"
