"""Trains a model on the training page of build/site, as a reader would.

Part of ``make browser``. Screenshots go to build/screens. What needs no site is in
test_browser.py.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.site.browser_live import in_views
from tests.site.browser_play import FINGER, outputs, room_for_a_finger
from tests.site.chromium import needs_chromium

pytestmark = needs_chromium


def number(page: Any, name: str) -> float:
    """A number that the page shows; -1 where there is none."""
    text = page.locator(f"[data-part={name}]").inner_text()
    return float(text) if text[:1].isdigit() else -1.0


def wait(page: Any, step: int) -> None:
    """Until so many updates are shown, and then for the page to pause."""
    part = 'document.querySelector(".nmt-train").shadowRoot.querySelector'
    page.wait_for_function(f"+{part}('[data-part=step]').textContent >= {step}")


def begin(page: Any) -> None:
    page.get_by_role("button", name="Train", exact=True).click()


def pause(page: Any) -> None:
    page.get_by_role("button", name="Pause").click()
    page.get_by_role("button", name="Train", exact=True).wait_for()
    page.wait_for_timeout(500)  # it draws twice a second


def test_the_loss_falls_and_all_looks_stay_on_the_page(page: Any, site: str) -> None:
    """Translations become right; a sentence of one's own has no gold links."""
    page.goto(f"{site}/train.html")
    begin(page)
    wait(page, 25)
    first = number(page, "loss")
    wait(page, 300)
    pause(page)
    assert number(page, "loss") < first - 2
    assert number(page, "right") > 20
    before = number(page, "step")
    assert page.locator("[data-part=log] tr").count() == 1 + before // 25
    assert page.locator("[data-part=spoken]").inner_text().startswith("Paused. Update ")
    page.get_by_role("button", name="One update").click()
    wait(page, int(before) + 1)
    gold, text = page.locator(".grid td.gold"), page.get_by_label("An English sentence")
    assert gold.count() > 5
    text.fill("The zebra is reading.")
    text.press("Enter")
    strange = page.get_by_text("Not among its words: zebra.")
    strange.wait_for()
    assert gold.count() == 0
    text.fill("The small girl is eating an apple.")
    text.press("Enter")
    strange.wait_for(state="hidden")


@in_views(390, 1280)
def test_no_barriers(page: Any, site: str, check: Callable[[], None]) -> None:
    """On arrival, and after some updates."""
    page.goto(f"{site}/train.html")
    check()
    page.get_by_text("The words that it can learn").click()
    page.get_by_role("button", name="The model as it is").click()
    begin(page)
    wait(page, 100)
    pause(page)
    check()


@pytest.mark.parametrize("page", [FINGER | {"width": 390}], indirect=True)
def test_there_is_room_for_a_finger(page: Any, site: str) -> None:
    page.goto(f"{site}/train.html")
    room_for_a_finger(page)


@pytest.mark.parametrize("framed", [False, True])
def test_it_trains_in_an_output(
    framed: bool, page: Any, check: Callable[[], None], tmp_path: Path
) -> None:
    """On a page and in a frame as Colab's."""
    page.goto(outputs(tmp_path, "train")[framed].as_uri())
    inside = page.frame_locator("iframe") if framed else page
    begin(inside)
    inside.locator("[data-part=log] tr").nth(4).wait_for()  # update 100
    if not framed:
        pause(page)
        check()
