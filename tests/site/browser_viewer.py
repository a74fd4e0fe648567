"""Uses the attention viewer as a reader would, on a page and in JupyterLab; and
``book.explore``, whose model is beside the notebook.

Part of ``make browser``. Screenshots go to build/screens.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest
import torch
from nbformat.v4 import new_code_cell, new_output

import nmt_book as book
from tests.lib.small import made_translation
from tests.site.browser_live import expected, settled
from tests.site.browser_play import HEAD
from tests.site.chromium import barriers, needs_chromium, watched
from tests.site.jupyterlab import COUNT, do, run_all, write

pytestmark = needs_chromium
SRC = ["Der", "<b>Hund</b>", "trank", "שלום", "</script>", "🙂", "."]
TGT = ["the", "dog", "drank", '"hello"', "🙂", "."]
GOLD = [(0, 0), (1, 1), (2, 2), (3, 3), (5, 4), (6, 5)]
PAIR = made_translation(SRC, TGT)
VIEWER = ".nmt-attention"
VIEW = """\
import nmt_book as book
from tests.site import browser_viewer as our
book.view_attention(our.PAIR, gold=our.GOLD)"""
EXPLORE = """\
import nmt_book as book
import nmt_lib as nmt
book.explore(nmt.Translator.load("multi30k-en-de"))"""

# The weights of a kind that the viewer shows: [layer][head] of rows; head 0: the mean.
READ_KIND = """host => {
    const all = [], root = host.shadowRoot
    const [from, to] = root.querySelectorAll('[role=listbox]')
    const event = kind => new FocusEvent(kind, {bubbles: true})
    const focus = (word, kind) => word.dispatchEvent(event(kind))
    for (const map of root.querySelectorAll('[role=radio][aria-label^="layer "]')) {
        map.click()
        const rows = [...from.querySelectorAll('[role=option]')].map(word => {
            focus(word, 'focusin')
            const numbers = [...to.querySelectorAll('small')]
            return numbers.map(number => +number.textContent)
        })
        const [, layer] = /^layer (\\d+), /.exec(map.ariaLabel)
        ;(all[layer] ??= []).push(rows)
    }
    focus(from.querySelector('[role=option]'), 'focusout')
    return all
}"""


@pytest.fixture
def html() -> str:
    return book.view_attention(PAIR, gold=GOLD).data


@pytest.mark.parametrize(
    "page",
    [{}, {"width": 390, "scheme": "dark", "has_touch": True}],
    ids=["wide", "phone"],
    indirect=True,
)
def test_two_viewers_on_a_page(
    html: str, page: Any, check: Callable[[], None], tmp_path: Path
) -> None:
    file = tmp_path / "viewer.html"
    file.write_text(f"{HEAD}<main>{html}{html}</main>", encoding="utf-8")
    page.goto(file.as_uri())
    look_and_use(page)
    check()
    assert not page.locator(f"{VIEWER} table").first.is_visible()


def test_two_viewers_in_jupyterlab(
    html: str, lab: str, page: Any, tmp_path: Path
) -> None:
    stored = new_output("execute_result", {"text/html": html}, execution_count=1)
    cells = new_code_cell(VIEW, outputs=[stored]), new_code_cell(VIEW)
    write(tmp_path / "notebooks/viewer.ipynb", *cells)
    page.goto(f"{lab}/lab/tree/viewer.ipynb?reset")
    page.locator(f"{VIEWER} table, .jp-RenderedHTML table").first.wait_for()
    trusted = page.evaluate(f"document.querySelector('{VIEWER}').shadowRoot")
    assert not trusted, "a script ran in a notebook that is not trusted"
    run_all(page)
    look_and_use(page)
    assert not barriers(page, VIEWER)
    assert page.evaluate(COUNT) == 2, "keys of the viewer changed the notebook"


def test_explore_finds_its_model_beside_the_notebook(
    browser: Any, lab: str, tmp_path: Path
) -> None:
    folder = tmp_path / "notebooks/a folder"
    write(folder / "live.ipynb", new_code_cell(EXPLORE))
    notebook = f"{lab}/lab/tree/a%20folder/live.ipynb?reset"
    with watched(browser) as page:
        page.goto(notebook)
        run_all(page)
        translates(page)
        assert page.evaluate(COUNT) == 1, "typing changed the notebook"
        do(page, "commands.execute('docmanager:save')")
        (model,) = (folder / "explore").iterdir()
        (cell,) = nbformat.read(folder / "live.ipynb", as_version=4).cells
        assert len(cell.outputs[0].data["text/html"]) <= 60_000
    with watched(browser) as page:  # nothing is run: the file is read
        page.goto(notebook)
        translates(page)
    model.rename(model.with_suffix(".gone"))
    with browser.new_page() as page:  # not watched: it fails to fetch
        page.goto(notebook)
        page.get_by_text("The model is not stored in this page.").wait_for()


def translates(page: Any) -> None:
    page.locator(".words .now").wait_for()
    page.locator("#text").fill("")
    page.locator("#text").press_sequentially("Two dogs.", delay=20)
    assert settled(page) == expected("en-de", "Two dogs.")


def look_and_use(page: Any) -> None:
    page.locator(f"{VIEWER} section").nth(1).wait_for()
    first, second = page.locator(VIEWER).all()
    same_numbers(first)
    use(page, first, second)


def same_numbers(viewer: Any) -> None:
    """Every weight beside a word is the tensor's, in all kinds, layers and heads."""
    for kind in ("encoder", "decoder", "cross"):
        viewer.get_by_role("radio", name=kind, exact=True).click()
        shown = viewer.evaluate(READ_KIND)
        layers = torch.cat(getattr(PAIR.attention, kind))  # (layers, H, T, S)
        expected = torch.cat([layers.mean(1, keepdim=True), layers], 1)
        torch.testing.assert_close(torch.tensor(shown), expected, atol=0.006, rtol=0)


def use(page: Any, viewer: Any, other: Any) -> None:
    """Mouse and keyboard; the other viewer of the same content is unchanged."""
    before = other.locator(".panes").inner_html()
    words, sources = (viewer.locator(f".{side} button") for side in ("from", "to"))
    gold, status = viewer.locator(".lines .true path"), viewer.get_by_role("status")
    assert "<b>Hund</b>" in sources.locator("bdi").all_inner_texts(), "not as text"
    viewer.get_by_role("radio", name="layer 1, head 2").click()
    assert gold.count() == len(GOLD)
    weight, best = PAIR.attention.cross[1][0, 2, 1].max(0)
    words.nth(1).hover()
    said = f"dog looks at: {PAIR.src_labels[best]}\u00a0{weight:.2f}"
    assert status.inner_text().startswith(said)
    words.nth(1).focus()
    for key in ("ArrowDown", "Enter", "b"):
        page.keyboard.press(key)
    held = viewer.locator("[aria-selected=true] bdi").all_inner_texts()
    assert held == ["drank"]
    viewer.get_by_role("radio", name="decoder").click()
    assert gold.count() == 0, "gold links in a kind that has none"
    assert other.locator(".panes").inner_html() == before, "one viewer changed another"
