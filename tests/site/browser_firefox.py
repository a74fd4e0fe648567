"""The site in Firefox: typing on the live page, and no page that scrolls sideways.

Part of ``make browser``; needs Firefox and npm, which fetches puppeteer-core.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys

from tests.site.browser_live import TYPED, expected
from tests.site.browser_site import SITE, served
from tests.site.chromium import ROOT

DRIVER = ROOT / "build/firefox/node_modules/puppeteer-core"
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
    asked = {"pages": pages, "widths": WIDTHS, "typed": TYPED, "speeds": [80, 230, 330]}
    module = DRIVER / "lib/esm/puppeteer/puppeteer-core.js"
    with served(SITE) as address:
        command = ["node", str(SCRIPT), str(module), address, json.dumps(asked)]
        env = os.environ | {"FIREFOX": firefox}
        answer = subprocess.run(command, env=env, stdout=subprocess.PIPE, check=True)
    found = json.loads(answer.stdout)
    assert found["typed"] == [TYPED] * 3, found["typed"]
    assert found["result"] == expected("en-de", TYPED).text, found["result"]
    assert not found["wide"] and not found["errors"], found
    print(f"Firefox: {len(pages)} pages at {WIDTHS}, every letter is there")
    return 0


if __name__ == "__main__":
    sys.exit(main())
