"""Uses each thing to touch as a reader would: on a page, in a frame, in JupyterLab.

Part of ``make browser``. Screenshots go to build/screens.
"""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any

import pytest
from nbformat.v4 import new_code_cell, new_output

import nmt_book as book
from nmt_book.web.play import FOLDER
from tests.site.browser_live import PHONE, in_views
from tests.site.chromium import needs_chromium
from tests.site.jupyterlab import COUNT, run_all, write

pytestmark = needs_chromium
NAMES = sorted(path.stem for path in FOLDER.glob("*.js"))
HEAD = """<!doctype html><html lang="en"><meta charset="utf-8"><title>output</title>
<meta name="viewport" content="width=device-width"><style>
@media (prefers-color-scheme: dark) { body { background: #111; } }</style>"""
# The elements that a finger presses: their width and height.
TARGETS = """() => {
    const root = document.querySelector(".nmt-attention").shadowRoot
    const all = root.querySelectorAll("button, input:not([type=radio]), .tabs label")
    return [...all].map(one => one.closest(".toggle") ?? one).map(one => {
        const { width, height } = one.getBoundingClientRect()
        return [one.textContent || one.type, width, height]
    })
}"""
FINGER = {"is_mobile": True, "has_touch": True}
# Every event that controls send while the reader uses them.
LISTEN = """host => {
    host.heard = []
    for (const kind of ["input", "change"])
        host.shadowRoot.addEventListener(kind, () => host.heard.push(kind))
}"""
HEARD = "host => host.heard.splice(0)"


def outputs(folder: Path, name: str) -> list[Path]:
    """Pages with what ``book.play`` shows, also in a frame as Colab's."""
    shown = book.play(name).data
    frame = f'<iframe sandbox="allow-scripts" srcdoc="{escape(shown)}" '
    frame += 'style="width: 100%; height: 1000px" title="an output"></iframe>'
    files = [folder / f"{name}.html", folder / f"{name}-framed.html"]
    for file, body in zip(files, (shown, frame), strict=True):
        file.write_text(f"{HEAD}<main>{body}</main>", encoding="utf-8")
    return files


def room_for_a_finger(page: Any) -> None:
    """Everything to press is 44 px high and wide."""
    small = [one for one in page.evaluate(TARGETS) if min(one[1:]) < 44]
    assert not small, small


@pytest.mark.parametrize("name", NAMES)
@in_views(1280, 390, phone=FINGER)
def test_on_a_page(
    name: str, page: Any, check: Callable[[], None], tmp_path: Path
) -> None:
    """First and last look; and on a phone, room for a finger."""
    page.goto(outputs(tmp_path, name)[0].as_uri())
    host = page.locator(".nmt-play")
    check()
    use(page, host)
    check()
    if page.viewport_size["width"] < PHONE:
        room_for_a_finger(page)
    mouse(page, host)


@pytest.mark.parametrize("name", NAMES)
def test_in_a_frame(name: str, page: Any, tmp_path: Path) -> None:
    page.goto(outputs(tmp_path, name)[1].as_uri())
    use(page, page.frame_locator("iframe").locator(".nmt-play"))


def use(page: Any, host: Any) -> None:
    """Every control by the keyboard alone; what it says changes, and is told."""
    host.locator("section").wait_for()
    readout = host.locator(".readout")
    said = {readout.inner_text()}
    host.evaluate(LISTEN)
    for slider in host.get_by_role("slider").all():
        before = slider.get_attribute("aria-valuetext")
        move(page, host, slider)
        assert slider.get_attribute("aria-valuetext") != before, before
        said.add(readout.inner_text())
    for group in host.locator("fieldset").all():
        chosen = group.locator("input:checked")
        before = group.locator("label:has(:checked)").inner_text()
        chosen.focus()
        page.keyboard.press("ArrowRight")
        assert group.locator("label:has(:checked)").inner_text() != before
        said.add(readout.inner_text())
    for board in host.locator(".board").all():
        board.locator(".cell[tabindex='0']").focus()
        for key in ("ArrowDown", "ArrowRight"):
            page.keyboard.press(key)
            cell = board.locator("button:focus")
            before = cell.get_attribute("aria-pressed")
            page.keyboard.press("Enter")
            pressed = cell.get_attribute("aria-pressed")
            assert before is None or pressed != before, "a press does nothing"
        assert board.locator(".cell[tabindex='0']").count() == 1
        said.add(readout.inner_text())
    for field in host.locator("input:not([type])").all():
        field.focus()
        page.keyboard.type(" mayday", delay=20)
        assert field.input_value().count(" mayday") == 1
        said.add(readout.inner_text())
    assert len(said) > 1, "nothing changes what it says"
    page.wait_for_timeout(700)  # it is told when the reader has paused
    assert host.get_by_role("status").inner_text().startswith(readout.inner_text())


def move(page: Any, host: Any, slider: Any) -> None:
    """Moves a slider by a key: it says what it shows, and is heard once.

    ``host`` has been given ``LISTEN``.
    """
    slider.focus()
    at_end = slider.evaluate("one => one.value === one.max")
    host.evaluate(HEARD)
    page.keyboard.press("ArrowLeft" if at_end else "ArrowRight")
    assert sorted(host.evaluate(HEARD)) == ["change", "input"], "not one event of each"
    shown = slider.locator("xpath=ancestor::*[.//output][1]//output")
    assert slider.get_attribute("aria-valuetext") == shown.inner_text()


def mouse(page: Any, host: Any) -> None:
    """What can be dragged, and what runs by itself until it is stopped."""
    readout = host.locator(".readout")
    for picture in host.locator(".drag").all():
        before, box = readout.inner_text(), picture.bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        page.mouse.move(x, y - box["height"] / 4)
        page.mouse.down()
        page.mouse.move(x + box["width"] / 4, y, steps=8)  # a quarter of a turn
        page.mouse.up()
        assert readout.inner_text() != before, "it cannot be dragged"
    for run in host.locator("button", has_text="▶").element_handles():
        says, before = run.inner_text(), readout.inner_text()
        run.click()
        assert run.inner_text() != says
        page.wait_for_timeout(1000)
        assert readout.inner_text() != before, "nothing runs"
        if run.inner_text() != says:
            run.click()
        assert run.inner_text() == says


def test_in_jupyterlab(lab: str, page: Any, tmp_path: Path) -> None:
    """Tables before the notebook is trusted; then it is run, and keys stay inside."""
    cells = [new_code_cell("import nmt_book as book")]
    for name in NAMES:
        shown = {"text/html": book.play(name).data}
        stored = new_output("execute_result", shown, execution_count=1)
        cells.append(new_code_cell(f"book.play({name!r})", outputs=[stored]))
    write(tmp_path / "notebooks/play.ipynb", *cells)
    page.goto(f"{lab}/lab/tree/play.ipynb?reset")
    page.locator(".nmt-play table, .jp-RenderedHTML table").first.wait_for()
    drawn = "one => one.some(part => part.shadowRoot)"
    assert not page.locator(".nmt-play").evaluate_all(drawn), "not trusted"
    run_all(page)
    hosts = page.locator(".nmt-play").all()
    for host in hosts:
        host.scroll_into_view_if_needed()
        use(page, host)
    assert len(hosts) == len(NAMES)
    assert page.evaluate(COUNT) == len(cells), "keys changed the notebook"
