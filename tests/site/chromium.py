"""A Chromium of the system without a window, and axe-core, which looks for barriers."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
AXE = ROOT / "build/axe/node_modules/axe-core/axe.min.js"
NAMES = ("chromium", "chromium-browser", "google-chrome")
PATH = next(filter(None, map(shutil.which, NAMES)), None)
# Where one is required, it may also be Playwright's own, and a missing one is an error.
needs_chromium = pytest.mark.skipif(
    PATH is None and os.environ.get("NMT_BROWSER") != "required",
    reason="no Chromium on this machine (apt-get install chromium)",
)
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]


@contextmanager
def launched() -> Iterator[Any]:
    """A browser of Playwright's."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=PATH, args=FLAGS)
        yield browser
        browser.close()


@contextmanager
def chromium() -> Iterator[Any]:
    """The same with axe-core; without a Chromium, the program says so and ends."""
    if PATH is None:
        print("SKIPPED: no Chromium on this machine (apt-get install chromium)")
        sys.exit("CI" in os.environ)  # there, a skipped check is a failed one
    if not AXE.exists() and shutil.which("npm"):
        npm = ["npm", "install", "--silent", "--prefix", str(AXE.parents[2])]
        AXE.parents[2].mkdir(parents=True, exist_ok=True)
        subprocess.run([*npm, "axe-core@4.14.1"], check=True)
    if not AXE.exists():
        print("SKIPPED: axe-core (no npm)")
    with launched() as browser:
        yield browser


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
    if not AXE.exists():
        return {}
    page.evaluate(AXE.read_text(encoding="utf-8"))
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
