"""The site's pages before Sphinx renders them, and the minutes printed on them."""

import re
from pathlib import Path

import nbformat
import pytest
from nbformat import v4

import nmt_lib as nmt
from tools import budget, names, pages


def test_the_minutes_count_what_is_open(tmp_path: Path) -> None:
    printed = [v4.new_output("stream", text="a\n" * 40)]
    picture = [v4.new_output("display_data", data={"image/png": ""})]
    shown = [v4.new_output("display_data", data={"text/html": "<b>x</b>\n" * 15})]
    lines = "x = 1\n" * 10
    cells = [
        v4.new_markdown_cell("word " * 170 + "\n```\nno word\n```"),  # 1 minute
        v4.new_markdown_cell("<details><summary></summary></details>"),  # 1/3
        v4.new_code_cell(lines, outputs=printed),  # 1 + 1
        v4.new_code_cell(lines, outputs=picture, metadata={"tags": ["hide-input"]}),
        v4.new_code_cell("nmt.show_source(x)", outputs=shown),  # 1/10 + 1
        v4.new_markdown_cell("## Going deeper\n" + "word " * 170),
        v4.new_code_cell(lines, outputs=printed),
    ]
    nbformat.write(v4.new_notebook(cells=cells), tmp_path / "04_x.ipynb")
    minutes = 1 + 1 / 3 + 2 + 1 / 3 + 1.1
    assert budget.measure(tmp_path / "04_x.ipynb")["minutes"] == pytest.approx(minutes)


@pytest.mark.parametrize(
    ("link", "target"),
    [
        ("../README.md", "../index.md"),
        ("../nmt_lib/configs/tiny.yaml", "../nmt_lib/configs/tiny.md"),
        ("../benchmarks/results/tiny.md", "../benchmarks/results/tiny.md"),
        ("05_encoder.ipynb#1-·-A-Question", "05_encoder.ipynb#1--a-question"),
        ("#Summary", "#summary"),
        ("../Makefile#L9", f"{pages.REPOSITORY}/blob/main/Makefile#L9"),
        ("https://x.org/y#Z", "https://x.org/y#Z"),
        ("99_nowhere.ipynb", "99_nowhere.ipynb"),  # Sphinx complains
    ],
)
def test_links_lead_to_pages_or_to_the_repository(
    link: str, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "PUBLISHED", True)
    text = f'[a]({link}) <a href="{link}">'
    expected = f'[a]({target}) <a href="{target}">'
    assert pages.with_links(text, "notebooks/04_attention.ipynb") == expected


def test_before_the_repository_has_an_address_no_link_leads_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pages, "PUBLISHED", False)
    text = "[the rules](../Makefile), [attention.py](../nmt_lib/attention.py)"
    said = pages.with_links(text, "notebooks/04_attention.ipynb")
    assert said == "the rules (`Makefile`), attention.py"
    start = pages.own(pages.ROOT / "build", "site/api.md")[1]
    assert "attention.py" in start and pages.REPOSITORY not in start


def test_formulas_in_a_summary_are_set() -> None:
    summary = "<summary>Is $a_1$ larger than $b$?</summary>"
    said = pages.SUMMARY.sub(pages.with_formulas, f"{summary} $c$")
    assert said.count('<span class="math">\\(') == 2 and said.endswith(" $c$")


def test_a_chapter_has_buttons_and_its_sources_as_code() -> None:
    for path in pages.found(pages.CHAPTERS):
        notebook = nbformat.reads(pages.chapter(path)[1], as_version=4)
        first = notebook.cells[0].source
        assert "colab-badge.svg" not in first and 'class="doors"' in first
        assert ("Open in Colab" in first) == pages.PUBLISHED
        assert "import nmt_lib" not in "".join(c.source for c in notebook.cells)
        for cell in notebook.cells:
            if "show_source(" in cell.source:
                assert "text/html" not in str(cell.get("outputs"))


def test_the_start_page_has_a_viewer_and_a_card_for_each_chapter(
    tmp_path: Path,
) -> None:
    page, chapters = (
        pages.own(tmp_path, "site/index.md")[1],
        pages.found(pages.CHAPTERS),
    )
    assert page.count('<p class="said">') == page.count('class="nmt-attention"') == 1
    assert page.count(" min</i></a>") == len(chapters)
    assert len(list(tmp_path.glob("_static/cards/*.webp"))) == len(chapters)


def test_the_page_of_the_library_has_every_public_name_once() -> None:
    directive = r"(?m)^\.\. (?:auto\w+|py:data):: nmt_lib\.(\w+)$"
    assert sorted(re.findall(directive, names.page("…"))) == sorted(nmt.__all__)
