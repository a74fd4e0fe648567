"""The book on the web: minutes, links, the page of the library, and the check of what was built."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat import v4

import nmt_lib as nmt

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "site"), str(ROOT / "notebooks")]
import book  # noqa: E402
import budget  # noqa: E402
import names  # noqa: E402
import pages  # noqa: E402


def code(
    source: str, *outputs: nbformat.NotebookNode, **metadata: object
) -> nbformat.NotebookNode:
    return v4.new_code_cell(source, outputs=list(outputs), metadata=metadata)


def test_the_minutes_count_what_lies_open(tmp_path: Path) -> None:
    printed = v4.new_output("stream", text="a\n" * 40)
    picture = v4.new_output(
        "display_data", data={"image/png": "", "text/plain": "x\n" * 99}
    )
    shown = v4.new_output("display_data", data={"text/html": "<b>x</b>\n" * 15})
    cells = [
        v4.new_markdown_cell("word " * 170 + "\n```\nno word\n```"),  # 1 minute
        v4.new_markdown_cell("<details><summary></summary></details>"),  # 1/3
        code("x = 1\n" * 10, printed),  # 1 + 1
        code("x = 1\n" * 99, picture, jupyter={"source_hidden": True}),  # 1/3
        code("x = 1\n" * 99, picture, tags=["hide-input"]),  # 1/3
        code("x = 1\n" * 99, printed, tags=["hide-cell"]),
        code("nmt.show_source(x)", shown),  # 1/10 + 1
        v4.new_markdown_cell("## Going deeper\n" + "word " * 170),
        code("x = 1\n" * 99, printed),
    ]
    nbformat.write(v4.new_notebook(cells=cells), tmp_path / "04_x.ipynb")
    assert budget.measure(tmp_path / "04_x.ipynb")["minutes"] == pytest.approx(5.1)


@pytest.mark.parametrize(
    ("link", "leads_to"),
    [
        ("[a](../README.md)", "[a](../index.md)"),
        ("[a](../nmt_lib/configs/tiny.yaml)", "[a](../nmt_lib/configs/tiny.md)"),
        ("[a](../benchmarks/results/tiny.md)", "[a](../benchmarks/results/tiny.md)"),
        (
            "[a](05_encoder.ipynb#1-\u00b7-A-Question)",
            "[a](05_encoder.ipynb#1--a-question)",
        ),
        ("[a](#Summary)", "[a](#summary)"),
        (
            "[a](../nmt_lib/attention.py#L9)",
            f"[a]({pages.REPOSITORY}/blob/main/nmt_lib/attention.py#L9)",
        ),
        ('<a href="../Makefile">', f'<a href="{pages.REPOSITORY}/blob/main/Makefile">'),
        ("[a](https://x.org/y#Z)", "[a](https://x.org/y#Z)"),
        ("[a](99_nowhere.ipynb)", "[a](99_nowhere.ipynb)"),  # Sphinx complains
    ],
)
def test_links_lead_to_pages_or_else_to_the_repository(
    link: str, leads_to: str
) -> None:
    assert pages.with_links(link, "notebooks/04_attention.ipynb") == leads_to


def test_a_chapter_brings_nothing_from_elsewhere_and_folds_what_is_folded() -> None:
    for path in pages.found(pages.CHAPTERS):
        notebook = nbformat.reads(pages.chapter(path)[1], as_version=4)
        assert (
            "colab-badge.svg" not in notebook.cells[0].source
            and "Open in Colab" in notebook.cells[0].source
        )
        for cell in notebook.cells:
            folded = cell.metadata.get("jupyter", {}).get("source_hidden")
            assert not folded or "hide-input" in cell.metadata.tags
            assert "show_source(" not in cell.source or "text/html" not in str(
                cell.get("outputs")
            )


def test_the_start_page_has_a_translation_to_touch_and_a_card_for_each_chapter(
    tmp_path: Path,
) -> None:
    page = pages.own(tmp_path, "site/index.md")[1]
    source, target = re.findall(
        r'<p class="said"><span>(.+)</span> → <b lang="fr">(.+)</b></p>', page
    )[0]
    shown = json.loads(page.split("const data = ")[1].split(";\n")[0])["kinds"]["cross"]
    assert {*source[:-1].split()} < {*shown["columns"]} and {*target[:-1].split()} < {
        *shown["rows"]
    }
    assert "run the cell" not in page and page.count(" min</i></a>") == len(
        pages.found(pages.CHAPTERS)
    )
    assert len(list(tmp_path.glob("_static/cards/*.webp"))) == len(
        pages.found(pages.CHAPTERS)
    )


def test_the_page_of_the_library_has_every_public_name_once() -> None:
    found = re.findall(
        r"^\.\. (?:auto\w+|py:data):: (?:nmt_lib\.)?(\w+)$",
        names.page("…"),
        re.MULTILINE,
    )
    assert sorted(found) == sorted(nmt.__all__)


def test_what_leads_nowhere_is_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<a href="b.html#x"></a><a href="#here"></a><p id="here"><img src="c.png">'
    )
    (tmp_path / "b.html").write_text(
        '<p id="x"><a href="a.html#there"></a><script src="https://x.org/x.js"></script>'
    )
    problems, _ = book.check(tmp_path)
    assert problems == [
        "a.html: c.png does not exist",
        "b.html: a.html#there has no such anchor",
        "b.html: fetches https://x.org/x.js",
    ]
