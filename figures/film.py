"""Films the start page: ``python -m figures.film``, after ``make site``.

It presses the button that switches off a head, types a sentence, and presses again, in
a Chromium (Playwright, as for ``make browser``); it writes ``live.webp`` and
``live_still.webp``.
"""

import io
from pathlib import Path
from typing import Any

from PIL import Image

from tests.site.chromium import SITE, chromium, served

HERE = Path(__file__).parent
SIZE = {"width": 900, "height": 800}
ASKS = "Switch off the head that makes the car feminine"
AGAIN = "Switch off the same head"
TYPED = "A blue car is parked on the street."
HEIGHT = 212  # of the card, with what a press adds below
KEY = 160  # milliseconds a key, as people type
DRAWN = ".ask[aria-busy=false]"  # the translation of what is typed is there
# Holds what fades in at a moment after its start; false: all of it is over by then.
MOVED = """at => {
    const all = document.querySelector('.nmt-live').shadowRoot.getAnimations()
    for (const one of all) {
        one.pause()
        one.currentTime = at
    }
    return all.some(one => one.effect.getComputedTiming().endTime > at)
}"""
POINTER = """([x, y]) => {
    const dot = document.querySelector('#dot') ?? document.createElement('i')
    dot.id = 'dot'
    dot.style = `position:absolute;left:${x}px;top:${y + scrollY}px;width:22px;
        height:22px;margin:-11px;border-radius:50%;background:#1118;z-index:99;
        pointer-events:none`
    document.body.append(dot)
}"""


def film() -> None:
    frames: list[tuple[Image.Image, int]] = []  # a picture and its milliseconds
    with chromium() as browser, served(SITE) as address:
        page = browser.new_page(viewport=SIZE, color_scheme="light")
        page.goto(f"{address}/index.html", wait_until="networkidle")
        page.locator(".nmt-live[aria-busy=false]").wait_for()
        card = page.locator(".ask").bounding_box()
        area = {"x": 33, "y": card["y"] - 12, "width": 834, "height": HEIGHT}

        def take(milliseconds: int) -> None:
            shot = Image.open(io.BytesIO(page.screenshot(clip=area)))
            frames.append((shot.convert("RGB"), milliseconds))

        def grow(milliseconds: int) -> None:
            """Words fade in at their own pace, whatever the pace of this machine."""
            for at in range(0, 900, 60):
                if page.evaluate(MOVED, at):
                    take(60)
            page.evaluate(MOVED, 10_000)
            take(milliseconds)

        page.evaluate(MOVED, 10_000)
        take(1800)
        press(page, ASKS, take, grow)
        still = len(frames) - 1
        press(page, "Switch the head on again", take, grow)
        page.evaluate("document.querySelector('#dot').remove()")
        page.locator("textarea").first.fill(TYPED)  # this fetches the model
        page.locator(".result", has_text="bleue").wait_for()
        page.locator("textarea").first.fill("")
        for letter in TYPED:
            page.keyboard.type(letter)
            page.locator(DRAWN).wait_for()
            take(KEY)
        page.locator(".nmt-live[aria-busy=false]").wait_for()
        take(1500)
        press(page, AGAIN, take, grow)
    first, *others = [shot for shot, _ in frames]
    first.save(
        HERE / "live.webp",
        save_all=True,
        append_images=others,
        duration=[time for _, time in frames],
        loop=0,
        quality=80,
        method=6,
    )
    frames[still][0].save(HERE / "live_still.webp", quality=85, method=6)


def press(page: Any, name: str, take: Any, grow: Any) -> None:
    """Moves a dot to a button, and presses it."""
    button = page.get_by_role("button", name=name)
    box = button.bounding_box()
    page.evaluate(POINTER, [box["x"] + 120, box["y"] + box["height"] / 2 + 4])
    take(500)
    button.click()
    page.locator(".nmt-live[aria-busy=false]").wait_for()
    grow(3000)


if __name__ == "__main__":
    film()
