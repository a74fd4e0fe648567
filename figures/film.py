"""Films the live page: ``python -m figures.film``, after ``make site``.

It presses the button that switches off a head, then types a sentence, in a Chromium
(Playwright, as for ``make browser``), and writes ``live.webp`` and ``live_still.webp``.
"""

import io
from pathlib import Path
from typing import Any

from PIL import Image

from tests.site.browser_site import SITE, served
from tests.site.chromium import chromium

HERE = Path(__file__).parent
SIZE = {"width": 900, "height": 1000}
ASKS = "Switch off the head that makes the car feminine"
TYPED = "Two cats are sleeping on a red sofa."
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
        page.goto(f"{address}/live.html", wait_until="networkidle")
        top = page.get_by_text("English → German").first.bounding_box()["y"]
        end = page.get_by_role("button", name=ASKS).bounding_box()
        area = {"x": 32, "y": top - 20, "width": 836}
        area["height"] = end["y"] + end["height"] + 24 - area["y"]

        def take(milliseconds: int) -> None:
            shot = Image.open(io.BytesIO(page.screenshot(clip=area)))
            frames.append((shot.convert("RGB"), milliseconds))

        take(1800)
        press(page, ASKS, take)
        take(3600)
        press(page, "Switch the head on again", take)
        take(1200)
        page.evaluate("document.querySelector('#dot').remove()")
        page.get_by_role("button", name="Get the model").click()
        page.wait_for_function("!document.body.innerText.includes('Get the model')")
        page.locator("textarea").first.fill("")
        words = TYPED.split(" ")
        for i, word in enumerate(words):
            page.keyboard.type(word + " " * (i + 1 < len(words)), delay=30)
            page.wait_for_timeout(900)
            take(450)
        take(3000)
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
    frames[2][0].save(HERE / "live_still.webp", quality=85, method=6)


def press(page: Any, name: str, take: Any) -> None:
    """Moves a dot to a button, and presses it."""
    button = page.get_by_role("button", name=name)
    box = button.bounding_box()
    page.evaluate(POINTER, [box["x"] + 120, box["y"] + box["height"] / 2 + 4])
    take(500)
    button.click()
    page.wait_for_timeout(900)


if __name__ == "__main__":
    film()
