"""Opens each page of build/site and looks for faults, wide and narrow, light and dark.

A fault is an error on the console, a request to another host, sideways scrolling, a
picture without a text, a formula that is not set, a barrier that axe-core calls serious
or critical. The search must find something. Part of ``make browser``; ``-k`` chooses
pages by their names. With ``NMT_AXE=1``, axe-core looks in each view, which takes an
hour.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from nmt_book.web.train_page import EXAMPLES
from tests.site.chromium import SITE, barriers, listen, needs_chromium
from tools import live

pytestmark = needs_chromium
FILES = sorted(path.relative_to(SITE) for path in SITE.rglob("*.html"))
PAGES = [
    file.as_posix() for file in FILES if file.parts[0] not in ("_static", "404.html")
]
# Each page is loaded twice, and resized; axe-core, which is slow, looks where it loads:
# at first for everything, then for what depends on the width and on the colours.
LOADS = {
    (1280, "light"): (1600, 1280, 1240, 820),
    (390, "dark"): (390,),
}
SCHEMES = ("light", "dark")
SEEN = ("color-contrast", "scrollable-region-focusable", "link-in-text-block")
FOCUSABLE = 400  # ms after which the theme has made focusable what scrolls
FAULTS = """async () => {
    if (window.MathJax?.startup?.promise) await MathJax.startup.promise
    const frame = () => new Promise(go => requestAnimationFrame(() => setTimeout(go)))
    await frame(), await frame() // after a change of width
    await document.fonts.ready
    const seen = element => element.checkVisibility()
    const all = (what, test) => [...document.querySelectorAll(what)].filter(test)
    const wide = element => element.scrollWidth > element.clientWidth + 1
    const scrolls = element => /auto|scroll/.test(getComputedStyle(element).overflowX)
    const images = all('img', image => !image.alt && !image.closest('.cards'))
    const unsaid = all('.cell_output img[src*="_images"]', image => {
        const words = image.previousElementSibling // in the margin, where there is one
        return words?.textContent !== image.alt ||
            seen(image) && seen(words) !== innerWidth >= 1264
    })
    const dark = document.documentElement.dataset.theme === 'dark'
    const boxes = all('main img', image => getComputedStyle(image).filter === 'none')
    const formulas = all('.math', math => !math.querySelector('mjx-container'))
    const columns = pre => Math.max(...pre.textContent.split('\\n').map(l => l.length))
    const fits = pre => innerWidth >= 1200 && columns(pre) <= 88
    const cut = all('pre', pre => wide(pre) && (!scrolls(pre) || fits(pre)))
    const raw = all('summary', summary => /[$][^$]+[$]/.test(summary.textContent))
    const sets = all('mjx-container[display]',
                     math => wide(math) && !scrolls(math))
    const machine = document.querySelector('.machine')?.getBoundingClientRect()
    const over = box => machine && box.width && box.height &&
        box.left < machine.right - 1 && box.right > machine.left + 1 &&
        box.top < machine.bottom - 1 && box.bottom > machine.top + 1
    const under = all('section > .cell, table, .expect, .bd-sidebar-secondary',
                      part => seen(part) && over(part.getBoundingClientRect()))
    const searches = all('.search-button, .search-button-field', seen)
    return {
        'scrolls sideways': +(document.documentElement.scrollWidth > innerWidth),
        'picture without text': images.length,
        'picture without its words': unsaid.length,
        'light box on a dark page': dark ? boxes.length : 0,
        'formula not set': formulas.length + all('mjx-merror', seen).length,
        'formula in a summary not set': raw.length,
        'under the machine': under.length,
        'code cut off': cut.length,
        'formula cut off': sets.length,
        'not one viewport': document.querySelectorAll('[name=viewport]').length - 1,
        'not one search': searches.length === 1 ? 0 : 1,
    }
}"""
# What each chapter has: links to other pages, to Colab and to the file; and all that is
# folded opens on a click.
CHAPTER = """async () => {
    const main = document.querySelector('main')
    const links = [...main.querySelectorAll('a')]
    const file = links.find(link => link.hasAttribute('download'))
    const folds = [...main.querySelectorAll('details')].filter(
        fold => !fold.closest('details:not([open]) details'))
    const shut = folds.filter(fold => {
        const [folded, inside] = [!fold.open, fold.lastElementChild]
        const hidden = !inside.checkVisibility()
        fold.querySelector('summary').click()
        return !(folded && hidden && fold.open && inside.checkVisibility())
    })
    return {
        'link to nowhere': links.filter(link => /OWNER/i.test(link.href)).length,
        'no file to download': file && (await fetch(file.href)).ok ? 0 : 1,
        'no next or previous page': +!main.querySelector('.left-prev, .right-next'),
        'does not unfold': shut.length,
    }
}"""


@pytest.fixture
def plain(browser: Any) -> Iterator[Any]:
    """A page that is not watched."""
    page = browser.new_page(viewport={"width": 390, "height": 844})
    yield page
    page.close()


@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_no_fault(name: str, plain: Any, site: str) -> None:
    """Of each fault, where it is, and how often."""
    page, now, found = plain, listen(plain), Counter[str]()
    chapter = name.startswith("notebooks/") and "assignments" not in name
    for load, widths in LOADS.items():
        views = [(width, scheme) for width in widths for scheme in SCHEMES]
        show(page, *load)
        now.clear()
        page.goto(f"{site}/{name}", wait_until="load")
        for unfolded in (False, True)[: 1 + chapter]:
            if unfolded:
                show(page, *load)
                found.update(placed(page.evaluate(CHAPTER), load))
            for view in sorted(views, key=lambda view: view != load):
                show(page, *view)
                seen = page.evaluate(FAULTS)
                if "NMT_AXE" in os.environ or (view == load and not unfolded):
                    page.wait_for_timeout(FOCUSABLE)
                    rules = () if view == (1280, "light") else SEEN
                    seen |= barriers(page, rules=rules)
                found.update(placed(seen, view, ", unfolded" * unfolded))
        found.update(placed(now, load))
    assert not +found


def show(page: Any, width: int, scheme: str) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    # Colours that fade in are not measured half-way.
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")


def placed(count: dict[str, int], view: Any, more: str = "") -> dict[str, int]:
    """Faults with the view that has them."""
    return {f"{fault} at {view}{more}": n for fault, n in count.items()}


FOUND = """() => {
    const [icon, field] = document.querySelectorAll('main .bd-search > :is(i, input)')
    const {left} = field.getBoundingClientRect()
    const text = left + parseFloat(getComputedStyle(field).paddingLeft)
    return {
        'scrolls sideways': document.documentElement.scrollWidth > innerWidth,
        'has a magnifier on its words': icon.getBoundingClientRect().right > text,
    }
}"""


@pytest.mark.parametrize(
    ("query", "chapter"), [("attention", "04"), ("masks", "03"), ("beam search", "08")]
)
def test_a_search_finds_the_chapter_first(
    query: str, chapter: str, plain: Any, site: str
) -> None:
    """And fits on a phone."""
    plain.goto(f"{site}/search.html?q={query}", wait_until="networkidle")
    plain.wait_for_timeout(2000)
    first = plain.locator("#search-results li a").first
    assert first.inner_text().startswith(chapter)
    faults = plain.evaluate(FOUND)
    assert not any(faults.values()), faults


TABS = 8  # presses until a reader without a mouse can type


@pytest.mark.parametrize("name", ["index", "live", "train"])
def test_tab_reaches_the_text_before_the_side_bar(
    name: str, browser: Any, site: str
) -> None:
    with browser.new_page() as page:
        page.goto(f"{site}/{name}.html", wait_until="load")
        box = page.locator("#text:focus")
        for _ in range(TABS):
            page.keyboard.press("Tab")
            if box.count():
                return
    raise AssertionError(f"no text box after {TABS} tabs")


@pytest.mark.parametrize("script", [True, False])
@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 844)])
def test_the_start_page_is_seen_at_once(
    width: int, height: int, script: bool, browser: Any, site: str
) -> None:
    viewport = {"width": width, "height": height}
    with browser.new_page(viewport=viewport, java_script_enabled=script) as page:
        page.goto(f"{site}/index.html", wait_until="load")
        parts = ("#text", ".result", ".tries button", ".ways")
        for part in (".bd-article h1", *(parts if script else (".nmt-attention td",))):
            box = page.locator(part).first.bounding_box()
            assert box and box["y"] + box["height"] <= height, part


@pytest.mark.parametrize("page", [{"java_script_enabled": False}], indirect=True)
@pytest.mark.parametrize(
    ("name", "text"), [("live", live.GENDER["text"]), ("train", EXAMPLES[0])]
)
def test_where_no_script_runs_tables_are_seen(
    name: str, text: str, page: Any, site: str
) -> None:
    page.goto(f"{site}/{name}.html")
    tables = page.locator(".nmt-attention > table")
    assert text in tables.first.inner_text() and tables.last.is_visible()
