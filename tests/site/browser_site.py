"""Opens each page of build/site and looks for faults, wide and narrow, light and dark.

A fault is an error on the console, a request to another host, sideways scrolling, a
picture without a text, a formula that is not set, a barrier that axe-core calls serious
or critical. The search must find something. Part of ``make browser``. Names of pages
choose some; with ``--axe``, axe-core looks in each view, which takes an hour.
"""

from __future__ import annotations

import sys
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.site.chromium import ROOT, barriers, chromium

SITE = ROOT / "build" / "site"
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


class Quiet(SimpleHTTPRequestHandler):
    """A server that logs nothing."""

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of a server of the files in a folder."""
    handler = partial(Quiet, directory=str(folder))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def main() -> int:
    files = (path.relative_to(SITE) for path in SITE.rglob("*.html"))
    pages = sorted(
        p.as_posix() for p in files if p.parts[0] not in ("_static", "404.html")
    )
    named = [one for one in sys.argv[1:] if not one.startswith("-")]
    names = named or pages
    if not names:
        print("error: there is no site in build/site: run make site", file=sys.stderr)
        return 2
    found = []
    with chromium() as browser, served(SITE) as address:
        page, now = browser.new_page(), Counter[str]()
        listen(page, now)
        for name in names:
            count = faults(page, f"{address}/{name}", now, "--axe" in sys.argv)
            found += [f"{name}: {fault} ({n})" for fault, n in count.items()]
            print(name, count or "", flush=True)
        if not named:
            found += search(browser, address) + by_keys(browser, address)
            found += [
                fault
                for size in ((1280, 800), (390, 844))
                for script in (True, False)
                for fault in first_screen(browser, address, size, script)
            ]
    print(*found, f"{len(names)} pages, {len(found)} faults", sep="\n")
    return bool(found)


OWN = "http://127.0.0.1", "ws://127.0.0.1", "file:", "data:", "blob:"


def listen(page: Any, count: Counter[str]) -> None:
    """Counts errors, and requests to another machine, of all that a page loads."""
    page.on("pageerror", lambda error: count.update([f"script: {error.stack}"]))
    page.on("console", lambda said: count.update([said.text] * (said.type == "error")))
    page.on(
        "request", lambda one: count.update([one.url] * (not one.url.startswith(OWN)))
    )


def faults(page: Any, url: str, now: Counter[str], axe: bool) -> Counter[str]:
    """What is wrong with a page, where, and how often; ``axe``: ask it in each view."""
    count: Counter[str] = Counter()
    chapter = "/notebooks/" in url and "assignments" not in url
    for load, widths in LOADS.items():
        views = [(width, scheme) for width in widths for scheme in SCHEMES]
        show(page, *load)
        now.clear()
        page.goto(url, wait_until="load")
        for unfolded in (False, True)[: 1 + chapter]:
            if unfolded:
                show(page, *load)
                count.update(placed(page.evaluate(CHAPTER), *load))
            for view in sorted(views, key=lambda view: view != load):
                show(page, *view)
                seen = page.evaluate(FAULTS)
                if axe or (view == load and not unfolded):
                    page.wait_for_timeout(FOCUSABLE)
                    rules = () if view == (1280, "light") else SEEN
                    seen |= barriers(page, rules=rules)
                count.update(placed(seen, *view, unfolded))
        count.update(placed(now, *load))
    return +count


def show(page: Any, width: int, scheme: str) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    # Colours that fade in are not measured half-way.
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")


def placed(
    count: Mapping[str, int], width: int, scheme: str, unfolded: bool = False
) -> dict[str, int]:
    """Faults with the view that has them."""
    where = f"at {width} {scheme}{', unfolded' * unfolded}"
    return {f"{fault} {where}": n for fault, n in count.items()}


FOUND = """() => {
    const [icon, field] = document.querySelectorAll('main .bd-search > :is(i, input)')
    const {left} = field.getBoundingClientRect()
    const text = left + parseFloat(getComputedStyle(field).paddingLeft)
    return {
        'scrolls sideways': document.documentElement.scrollWidth > innerWidth,
        'has a magnifier on its words': icon.getBoundingClientRect().right > text,
    }
}"""


def search(browser: Any, address: str) -> list[str]:
    """Whether the search finds the chapter of a subject first, and fits on a phone."""
    size = {"width": 390, "height": 844}
    page, found = browser.new_page(viewport=size), []
    for query, chapter in ("attention", "04"), ("masks", "03"), ("beam search", "08"):
        page.goto(f"{address}/search.html?q={query}", wait_until="networkidle")
        page.wait_for_timeout(2000)
        first = page.locator("#search-results li a").first.inner_text()
        if not first.startswith(chapter):
            found.append(f"the search for {query!r} finds {first!r} first")
        faults = page.evaluate(FOUND)
        found += [f"the search for {query!r} {one}" for one in faults if faults[one]]
    page.close()
    return found


TABS = 8  # presses until a reader without a mouse can type


def by_keys(browser: Any, address: str) -> list[str]:
    """Whether Tab reaches the text boxes before the links of the side bar."""
    page, found = browser.new_page(), []
    for name in ("index", "live", "train"):
        page.goto(f"{address}/{name}.html", wait_until="load")
        box = page.locator("#text")
        for _ in range(TABS):
            page.keyboard.press("Tab")
            if box.evaluate("one => one.matches(':focus')"):
                break
        else:
            found.append(f"{name}: no text box after {TABS} tabs")
    page.close()
    return found


def first_screen(
    browser: Any, address: str, size: tuple[int, int], script: bool
) -> list[str]:
    """Parts of the start page that are not seen at once."""
    viewport = {"width": size[0], "height": size[1]}
    page = browser.new_page(viewport=viewport, java_script_enabled=script)
    page.goto(f"{address}/index.html", wait_until="load")
    found, parts = [], (".bd-article h1", "#text", ".result", ".tries button", ".ways")
    for part in parts if script else (".bd-article h1", ".nmt-attention td"):
        box = page.locator(part).first.bounding_box()
        if not box or box["y"] + box["height"] > size[1]:
            found.append(f"first screen at {size}, script {script}: {part} at {box}")
    page.close()
    return found


if __name__ == "__main__":
    sys.exit(main())
