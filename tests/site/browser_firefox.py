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
from pathlib import Path
from typing import Any

import nmt_book as book
from tests.site.browser_live import TYPED, expected
from tests.site.browser_play import HEAD, NAMES
from tests.site.browser_site import SITE, served
from tests.site.chromium import ROOT

DRIVER = ROOT / "build/firefox/node_modules/puppeteer-core"
THINGS = ROOT / "build/firefox/things"
SCRIPT = ROOT / "tests/site/firefox.mjs"
WIDTHS = (390, 1280)


def main() -> int:
    firefox = shutil.which("firefox-esr") or shutil.which("firefox")
    if not firefox or not shutil.which("npm"):
        print("SKIPPED: no Firefox or no npm (apt-get install firefox-esr npm)")
        return int("CI" in os.environ)  # there, a skipped check is a failed one
    if not DRIVER.exists():
        DRIVER.parents[1].mkdir(parents=True, exist_ok=True)
        npm = ["npm", "install", "--silent", "--prefix", str(DRIVER.parents[1])]
        subprocess.run([*npm, "puppeteer-core@24"], check=True)
    pages = sorted(str(path.relative_to(SITE)) for path in SITE.rglob("*.html"))
    if sys.argv[1:] != ["things"]:
        on_the_site(firefox, pages)
    things = [*NAMES, "train"]
    for name in things:
        page = f"{HEAD}<main>{book.play(name)._repr_html_()}</main>"
        THINGS.mkdir(exist_ok=True)
        (THINGS / name).with_suffix(".html").write_text(page, encoding="utf-8")
    found = used(firefox, THINGS, things=[f"{name}.html" for name in things])
    changed = {
        name for name, (before, after) in found["things"].items() if before != after
    }
    assert len(changed) == len(things) and not found["errors"], found
    print(f"Firefox: {', '.join(things)} answer a key")
    return 0


def on_the_site(firefox: str, pages: list[str]) -> None:
    speeds = [80, 230, 330]
    found = used(firefox, SITE, pages=pages, widths=WIDTHS, typed=TYPED, speeds=speeds)
    assert found["typed"] == [TYPED] * 3, found["typed"]
    assert found["result"] == expected("en-de", TYPED).text, found["result"]
    assert not found["wide"] and not found["errors"], found
    print(f"Firefox: {len(pages)} pages at {WIDTHS}, every letter is there")


def used(firefox: str, folder: Path, **asked: Any) -> Any:
    """What firefox.mjs has found on pages of a folder."""
    job = {"pages": [], "widths": [], "speeds": [], "typed": "", "things": []} | asked
    module = DRIVER / "lib/esm/puppeteer/puppeteer-core.js"
    with served(folder) as address:
        command = ["node", str(SCRIPT), str(module), address, json.dumps(job)]
        env = os.environ | {"FIREFOX": firefox}
        answer = subprocess.run(command, env=env, stdout=subprocess.PIPE, check=True)
    return json.loads(answer.stdout)


if __name__ == "__main__":
    sys.exit(main())
