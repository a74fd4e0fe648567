"""Uses the attention viewer as a reader would, on a page and in JupyterLab.

Part of ``make browser``. Screenshots go to build/viewer.
"""

from __future__ import annotations

import shutil
import sys
from typing import Any

import nbformat
import torch
from nbformat.v4 import new_code_cell, new_output

import nmt_book as book
from tests.lib.small import made_translation
from tests.site.browser_live import SIDEWAYS, expected, settled, watched
from tests.site.chromium import ROOT, barriers, chromium
from tests.site.jupyterlab import COUNT, do, jupyterlab, run_all, write

OUT = ROOT / "build" / "viewer"
SRC = ["Der", "<b>Hund</b>", "trank", "שלום", "</script>", "🙂", "."]
TGT = ["the", "dog", "drank", '"hello"', "🙂", "."]
GOLD = [(0, 0), (1, 1), (2, 2), (3, 3), (5, 4), (6, 5)]
PAIR = made_translation(SRC, TGT)
VIEWER = ".nmt-attention"
EXPLORED = 'nmt.Translator.load("multi30k-en-de")'
EXPLORE = f"""\
import nmt_book as book
import nmt_lib as nmt
book.explore({EXPLORED})"""

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


def main() -> int:
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir(parents=True)
    html = book.view_attention(PAIR, gold=GOLD)._repr_html_()
    page_with_two = OUT / "viewer.html"
    head = '<!doctype html><html lang="en"><title>viewer</title><meta charset="utf-8">'
    page_with_two.write_text(f"{head}<main>{html}{html}</main>", encoding="utf-8")
    code = "import nmt_book as book\nfrom tests.site import browser_viewer as our\n"
    code += "book.view_attention(our.PAIR, gold=our.GOLD)"
    stored = new_output("execute_result", {"text/html": html}, execution_count=1)
    cells = new_code_cell(code, outputs=[stored]), new_code_cell(code)
    write(OUT / "notebooks/viewer.ipynb", *cells)
    folder = OUT / "notebooks/a folder"
    write(folder / "live.ipynb", new_code_cell(EXPLORE))
    with chromium() as browser, jupyterlab(OUT, PYTHONPATH=str(ROOT)) as address:
        for width, scheme in ((1280, "light"), (390, "dark")):
            touch = width < 500
            with watched(browser, width, scheme, has_touch=touch) as page:
                page.goto(page_with_two.as_uri())
                look_and_use(page, f"page-{width}")
                assert not page.locator(f"{VIEWER} table").first.is_visible()
                assert not page.evaluate(SIDEWAYS), "the page scrolls sideways"
        with watched(browser, java_script_enabled=False) as page:
            page.goto(page_with_two.as_uri())
            table = page.locator(f"{VIEWER} table").first
            assert table.is_visible(), "no table where no script runs"
        with watched(browser) as page:
            page.goto(f"{address}/lab/tree/viewer.ipynb?reset")
            page.locator(f"{VIEWER} table, .jp-RenderedHTML table").first.wait_for()
            trusted = page.evaluate(f"document.querySelector('{VIEWER}').shadowRoot")
            assert not trusted, "a script ran in a notebook that is not trusted"
            run_all(page)
            look_and_use(page, "lab")
            assert page.evaluate(COUNT) == 2, "keys of the viewer changed the notebook"
        with watched(browser) as page:
            page.goto(f"{address}/lab/tree/a%20folder/live.ipynb?reset")
            run_all(page)
            page.locator(".words .now").wait_for()
            page.locator("#text").fill("")
            page.locator("#text").press_sequentially("Two dogs.", delay=20)
            assert settled(page) == expected("en-de", "Two dogs.").text
            assert page.evaluate(COUNT) == 1, "typing changed the notebook"
            page.screenshot(path=OUT / "live.png")
            do(page, "commands.execute('docmanager:save')")
            (model,) = (folder / "explore").iterdir()
            (cell,) = nbformat.read(folder / "live.ipynb", as_version=4).cells
            assert len(cell.outputs[0].data["text/html"]) <= 60_000
        with watched(browser) as page:  # nothing is run: the file is read
            page.goto(f"{address}/lab/tree/a%20folder/live.ipynb?reset")
            page.locator(".words .now").wait_for()
            page.locator("#text").fill("Two dogs.")
            assert settled(page) == expected("en-de", "Two dogs.").text
        model.rename(model.with_suffix(".gone"))
        page = browser.new_page()
        page.goto(f"{address}/lab/tree/a%20folder/live.ipynb?reset")
        page.get_by_text("The model is not stored in this page.").wait_for()
        page.close()
    print(f"the viewer shows the tensors' weights and obeys; screenshots: {OUT}")
    return 0


def look_and_use(page: Any, name: str) -> None:
    page.locator(f"{VIEWER} section").nth(1).wait_for()
    first, second = page.locator(VIEWER).all()
    same_numbers(first)
    use(page, first, second)
    serious = barriers(page, VIEWER)
    assert not serious, serious
    first.screenshot(path=OUT / f"{name}.png")


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


if __name__ == "__main__":
    sys.exit(main())
