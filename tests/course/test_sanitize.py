"""What is left of a submission when it has been collected: nothing that runs.

The test in a browser, through formgrader, is ``tests/course/browser.py``.
"""

from __future__ import annotations

from html.parser import HTMLParser

import nbformat
import pytest
from nbconvert.filters import markdown2html

from nmt_book.course import sanitize
from nmt_book.course.assignment import plain_text
from nmt_book.course.preprocessors import BOX
from tests.course import kit
from tests.course.hostile import PAYLOADS

FINE = "**bold** $a < b$ [link](https://example.org) `x<y` <https://example.org>"


class Tags(HTMLParser):
    """The tags of a page, with their attributes, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags, self.text = list[tuple[str, dict[str, str | None]]](), ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize("title", PAYLOADS)
def test_what_runs_is_text(title: str) -> None:
    text = f"{PAYLOADS[title]}\n\n{FINE}"
    cell = {"cell_type": "markdown", "source": text}
    got = plain_text(sanitize.clean({"cells": [cell]}).cells[0])  # as it is restored
    assert sanitize.harmless(got) == got, "nbgrader's own commands sanitize again"
    page = Tags(markdown2html(got))
    for tag, attributes in page.tags:
        assert tag in ("p", "strong", "a", "code", "pre"), tag
        assert all(str(v).startswith("https://") for v in attributes.values()), (
            attributes
        )
    assert not got.startswith("<pre>") or title == "mermaid"
    if not got.startswith("<pre>"):  # in which MathJax finds no formulas
        assert {"strong", "a", "code"} <= {tag for tag, _ in page.tags}
        assert "$a < b$" in page.text
        for macro in (r"\href", r"\style", r"\class", r"\def", r"\mmlToken"):
            assert macro not in page.text


def test_what_is_harmless_stays_as_it_is() -> None:
    lines = (
        "> quote\n\n- a & b\n\n|a|b|\n|:-|-|\n|1|2|\n\n```python\nx<y\n```\n\n# Head"
    )
    for text in (FINE, lines, r"$$\begin{aligned} a &= b \\ c \end{aligned}$$"):
        assert sanitize.harmless(text) == text
    for name in kit.NAMES:
        for cell in kit.assignment(name).released.cells:
            if cell.cell_type == "markdown":
                assert sanitize.harmless(cell.source) == cell.source


@pytest.mark.parametrize("text", ["\\\\(" * 6000, "\\begin{a}" * 50_000, "> " * 9000])
def test_markdown_that_takes_long_is_shown_as_typed(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sanitize, "SECONDS", 0.1)
    cell = {"cell_type": "markdown", "source": text}
    notebook = sanitize.clean({"cells": [cell]})
    assert Tags(notebook.cells[0].source).text == text.strip()
    monkeypatch.undo()  # what was shown is harmless, on a busy machine, too
    assert sanitize.clean(notebook).cells[0].source == notebook.cells[0].source


def test_outputs_attachments_and_raw_cells_are_not_kept() -> None:
    markdown = nbformat.v4.new_markdown_cell(FINE)
    markdown.attachments = {"a.svg": {"image/svg+xml": "<svg/>"}}
    code = nbformat.v4.new_code_cell("x")
    code.outputs = [
        nbformat.v4.new_output("display_data", {kind: "ran()"})
        for kind in ("text/html", "application/javascript", "image/svg+xml", "a/b")
    ]
    raw = nbformat.v4.new_raw_cell("<b>raw</b>")
    raw.metadata = {"raw_mimetype": "text/html", "nbgrader": {"grade_id": "\ud800"}}
    got = sanitize.clean(nbformat.v4.new_notebook(cells=[markdown, code, raw])).cells
    assert [cell.cell_type for cell in got] == ["markdown", "code", "markdown"]
    assert [cell.source for cell in got] == [FINE, "x", "< b>raw< /b>"]
    assert got[1].outputs == [] and "attachments" not in got[0]
    assert got[2].metadata == {"nbgrader": {"grade_id": "?"}}


def test_no_students_cell_looks_like_the_graders() -> None:
    assert "<div" in markdown2html(BOX)
    assert "<div" not in markdown2html(sanitize.harmless(f"{BOX}all points</div>"))
