"""Trains a model on the training page of build/site, as a reader would.

Part of ``make browser``. Screenshots go to build/train.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

import nmt_book as book
import nmt_lib as nmt
from nmt_book.web.train_page import EXAMPLES
from tests.site.browser_live import check, settled, watched
from tests.site.browser_site import SITE, served
from tests.site.chromium import ROOT, chromium

OUT = ROOT / "build" / "train"
OWN = "The small girl is eating an apple."
HEAD = """<!doctype html><html lang="en"><meta charset="utf-8"><title>output</title>
<meta name="viewport" content="width=device-width"><style>
@media (prefers-color-scheme: dark) { body { background: #111; } }</style>"""
# The elements that a finger presses: their width and height.
TARGETS = """() => {
    const root = document.querySelector(".nmt-train").shadowRoot
    const all = root.querySelectorAll("button, input:not([type=radio]), .tabs label")
    return [...all].map(one => one.closest(".toggle") ?? one).map(one => {
        const { width, height } = one.getBoundingClientRect()
        return [one.textContent || one.type, width, height]
    })
}"""


def main() -> int:
    if not (SITE / "train.html").exists():
        print("error: there is no training page in build/site: run make site")
        return 2
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir(parents=True)
    with chromium() as browser, served(SITE) as address:
        url = f"{address}/train.html"
        with watched(browser) as page:
            page.goto(url)
            learns(page)
            asked(page)
            handed_over(page, address)
        with watched(browser, java_script_enabled=False) as page:
            page.goto(url)
            film = page.locator(".nmt-train > table")
            assert EXAMPLES[0] in film.inner_text(), "no film where no script runs"
            assert film.locator("svg").count() > 5
        for width in (390, 1280):
            for scheme in ("light", "dark"):
                no_barriers(browser, url, width, scheme)
        fingers(browser, url)
        in_an_output(browser)
    print(f"the training page works; screenshots: {OUT}")
    return 0


def number(page: Any, name: str) -> float:
    """A number that the page shows; -1 where there is none."""
    text = page.locator(f"[data-part={name}]").inner_text()
    return float(text) if text[:1].isdigit() else -1.0


def wait(page: Any, step: int) -> None:
    """Until so many updates are shown, and then for the page to pause."""
    part = 'document.querySelector(".nmt-train").shadowRoot.querySelector'
    page.wait_for_function(f"+{part}('[data-part=step]').textContent >= {step}")


def pause(page: Any) -> None:
    page.get_by_role("button", name="Pause").click()
    page.get_by_role("button", name="Train", exact=True).wait_for()
    page.wait_for_timeout(500)  # it draws twice a second


def learns(page: Any) -> None:
    """The loss falls, translations become right, and all looks stay on the page."""
    page.get_by_role("button", name="Train", exact=True).click()
    wait(page, 25)
    first = number(page, "loss")
    wait(page, 300)
    pause(page)
    assert number(page, "loss") < first - 2
    assert number(page, "right") > 20
    rows = page.locator("[data-part=log] tr")
    assert rows.count() == 1 + number(page, "step") // 25
    assert page.locator("[data-part=spoken]").inner_text().startswith("Paused. Update ")
    before = number(page, "step")
    page.wait_for_timeout(1000)
    assert number(page, "step") == before, "it goes on while it is paused"
    page.get_by_role("button", name="One update").click()
    wait(page, int(before) + 1)
    map_ = page.locator(".grid td.gold")
    assert map_.count() > 5, "no gold links"


def asked(page: Any) -> None:
    """A sentence of one's own is translated by the model as it is."""
    text = page.get_by_label("An English sentence")
    text.fill("The zebra is reading.")
    text.press("Enter")
    page.get_by_text("Not among its words: zebra.").wait_for()
    assert page.locator(".grid td.gold").count() == 0
    text.fill(OWN)
    text.press("Enter")
    page.get_by_text("Not among its words").wait_for(state="hidden")
    page.wait_for_timeout(500)


def handed_over(page: Any, address: str) -> None:
    """Python and the live page open the file, and translate as this page does."""
    said = page.locator("[data-part=said]").inner_text()
    with page.expect_download() as download:
        page.get_by_role("button", name="Save").click()
    file = OUT / "model.safetensors"
    download.value.save_as(file)
    assert nmt.Translator.load(file, device="cpu")(OWN).text == said
    page.goto(f"{address}/live.html")
    page.get_by_text("A model of your own", exact=True).click()
    page.locator("#file").set_input_files(file)
    page.get_by_role("radio", name="your file", checked=True).wait_for()
    settled(page)
    page.locator("#text").fill(OWN)
    page.locator(".result", has_text=said).wait_for()


def keyboard(page: Any) -> None:
    """Training, a choice and a slider by keys alone."""
    page.get_by_role("button", name="Train", exact=True).focus()
    page.keyboard.press("Enter")
    wait(page, 25)
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Train", exact=True).wait_for()
    page.get_by_role("radio", name="post-LN").focus()
    page.keyboard.press("ArrowRight")
    assert page.get_by_role("radio", name="pre-LN").is_checked()
    slider = page.get_by_role("slider", name="Learning rate")
    slider.focus()
    page.keyboard.press("ArrowRight")
    assert slider.get_attribute("aria-valuetext") == "0.016"
    page.get_by_text("width 32, learning rate 0.016").wait_for()


def compared(page: Any) -> None:
    """An idea begins a new run, and the last one stays in grey."""
    page.get_by_role("button", name="Without warm-up").click()
    page.get_by_role("button", name="Train", exact=True).click()
    wait(page, 100)
    pause(page)
    assert number(page, "loss") > 4.5, "it is not stuck"
    page.get_by_role("button", name="A bag of words").click()
    page.get_by_text("Before, in grey: post-LN, 2 + 2 layers").wait_for()
    assert page.locator(".curve.last").count() == 1
    page.get_by_role("button", name="One update").click()
    wait(page, 1)
    assert number(page, "step") == 1, "a look at the run before"
    assert page.get_by_role("button", name="Save").is_disabled()
    page.screenshot(path=OUT / "compared.png", full_page=True)


def no_barriers(browser: Any, url: str, width: int, scheme: str) -> None:
    """On arrival, and after some updates: no finding of axe-core."""
    with watched(browser, width, scheme) as page:
        page.goto(url)
        check(page, OUT / f"{width}-{scheme}-arrival.png")
        page.get_by_text("The words that it can learn").click()
        page.get_by_role("button", name="The model as it is").click()
        page.get_by_role("button", name="Train", exact=True).click()
        wait(page, 100)
        pause(page)
        check(page, OUT / f"{width}-{scheme}.png")


def fingers(browser: Any, url: str) -> None:
    """Where a finger points, everything to press is 44 px high and wide."""
    with watched(browser, 390, is_mobile=True, has_touch=True) as page:
        page.goto(url)
        small = [one for one in page.evaluate(TARGETS) if min(one[1:]) < 44]
        assert not small, small


def outputs(folder: Path, name: str) -> Iterator[Path]:
    """Pages with what ``book.play`` shows, also in a frame as Colab's."""
    shown = book.play(name)._repr_html_()
    frame = f'<iframe sandbox="allow-scripts" srcdoc="{escape(shown)}" '
    frame += 'style="width: 100%; height: 1000px" title="an output"></iframe>'
    for file, body in {name: shown, f"{name}-framed": frame}.items():
        path = folder / f"{file}.html"
        path.write_text(f"{HEAD}<main>{body}</main>", encoding="utf-8")
        yield path


def in_an_output(browser: Any) -> None:
    """``book.play("train")`` trains on a page and in a frame as Colab's."""
    for file in outputs(OUT, "train"):
        framed = "framed" in file.stem
        with watched(browser) as page:
            page.goto(file.as_uri())
            inside = page.frame_locator("iframe") if framed else page
            inside.get_by_role("button", name="Train", exact=True).click()
            inside.locator("[data-part=log] tr").nth(4).wait_for()  # update 100
            if not framed:
                pause(page)
                check(page, OUT / "output.png")


if __name__ == "__main__":
    sys.exit(main())
