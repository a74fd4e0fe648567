"""Opens each page of build/site and looks for faults, wide and narrow, light and dark.

A fault is an error on the console, a request to another host, sideways scrolling, a
picture without a text, a formula that is not set, a barrier that axe-core calls serious
or critical. The search must find something. Part of ``make browser``.
"""

from __future__ import annotations

import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.site.chromium import ROOT, barriers, chromium

SITE = ROOT / "build" / "site"
VIEWS = [
    (width, scheme)
    for width in (1920, 1280, 1200, 820, 390)
    for scheme in ("light", "dark")
]
FAULTS = """async () => {
    if (window.MathJax?.startup?.promise) await MathJax.startup.promise
    const seen = element => element.checkVisibility()
    const all = (what, test) => [...document.querySelectorAll(what)].filter(test)
    const wide = element => element.scrollWidth > element.clientWidth + 1
    const scrolls = element => /auto|scroll/.test(getComputedStyle(element).overflowX)
    const images = all('img', image => !image.alt && !image.closest('.cards'))
    const formulas = all('.math', math => !math.querySelector('mjx-container'))
    const columns = pre => Math.max(...pre.textContent.split('\\n').map(l => l.length))
    const fits = pre => innerWidth >= 1200 && columns(pre) <= 88
    const cut = all('pre', pre => wide(pre) && (!scrolls(pre) || fits(pre)))
    const raw = all('summary', summary => /[$][^$]+[$]/.test(summary.textContent))
    const sets = all('mjx-container[display]',
                     math => !math.closest('details') && wide(math))
    const searches = all('.search-button, .search-button-field', seen)
    return {
        'scrolls sideways': +(document.documentElement.scrollWidth > innerWidth),
        'picture without text': images.length,
        'formula not set': formulas.length + all('mjx-merror', seen).length,
        'formula in a summary not set': raw.length,
        'code cut off': cut.length,
        'formula cut off': sets.length,
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


def main() -> int:
    files = (path.relative_to(SITE) for path in SITE.rglob("*.html"))
    pages = sorted(
        p.as_posix() for p in files if p.parts[0] not in ("_static", "404.html")
    )
    names = sys.argv[1:] or pages
    if not names:
        print("error: there is no site in build/site: run make site", file=sys.stderr)
        return 2
    found = []
    with chromium() as browser, served(SITE) as address:
        for width, scheme in VIEWS:
            size = {"width": width, "height": 900}
            context = browser.new_context(viewport=size, color_scheme=scheme)
            for name in names:
                count = faults(context, address, name)
                found += [f"{name} at {width} {scheme}: {one}" for one in count.items()]
        found += search(browser, address)
        found += [
            fault
            for size in ((1280, 800), (390, 844))
            for script in (True, False)
            for fault in first_screen(browser, address, size, script)
        ]
    print(*found, f"{len(names)} pages, {len(found)} faults", sep="\n")
    return bool(found)


def faults(context: Any, address: str, name: str) -> Counter[str]:
    """What is wrong with a page in one view, and how often."""
    count: Counter[str] = Counter()
    page = context.new_page()
    page.on("pageerror", lambda error: count.update([f"script: {error.message}"]))
    page.on("console", lambda said: count.update([said.text] * (said.type == "error")))
    page.on("request", lambda request: count.update(outside(request.url, address)))
    page.goto(f"{address}/{name}", wait_until="networkidle")
    count.update(page.evaluate(FAULTS))
    count.update(barriers(page))
    if name.startswith("notebooks/") and "assignments" not in name:
        count.update(page.evaluate(CHAPTER))
        unfolded = page.evaluate(FAULTS)
        count.update({f"unfolded: {fault}": n for fault, n in unfolded.items()})
    page.close()
    return +count


def outside(url: str, address: str) -> list[str]:
    """A request that leaves the site."""
    own = url.startswith((address, "data:", "blob:"))
    return [] if own else [f"request to {url}"]


def search(browser: Any, address: str) -> list[str]:
    """Whether the search finds the chapter of a subject first."""
    page, found = browser.new_page(), []
    for query, chapter in {
        "attention": "04",
        "masks": "03",
        "beam search": "08",
    }.items():
        page.goto(f"{address}/search.html?q={query}", wait_until="networkidle")
        page.wait_for_timeout(2000)
        first = page.locator("#search-results li a").first.inner_text()
        if not first.startswith(chapter):
            found.append(f"the search for {query!r} finds {first!r} first")
    page.close()
    return found


def first_screen(
    browser: Any, address: str, size: tuple[int, int], script: bool
) -> list[str]:
    """Parts of the start page that are not seen at once; the maps may be below."""
    viewport = {"width": size[0], "height": size[1]}
    page = browser.new_page(viewport=viewport, java_script_enabled=script)
    page.goto(f"{address}/index.html", wait_until="load")
    attention = ".nmt-attention" if script else ".nmt-attention table"
    found = []
    for part in (".bd-article h1", ".ways", ".said", attention):
        box = page.locator(part).first.bounding_box()
        if not box or box["y"] + min(box["height"], 340) > size[1]:
            found.append(f"first screen at {size}, script {script}: {part} at {box}")
    page.close()
    return found


if __name__ == "__main__":
    sys.exit(main())
