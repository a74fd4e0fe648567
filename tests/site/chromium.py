"""A Chromium of the system without a window, and axe-core: what the tests in a browser share."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
AXE = ROOT / "build" / "axe" / "node_modules" / "axe-core" / "axe.min.js"
NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
]
FLAGS += ["--disable-component-update", "--disable-sync"]


@contextmanager
def chromium() -> Iterator[Any]:
    """A browser of Playwright's; where there is no Chromium, the program says so and ends."""
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        print("SKIPPED: no Chromium on this machine (apt-get install chromium)")
        sys.exit(0)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


def load_axe() -> None:
    """Gets axe-core, which looks for barriers, from npm, unless it is there."""
    if not AXE.exists() and shutil.which("npm"):
        folder = AXE.parents[2]
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(
            ["npm", "install", "--silent", "--prefix", folder, "axe-core@4.14.1"],
            check=True,
        )
    if not AXE.exists():
        print("SKIPPED: axe-core (no npm)")


def barriers(page: Any, part: str = "html") -> dict[str, int]:
    """What axe-core calls serious or critical in a part of a page, with an example, and in how many places it is."""
    if not AXE.exists():
        return {}
    page.evaluate(AXE.read_text(encoding="utf-8"))
    options = {"resultTypes": ["violations"], "preload": False}
    found = page.evaluate(
        "both => axe.run({include: [[both[0]]]}, both[1])", [part, options]
    )["violations"]
    return {
        f"axe {one['impact']}: {one['id']} such as {one['nodes'][0]['target'][0]}": len(
            one["nodes"]
        )
        for one in found
        if one["impact"] in ("serious", "critical")
    }
