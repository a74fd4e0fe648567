"""Uses the attention viewer as a reader would: in exported HTML, on the site, in JupyterLab; part of ``make browser``.

Screenshots go to build/viewer.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import nbformat
import torch
from browser import READY, RUNNING, jupyterlab
from tests.site.chromium import ROOT, barriers, chromium, load_axe
from nbclient import NotebookClient
from nbconvert import HTMLExporter
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from tests.lib.small import made_translation
from traitlets.config import Config

OUT = ROOT / "build" / "viewer"
SRC, TGT = (
    ["Der", "<b>Hund</b>", "trank", "שלום", "</script>", "🙂", "."],
    ["the", "dog", "drank", '"hello"', "🙂", "."],
)
GOLD = [(0, 0), (1, 1), (2, 2), (3, 3), (5, 4), (6, 5)]
CELLS = [  # tests/ is where they run
    "import nmt_lib as nmt\nfrom small import made_translation",
    f"pair = made_translation({SRC}, {TGT})\nnmt.view_attention(pair, gold={GOLD})",
    f"nmt.view_attention(pair, gold={GOLD})",
]
VIEWER = ".nmt-attention"

# Every weight that the viewer shows, by way of its buttons: {kind: [layer][head] of rows}; head 0 is the mean.
READ_ALL = """host => {
    const all = {}, root = host.shadowRoot
    for (const kind of root.querySelectorAll('.kinds button')) {
        kind.click()
        for (const map of root.querySelectorAll('.grid button')) {
            map.click()
            const rows = [...root.querySelectorAll('.from button')].map(word => {
                word.dispatchEvent(new FocusEvent('focusin', {bubbles: true}))
                return [...root.querySelectorAll('.to small')].map(number => number.textContent || '0')
            })
            const layers = all[kind.value] ??= []
            ;(layers[map.dataset.layer] ??= []).push(rows)
        }
    }
    root.querySelector('.from button').dispatchEvent(new FocusEvent('focusout', {bubbles: true}))
    root.querySelector('.kinds button[value=cross]').click()
    root.querySelector('.grid button').click()
    return all
}"""


def main() -> int:
    shutil.rmtree(OUT, ignore_errors=True)
    (OUT / "notebooks").mkdir(parents=True)
    load_axe()
    environment = {
        "PYTHONPATH": os.pathsep.join(
            [str(ROOT), str(ROOT / "tests"), os.environ.get("PYTHONPATH", "")]
        )
    }
    os.environ.update(environment)
    notebook = new_notebook(
        cells=[new_markdown_cell("# Attention to touch"), *map(new_code_cell, CELLS)]
    )
    NotebookClient(notebook, timeout=600, kernel_name="python3").execute()
    nbformat.write(notebook, OUT / "notebooks" / "viewer.ipynb")
    no_cdn = Config(
        {"HTMLExporter": {"require_js_url": "", "mathjax_url": ""}}
    )  # the exporter's own, not the viewer's
    (OUT / "viewer.html").write_text(
        HTMLExporter(config=no_cdn).from_notebook_node(notebook)[0], encoding="utf-8"
    )

    with chromium() as browser:
        for width in (1280, 390):
            for scheme in ("light", "dark"):
                with watched(browser, width, scheme) as page:
                    exported(page, width, scheme)
        with watched(browser, 1280, "dark", javascript=False) as page:
            page.goto((OUT / "viewer.html").as_uri())
            assert page.locator(f"{VIEWER} table").first.is_visible(), (
                "no table stands where no script runs"
            )
        with watched(browser, 390, "dark") as page:
            elsewhere(page, notebook.cells[2].outputs[0]["data"]["text/html"])
        for name in (
            "index",
            "notebooks/00_start_here",
            "notebooks/04_attention",
            "notebooks/09_attention_heatmaps",
        ):
            for width in (1280, 390):
                with watched(browser, width, "light") as page:
                    on_site(page, f"{name}.html", width)
        with jupyterlab(OUT, **environment) as address:
            for theme, width in (
                ("Light", 1280),
                ("Dark", 1280),
                ("Light", 390),
                ("Dark", 390),
            ):
                with watched(browser, width, "light", address) as page:
                    in_lab(page, address, theme, width)
    print(
        f"the viewer shows the tensors' weights, and obeys mouse, finger and keyboard; screenshots: {OUT}"
    )
    return 0


@contextmanager
def watched(
    browser: Any,
    width: int,
    scheme: str,
    address: str = "file:",
    javascript: bool = True,
) -> Iterator[Any]:
    """A new page; at its end: no error, and nothing asked of another host."""
    context = browser.new_context(
        viewport={"width": width, "height": 900},
        color_scheme=scheme,
        has_touch=width < 500,
        java_script_enabled=javascript,
    )
    page = context.new_page()
    page.set_default_timeout(120_000)
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(f"error: {error}"))
    page.on(
        "console",
        lambda message: (
            message.type == "error" and complaints.append(f"console: {message.text}")
        ),
    )
    own = (address, address.replace("http", "ws"), "data:", "blob:")
    page.on(
        "request",
        lambda request: (
            request.url.startswith(own) or complaints.append(f"request: {request.url}")
        ),
    )
    yield page
    context.close()
    assert not complaints, complaints


def exported(page: Any, width: int, scheme: str) -> None:
    """What ``nbconvert --to html`` wrote."""
    page.goto((OUT / "viewer.html").as_uri())
    if scheme == "dark":  # the exporter's own theme is light, whatever the reader's
        page.evaluate(
            "document.body.dataset.jpThemeLight = 'false'; document.body.style.background = '#111'"
        )
    assert page.locator(VIEWER).count() == 2
    assert not page.locator(f"{VIEWER} table").first.is_visible(), (
        "the table stands beside what replaces it"
    )
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (
        "the page scrolls sideways"
    )
    paper = page.locator(f"{VIEWER} section").first.evaluate(
        "node => getComputedStyle(node).backgroundColor"
    )
    assert paper == (
        "rgb(255, 255, 255)" if scheme == "light" else "rgb(23, 26, 32)"
    ), paper
    first, second = page.locator(VIEWER).all()
    same_numbers(first)
    use(page, first, second)
    serious = barriers(page, VIEWER)
    assert not serious, serious
    first.screenshot(path=OUT / f"html-{width}-{scheme}.png")


def on_site(page: Any, name: str, width: int) -> None:
    """A page of build/site: it shows each weight that its notebook stores, and obeys mouse, finger and keyboard."""
    page.goto((ROOT / "build/site" / name).as_uri())
    viewer = page.locator(VIEWER).first
    viewer.scroll_into_view_if_needed()
    data = json.loads(
        viewer.locator("script")
        .text_content()
        .split("const data = ")[1]
        .split(";\n")[0]
    )["kinds"]
    shown = viewer.evaluate(READ_ALL)
    for kind, stored in data.items():
        size = (len(stored["rows"]), len(stored["columns"]))
        heads = [
            torch.tensor(layer).view(-1, *size) / 1000 for layer in stored["weights"]
        ]
        expected = torch.stack(
            [torch.cat([layer.mean(0, keepdim=True), layer]) for layer in heads]
        )
        found = torch.tensor(
            [
                [[[float(x) for x in row] for row in head] for head in layer]
                for layer in shown[kind]
            ]
        )
        torch.testing.assert_close(found, expected, atol=0.006, rtol=0)
    status, word = (
        viewer.get_by_role("status"),
        viewer.locator(".from [role=option]").first,
    )
    viewer.get_by_role("radio", name="layer 1, head 2").click()
    assert "layer 1, head 2" in viewer.locator(".caption").inner_text()
    (word.tap if width < 500 else word.hover)()
    assert status.inner_text().startswith(f"{data['cross']['rows'][0]} looks at:")
    word.focus()
    page.keyboard.press("ArrowDown")
    assert status.inner_text().startswith(f"{data['cross']['rows'][1]} looks at:")
    serious = barriers(page, VIEWER)
    assert not serious, serious
    page.screenshot(path=OUT / f"site-{Path(name).stem}-{width}.png")


def elsewhere(page: Any, html: str) -> None:
    """In a frame with a theme, as on Colab; twice where scripts run from the head, as in old notebooks."""
    framed = f"<!doctype html><html theme=light><body>{html}</body></html>"
    page.set_content("<iframe sandbox='allow-scripts' width=370 height=800></iframe>")
    page.locator("iframe").evaluate("(frame, html) => { frame.srcdoc = html }", framed)
    section = page.frame_locator("iframe").locator(f"{VIEWER} section")
    assert (
        section.evaluate("node => getComputedStyle(node).backgroundColor")
        == "rgb(255, 255, 255)"
    )
    page.set_content("<main></main>")
    page.evaluate(
        """html => {
            for (const part of [html, html]) document.querySelector('main').insertAdjacentHTML('beforeend', part)
            for (const script of document.querySelectorAll('main script')) {
                document.head.append(Object.assign(document.createElement('script'), {textContent: script.textContent}))
            }
        }""",
        html,
    )
    assert page.locator(f"{VIEWER} section").count() == 2


def in_lab(page: Any, address: str, theme: str, width: int) -> None:
    """The same notebook in JupyterLab: not trusted as it comes, then run."""
    page.goto(f"{address}/lab/tree/viewer.ipynb?reset")
    page.wait_for_selector(".jp-NotebookPanel-toolbar")
    page.wait_for_function(READY)
    page.evaluate(
        f"window.jupyterapp.commands.execute('apputils:change-theme', {{theme: 'JupyterLab {theme}'}})"
    )
    page.wait_for_function(
        f"document.body.dataset.jpThemeName === 'JupyterLab {theme}'"
    )
    page.evaluate("window.jupyterapp.shell.collapseLeft()")
    page.locator(f"{VIEWER} table, .jp-RenderedHTML table").first.wait_for()
    assert not page.evaluate(f"document.querySelector('{VIEWER}').shadowRoot"), (
        "a script ran in a notebook not trusted"
    )
    page.screenshot(path=OUT / f"lab-{width}-{theme.lower()}-untrusted.png")
    page.evaluate("window.jupyterapp.commands.execute('notebook:run-all-cells')")
    page.wait_for_function(f"() => !({RUNNING})()")
    page.locator(f"{VIEWER} section").nth(1).wait_for()
    first, second = page.locator(VIEWER).all()
    first.scroll_into_view_if_needed()
    same_numbers(first)
    use(page, first, second)
    serious = barriers(page, VIEWER)
    assert not serious, serious
    page.screenshot(path=OUT / f"lab-{width}-{theme.lower()}.png")
    cells = page.evaluate(
        "window.jupyterapp.shell.currentWidget.content.widgets.length"
    )
    assert cells == 4, f"keys meant for the viewer changed the notebook: {cells} cells"
    page.evaluate("window.jupyterapp.shell.currentWidget.sessionContext.shutdown()")


def same_numbers(viewer: Any) -> None:
    """Each weight that stands beside a word is the tensor's, for all kinds, layers, heads, and for the mean."""
    shown = viewer.evaluate(READ_ALL)
    attention = made_translation(SRC, TGT).attention
    for kind in ("encoder", "decoder", "cross"):
        layers = getattr(attention, kind)
        assert len(shown[kind]) == len(layers)
        for numbers, layer in zip(shown[kind], layers, strict=True):
            expected = torch.cat(
                [layer[0].mean(0, keepdim=True), layer[0]]
            )  # (1 + H, T, S)
            found = torch.tensor(
                [
                    [[float(number) for number in row] for row in head]
                    for head in numbers
                ]
            )
            torch.testing.assert_close(found, expected, atol=0.006, rtol=0)


def use(page: Any, viewer: Any, other: Any) -> None:
    """Mouse, keyboard and finger; a second viewer of the same content stays as it is."""
    translation = made_translation(SRC, TGT)
    before = other.locator(".panes").inner_html()
    words, sources = (
        viewer.locator(".from [role=option]"),
        viewer.locator(".to [role=option]"),
    )
    status = viewer.get_by_role("status")
    assert "<b>Hund</b>" in sources.all_inner_texts(), "a word is not shown as text"
    viewer.get_by_role("radio", name="layer 1, head 2").click()
    assert "layer 1, head 2" in viewer.locator(".caption").inner_text()
    assert viewer.locator(".lines .true path").count() == len(GOLD)
    weights = translation.attention.cross[1][0, 2]  # (T, S)
    best = weights[1].argmax().item()
    says = f"{translation.tgt_labels[1]} looks at: {translation.src_labels[best]}\u00a0{weights[1, best]:.2f}"
    # Mouse: pointing shows, leaving hides, a click holds.
    words.nth(1).hover()
    assert weights[1].max() > 0.2, "too even to see anything"
    assert status.inner_text().startswith(says), (status.inner_text(), says)
    page.mouse.move(1, 1)
    assert status.inner_text().startswith("Point at a word")
    words.nth(1).click()
    page.mouse.move(1, 1)
    viewer.get_by_role("radio", name="layer 1, head 3").click()
    assert words.nth(1).get_attribute("aria-selected") == "true"
    assert status.inner_text().startswith(f"{translation.tgt_labels[1]} looks at:")
    # Keyboard: Escape lets go, arrows walk, Enter holds; a source word says who looks at it.
    words.nth(1).focus()
    page.keyboard.press("Escape")
    assert viewer.locator("[aria-selected=true]").count() == 0
    page.keyboard.press("ArrowDown")
    assert words.nth(2).evaluate("node => node === node.getRootNode().activeElement")
    page.keyboard.press("Enter")
    assert words.nth(2).get_attribute("aria-selected") == "true"
    page.keyboard.press(
        "b"
    )  # in JupyterLab: a new cell, unless the viewer keeps its keys to itself
    page.keyboard.press("ArrowRight")
    assert " is looked at by:" in status.inner_text()
    page.keyboard.press("End")
    assert status.inner_text().startswith("<eos>")
    viewer.get_by_role("radio", name="layer 1, head 3").focus()
    page.keyboard.press("ArrowUp")
    assert "layer 0, head 3" in viewer.locator(".caption").inner_text()
    page.keyboard.press("ArrowLeft")
    assert "layer 0, head 2" in viewer.locator(".caption").inner_text()
    viewer.get_by_role("radio", name="cross").focus()
    page.keyboard.press("ArrowLeft")
    assert "decoder" in viewer.locator(".caption").inner_text().lower()
    assert viewer.locator(".lines .true path").count() == 0, (
        "gold links stand in a kind that has none"
    )
    page.keyboard.press("ArrowRight")
    viewer.get_by_label("gold links").uncheck()
    assert viewer.locator(".lines .true path").count() == 0
    viewer.get_by_label("gold links").check()
    # Finger: a tap holds, a second one lets go.
    if page.evaluate("navigator.maxTouchPoints"):
        sources.nth(1).tap()
        assert " is looked at by:" in status.inner_text()
        sources.nth(1).tap()
        assert status.inner_text().startswith("Point at a word")
    viewer.get_by_role("radio", name="layer 1, head 2").click()
    words.nth(1).click()
    page.mouse.move(1, 1)
    assert other.locator(".panes").inner_html() == before, "one viewer changed another"


if __name__ == "__main__":
    sys.exit(main())
