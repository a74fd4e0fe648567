"""The site in Firefox: typing on the live page, no page that scrolls sideways, and each
thing to touch by a key.

Part of ``make browser``; needs Firefox and npm, which fetches puppeteer-core.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.site.browser_live import GERMAN, TYPED, expected
from tests.site.browser_play import NAMES, outputs
from tests.site.browser_site import FILES
from tests.site.chromium import ROOT, served

FIREFOX = shutil.which("firefox-esr") or shutil.which("firefox")
pytestmark = pytest.mark.skipif(  # in CI, a skipped check is a failed one
    not (FIREFOX and shutil.which("npm")) and "CI" not in os.environ,
    reason="no Firefox or no npm (apt-get install firefox-esr npm)",
)
DRIVER = ROOT / "build/firefox/node_modules/puppeteer-core"
TEXT = """new Promise(go => setTimeout(go, 1500)).then(() =>
    document.querySelector('.nmt-live').shadowRoot.querySelector('#text').value)"""
RESULT = "document.querySelector('.nmt-live').shadowRoot.querySelector('.result')"
WIDE = """new Promise(go => setTimeout(go, 300)).then(() => {
    const { scrollWidth, clientWidth } = document.documentElement
    if (scrollWidth > clientWidth) console.error(location + ": " + scrollWidth)
})"""
SAYS = """document.querySelector(".nmt-attention").shadowRoot
    .querySelector(".readout, [data-part=log]").innerText"""
# Focuses the first control of a thing; on the training page, what begins it.
KEY = f"""(() => {{
    globalThis.before = {SAYS}
    const root = document.querySelector(".nmt-attention").shadowRoot
    const one = root.querySelector("[type=range], .cell, button.main") ??
        root.querySelector("input")
    one.focus()
    if (one.type === "range") return one.value === one.max ? "ArrowLeft" : "ArrowRight"
    return one.type === "text" ? "x" : "Enter"
}})()"""


def answers(*steps: Any) -> list[Any]:
    """What Firefox answers to the steps, without an error."""
    if not DRIVER.exists():
        DRIVER.parents[1].mkdir(parents=True, exist_ok=True)
        npm = ["npm", "install", "--silent", "--prefix", str(DRIVER.parents[1])]
        subprocess.run([*npm, "puppeteer-core@24"], check=True)
    module = DRIVER / "lib/esm/puppeteer/puppeteer-core.js"
    command = ["node", str(ROOT / "tests/site/firefox.mjs"), str(module), str(FIREFOX)]
    output = subprocess.check_output(command, input=json.dumps(steps), text=True)
    found = json.loads(output)
    assert not found["errors"]
    return list(found["answers"])


def test_every_letter_stays(site: str) -> None:
    steps: list[Any] = [["goto", f"{site}/live.html{GERMAN}"]]
    for delay in (80, 230, 330):
        steps += [["click", ">>> #text", {"count": 3}], ["press", "Backspace"]]
        steps += [["type", ">>> #text", TYPED, {"delay": delay}], ["evaluate", TEXT]]
    steps += [["waitForSelector", ">>> .offer", {"hidden": True, "timeout": 120_000}]]
    steps += [["waitForSelector", ">>> .ask[aria-busy=false]"]]
    *typed, result = answers(*steps, ["evaluate", f"{RESULT}.innerText"])
    assert typed == [TYPED] * 3
    assert result == expected("en-de", TYPED)


@pytest.mark.parametrize("width", [390, 1280])
def test_no_page_scrolls_sideways(width: int, site: str) -> None:
    steps: list[Any] = [["setViewport", {"width": width, "height": 900}]]
    for file in FILES:
        steps += [["goto", f"{site}/{file.as_posix()}"], ["evaluate", WIDE]]
    answers(*steps)


def test_things_answer_a_key(tmp_path: Path) -> None:
    steps: list[Any] = []
    with served(tmp_path) as address:
        for name in [*NAMES, "train"]:
            outputs(tmp_path, name)
            steps += [["goto", f"{address}/{name}.html"], ["evaluate", KEY], ["press"]]
            steps += [["waitForFunction", f"{SAYS} !== before"]]
        answers(*steps)
