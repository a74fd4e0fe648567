"""Pictures of each thing to touch in two states, and of a training as ten frames.

python -m tests.site.strip writes them to build/strip, for people to look at.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import nmt_book as book
from tests.site.browser_live import watched
from tests.site.browser_play import HEAD, NAMES
from tests.site.browser_train import wait
from tests.site.chromium import ROOT, chromium

OUT = ROOT / "build" / "strip"
FRAMES = [25, 50, 75, 100, 125, 150, 200, 300, 400, 500]  # updates
# Moves sliders far along, presses a cell, and chooses the last of a few.
MOVE = """() => {
    const root = document.querySelector(".nmt-play").shadowRoot
    const tell = one => one.dispatchEvent(new Event("input", { bubbles: true }))
    for (const one of root.querySelectorAll("[type=range]")) {
        one.value = Math.round(0.6 * one.max)
        tell(one)
    }
    for (const one of root.querySelectorAll("label:last-child > [type=radio]"))
        one.click()
    root.querySelectorAll(".cell")[3]?.click()
    const text = root.querySelector("input:not([type])")
    if (text) {
        text.value = "The cat drank the milk."
        tell(text)
    }
}"""


def main() -> int:
    OUT.mkdir(parents=True, exist_ok=True)
    with chromium() as browser:
        for width in (390, 1280):
            for scheme in ("light", "dark"):
                shots = [two_states(browser, name, width, scheme) for name in NAMES]
                strip(browser, f"things-{width}-{scheme}", shots, scheme)
        frames = film(browser)
        strip(browser, "training", [frames[:5], frames[5:]], "light")
    print(f"pictures: {OUT}")
    return 0


def two_states(browser: Any, name: str, width: int, scheme: str) -> list[Path]:
    shots = [OUT / f"{name}-{width}-{scheme}-{i}.png" for i in (1, 2)]
    with watched(browser, width, scheme) as page:
        page.set_content(f"{HEAD}<main>{book.play(name)._repr_html_()}</main>")
        host = page.locator(".nmt-play")
        for shot in shots:
            host.screenshot(path=shot)
            page.evaluate(MOVE)
    return shots


def film(browser: Any) -> list[Path]:
    shots = []
    with watched(browser, 900) as page:
        page.set_content(f"{HEAD}<main>{book.play('train')._repr_html_()}</main>")
        train = page.get_by_role("button", name="Train", exact=True)
        for step in FRAMES:
            train.click()
            wait(page, step)
            page.get_by_role("button", name="Pause").click()
            train.wait_for()
            page.wait_for_timeout(500)
            shots.append(OUT / f"training-{step}.png")
            page.screenshot(path=shots[-1])
    return shots


def strip(browser: Any, name: str, rows: list[list[Path]], scheme: str) -> None:
    """Pictures as one: each of ``rows`` beside each other."""
    images = "".join(
        "<div>" + "".join(f'<img src="{shot.as_uri()}">' for shot in row) + "</div>"
        for row in rows
    )
    style = "<style>div { display: flex; gap: 8px; margin: 8px; align-items: start }"
    style += f"img {{ max-width: calc({100 / len(rows[0])}% - 8px) }}"
    file = OUT / f"{name}.html"
    file.write_text(f"{HEAD}{style}</style>{images}", encoding="utf-8")
    with watched(browser, 1280, scheme) as page:
        page.goto(file.as_uri())
        page.screenshot(path=OUT / f"{name}.png", full_page=True)


if __name__ == "__main__":
    sys.exit(main())
