"""A Chromium of the system without a window, pages that are watched in it, and
axe-core, which looks for barriers."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "build/site"
AXE = ROOT / "build/axe/node_modules/axe-core/axe.min.js"
NAMES = ("chromium", "chromium-browser", "google-chrome")
PATH = next(filter(None, map(shutil.which, NAMES)), None)
# Where one is required, it may also be Playwright's own, and a missing one is an error.
needs_chromium = pytest.mark.skipif(
    PATH is None and os.environ.get("NMT_BROWSER") != "required",
    reason="no Chromium on this machine (apt-get install chromium)",
)
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
OWN = "http://127.0.0.1", "ws://127.0.0.1", "file:", "data:", "blob:"


@contextmanager
def chromium() -> Iterator[Any]:
    """A browser of Playwright's."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=PATH, args=FLAGS)
        yield browser
        browser.close()


class Quiet(SimpleHTTPRequestHandler):
    """A server that logs nothing."""

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of a server of the files in a folder."""
    handler = partial(Quiet, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def listen(page: Any) -> Counter[str]:
    """Counts errors, and requests to another machine, of all that a page loads."""
    count: Counter[str] = Counter()
    page.on("pageerror", lambda error: count.update([f"script: {error.stack}"]))
    page.on("console", lambda said: count.update([said.text] * (said.type == "error")))
    page.on(
        "request", lambda one: count.update([one.url] * (not one.url.startswith(OWN)))
    )
    return count


@contextmanager
def watched(
    browser: Any, width: int = 1280, scheme: str = "light", **options: Any
) -> Iterator[Any]:
    """A new page; at its end: no error, no request to another host."""
    size = {"width": width, "height": 900}
    options = {"reduced_motion": "reduce", "color_scheme": scheme} | options
    context = browser.new_context(viewport=size, **options)
    page = context.new_page()
    page.set_default_timeout(120_000)
    found = listen(page)
    yield page
    context.close()
    assert not found, found


@cache
def axe() -> str:
    """The script of axe-core; empty where npm cannot fetch it."""
    if not AXE.exists() and shutil.which("npm"):
        AXE.parents[2].mkdir(parents=True, exist_ok=True)
        npm = ["npm", "install", "--silent", "--prefix", str(AXE.parents[2])]
        subprocess.run([*npm, "axe-core@4.14.1"], check=True)
    return AXE.read_text(encoding="utf-8") if AXE.exists() else ""


def barriers(
    page: Any,
    part: str = "html",
    impacts: Sequence[str] = ("serious", "critical"),
    rules: Sequence[str] = (),
) -> dict[str, int]:
    """Barriers that axe-core finds in a part, and in how many places.

    Args:
        rules: which it looks for; default: all.
    """
    if not axe():
        return {}
    page.evaluate(axe())
    # Text in just the colour behind it is no violation to axe-core, only incomplete.
    call = """async ([part, rules]) => {
        const { violations, incomplete } = await axe.run({include: [[part]]}, {
            resultTypes: ['violations', 'incomplete'], preload: false,
            ...(rules.length && {runOnly: rules})})
        const same = node => node.any[0]?.data?.messageKey === 'equalRatio'
        const unseen = incomplete.map(one => ({...one, nodes: one.nodes.filter(same)}))
        return [...violations, ...unseen.filter(one => one.nodes.length)]
    }"""
    return {
        f"axe: {one['id']} such as {one['nodes'][0]['target'][0]}": len(one["nodes"])
        for one in page.evaluate(call, [part, [*rules]])
        if one["impact"] in impacts
    }
