"""Opens each page of build/site as readers do, wide and narrow, light and dark, and looks for faults: ``make browser``.

No error on the console, no request to another host, no sideways scrolling, a text for each picture, each formula set,
a search that finds something, nothing that axe-core calls serious or critical. Prints a table, pages by sizes.
"""

from __future__ import annotations

import sys
import threading
from collections import Counter
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

from tests.site.chromium import ROOT, barriers, chromium, load_axe

SITE = ROOT / "build" / "site"
VIEWS = [(width, scheme) for width in (1280, 390) for scheme in ("light", "dark")]
FAULTS = """async () => {
    if (window.MathJax?.startup?.promise) await MathJax.startup.promise
    const seen = element => element.checkVisibility()
    const images = [...document.querySelectorAll('img')].filter(image => !image.alt && !image.closest('.cards'))
    const formulas = [...document.querySelectorAll('.math')].filter(math => !math.querySelector('mjx-container'))
    const cut = [...document.querySelectorAll('pre')].filter(
        pre => pre.scrollWidth > pre.clientWidth + 1 && !/auto|scroll/.test(getComputedStyle(pre).overflowX))
    const wide = [...document.querySelectorAll('mjx-container[display]')].filter(
        math => !math.closest('details') && math.scrollWidth > math.clientWidth + 1)
    const searches = [...document.querySelectorAll('.search-button, .search-button-field')].filter(seen)
    return {
        'scrolls sideways': document.documentElement.scrollWidth > innerWidth ? 1 : 0,
        'picture without text': images.length,
        'formula not set': formulas.length + document.querySelectorAll('mjx-merror').length,
        'code cut off': cut.length,
        'formula cut off': wide.length,
        'not one search': searches.length === 1 ? 0 : 1,
    }
}"""
# What stands on each chapter: ways on, Colab, the file; and all that is folded opens on a click.
CHAPTER = """async () => {
    const main = document.querySelector('main')
    const links = [...main.querySelectorAll('a')]
    const file = links.find(link => link.hasAttribute('download'))
    const folds = [...main.querySelectorAll('details')].filter(fold => !fold.closest('details:not([open]) details'))
    const shut = folds.filter(fold => {
        const [folded, inside] = [!fold.open, fold.lastElementChild]
        const hidden = !inside.checkVisibility()
        fold.querySelector('summary').click()
        return !(folded && hidden && fold.open && inside.checkVisibility())
    })
    return {
        'no way to Colab': links.some(link => link.host === 'colab.research.google.com') ? 0 : 1,
        'no file to download': file && (await fetch(file.href)).ok ? 0 : 1,
        'no next or previous page': main.querySelector('.left-prev, .right-next') ? 0 : 1,
        'does not unfold': shut.length,
    }
}"""


class Quiet(SimpleHTTPRequestHandler):
    """A server that says nothing."""

    def log_message(self, format: str, *args: object) -> None:
        pass


def main() -> int:
    names = sys.argv[1:] or sorted(
        path.relative_to(SITE).as_posix() for path in SITE.rglob("*.html")
    )
    if not names:
        print("error: there is no site in build/site: run make site", file=sys.stderr)
        return 2
    load_axe()
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(SITE)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        return look(f"http://127.0.0.1:{server.server_port}", names)
    finally:
        server.shutdown()


def look(address: str, names: list[str]) -> int:
    """Prints the table; 1 if a page has a fault."""
    found: list[str] = []
    print("page".ljust(44), *(f"{width} {scheme}".rjust(11) for width, scheme in VIEWS))
    with chromium() as browser:
        contexts = [
            browser.new_context(
                viewport={"width": width, "height": 900}, color_scheme=scheme
            )
            for width, scheme in VIEWS
        ]
        for name in names:
            row = [faults(context, address, name) for context in contexts]
            print(
                name[:43].ljust(44),
                *(str(sum(cell.values()) or "–").rjust(11) for cell in row),
                flush=True,
            )
            for (width, scheme), cell in zip(VIEWS, row, strict=True):
                found += [
                    f"{name} at {width} {scheme}: {fault}, {count}"
                    for fault, count in cell.items()
                ]
        found += search(contexts[0], address) + first_screen(browser, address)
    print(
        *found,
        f"{len(names)} pages, {len(VIEWS)} views each, {len(found)} faults",
        sep="\n",
    )
    return bool(found)


def faults(context: Any, address: str, name: str) -> Counter:
    """What is wrong with a page in one view, with how often."""
    count: Counter[str] = Counter()
    page = context.new_page()
    page.on(
        "console",
        lambda message: count.update(
            [f"console: {message.text}"] if message.type == "error" else []
        ),
    )
    page.on("pageerror", lambda error: count.update([f"script: {error.message}"]))
    page.on("request", lambda request: count.update(elsewhere(request.url, address)))
    page.goto(f"{address}/{name}", wait_until="networkidle")
    count.update(page.evaluate(FAULTS))
    count.update(barriers(page))
    if name.startswith("notebooks/") and "assignments" not in name:
        count.update(page.evaluate(CHAPTER))
        count.update(
            {f"unfolded: {fault}": n for fault, n in page.evaluate(FAULTS).items()}
        )
    page.close()
    return +count


def elsewhere(url: str, address: str) -> list[str]:
    """A request that leaves the site."""
    leaves = urlsplit(url).scheme not in ("data", "blob") and not url.startswith(
        address
    )
    return [f"request to {urlsplit(url).netloc}"] if leaves else []


def search(context: Any, address: str) -> list[str]:
    """Whether the search finds a chapter by its subject."""
    page = context.new_page()
    page.goto(f"{address}/search.html?q=attention", wait_until="networkidle")
    page.wait_for_timeout(2000)
    hits = page.locator("#search-results li").count()
    page.close()
    return [] if hits >= 5 else [f"the search for 'attention' finds {hits} pages"]


def first_screen(browser: Any, address: str) -> list[str]:
    """What of the start page is not seen at once: its ways in, and a translation with its attention, or its table."""
    found = []
    for width, height in ((1280, 800), (390, 844)):
        for script in (True, False):
            context = browser.new_context(
                viewport={"width": width, "height": height}, java_script_enabled=script
            )
            page = context.new_page()
            page.goto(f"{address}/index.html", wait_until="load")
            attention = ".nmt-attention" if script else ".nmt-attention table"
            for part in (".bd-article h1", ".ways", ".said", attention):
                box = page.locator(part).first.bounding_box()
                if (
                    not box or box["y"] + min(box["height"], 340) > height
                ):  # the maps may stand below the words
                    found.append(
                        f"first screen at {width}, script {script}: {part} at {box}"
                    )
            context.close()
    return found


if __name__ == "__main__":
    sys.exit(main())
