"""The texts for those who cannot see a picture, and what stays in a stored chapter's metadata."""

import sys
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output


from tools import check
from tools import run


def with_picture(**metadata: object) -> nbformat.NotebookNode:
    output = new_output("display_data", {"image/png": "aGk="})
    return new_code_cell(
        "draw()", outputs=[output], execution_count=1, metadata=metadata
    )


def alt(cell: nbformat.NotebookNode) -> str:
    return cell.outputs[0].metadata["image/png"]["alt"]


def test_a_cell_says_what_its_picture_shows(tmp_path: Path) -> None:
    text, described = (
        new_markdown_cell("*Picture: a paragraph.*"),
        with_picture(nmt={"alt": "a diagonal,\n  dark"}),
    )
    cells = [text, with_picture(), described]
    nbformat.write(new_notebook(cells=cells), tmp_path / "a.ipynb")
    run.clean(tmp_path / "a.ipynb")
    stored = nbformat.read(tmp_path / "a.ipynb", as_version=4)
    assert [alt(cell) for cell in stored.cells[1:]] == ["", "a diagonal, dark"]
    assert (
        len(check.pictures(stored)) == 1
        and "lacks its alt text" in check.pictures(stored)[0]
    )


def test_marks_and_folding_stay_and_times_go(tmp_path: Path) -> None:
    kept = {
        "tags": ["hide-input"],
        "jupyter": {"source_hidden": True},
        "nmt": {"alt": "x"},
        "collapsed": True,
        "jp-MarkdownHeadingCollapsed": True,
        "cellView": "form",
    }
    cell = with_picture(
        **kept, papermill={"duration": 1.0}, execution={"iopub.execute_input": "now"}
    )
    nbformat.write(new_notebook(cells=[cell]), tmp_path / "a.ipynb")
    run.clean(tmp_path / "a.ipynb")
    assert nbformat.read(tmp_path / "a.ipynb", as_version=4).cells[0].metadata == kept
