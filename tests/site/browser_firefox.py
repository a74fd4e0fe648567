"""The site in Firefox: typing on the live page, no page that scrolls sideways, and each
thing to touch by a key.

Part of ``make browser``; needs Firefox and npm, which fetches puppeteer-core. Things
alone, which need no site: ``python -m tests.site.browser_firefox things``.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from typing import Any

from tests.site.browser_live import TYPED, expected
from tests.site.browser_play import NAMES
from tests.site.browser_site import SITE, served
from tests.site.browser_train import outputs
from tests.site.chromium import ROOT

DRIVER = ROOT / "build/firefox/node_modules/puppeteer-core"
THINGS = ROOT / "build/firefox/things"
WIDTHS = (390, 1280)
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


def main() -> int:
    firefox = shutil.which("firefox-esr") or shutil.which("firefox")
    if not firefox or not shutil.which("npm"):
        print("SKIPPED: no Firefox or no npm (apt-get install firefox-esr npm)")
        return int("CI" in os.environ)  # there, a skipped check is a failed one
    if not DRIVER.exists():
        DRIVER.parents[1].mkdir(parents=True, exist_ok=True)
        npm = ["npm", "install", "--silent", "--prefix", str(DRIVER.parents[1])]
        subprocess.run([*npm, "puppeteer-core@24"], check=True)
    if sys.argv[1:] != ["things"]:
        with served(SITE) as address:
            on_the_site(firefox, address)
    things = [*NAMES, "train"]
    THINGS.mkdir(exist_ok=True)
    for name in things:
        list(outputs(THINGS, name))
    with served(THINGS) as address:
        steps: list[Any] = []
        for name in things:
            steps += [["goto", f"{address}/{name}.html"], ["evaluate", KEY], ["press"]]
            steps += [["waitForFunction", f"{SAYS} !== before"]]
        answers(firefox, steps)
    print(f"Firefox: {', '.join(things)} answer a key")
    return 0


def on_the_site(firefox: str, address: str) -> None:
    steps: list[Any] = [["goto", f"{address}/live.html#model=en-de&text=Two+dogs."]]
    for delay in (80, 230, 330):
        steps += [["click", ">>> #text", {"count": 3}], ["press", "Backspace"]]
        steps += [["type", ">>> #text", TYPED, {"delay": delay}], ["evaluate", TEXT]]
    steps += [["waitForSelector", ">>> .offer", {"hidden": True, "timeout": 120_000}]]
    steps += [["waitForSelector", ">>> .ask[aria-busy=false]"]]
    steps += [["evaluate", f"{RESULT}.innerText"]]
    pages = [str(path.relative_to(SITE)) for path in SITE.rglob("*.html")]
    for width in WIDTHS:
        steps += [["setViewport", {"width": width, "height": 900}]]
        for page in pages:
            steps += [["goto", f"{address}/{page}"], ["evaluate", WIDE]]
    *typed, result = answers(firefox, steps)[:4]
    assert typed == [TYPED] * 3, typed
    assert result == expected("en-de", TYPED).text, result
    print(f"Firefox: {len(pages)} pages at {WIDTHS}, every letter is there")


def answers(firefox: str, steps: list[Any]) -> list[Any]:
    """What Firefox answers to the steps, without an error."""
    module = DRIVER / "lib/esm/puppeteer/puppeteer-core.js"
    command = ["node", str(ROOT / "tests/site/firefox.mjs"), str(module), firefox]
    output = subprocess.check_output(command, input=json.dumps(steps), text=True)
    found = json.loads(output)
    assert not found["errors"], found["errors"]
    return list(found["answers"])


if __name__ == "__main__":
    sys.exit(main())
