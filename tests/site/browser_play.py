"""Uses each thing to touch as a reader would: on a page, in a frame, in JupyterLab.

Part of ``make browser``. Screenshots go to build/play.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

from nbformat.v4 import new_code_cell, new_output

import nmt_book as book
from nmt_book.web.play import FOLDER
from tests.site.browser_live import check, watched
from tests.site.browser_train import TARGETS, outputs
from tests.site.chromium import ROOT, chromium
from tests.site.jupyterlab import COUNT, jupyterlab, run_all, write

OUT = ROOT / "build" / "play"
NAMES = sorted(path.stem for path in FOLDER.glob("*.js"))
# Every event that controls send while the reader uses them.
LISTEN = """host => {
    host.heard = []
    for (const kind of ["input", "change"])
        host.shadowRoot.addEventListener(kind, () => host.heard.push(kind))
}"""
HEARD = "host => host.heard.splice(0)"


def main() -> int:
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir(parents=True)
    all_cells()
    with chromium() as browser:
        for name in NAMES:
            file, framed = outputs(OUT, name)
            on_a_page(browser, name, file)
            with watched(browser) as page:
                page.goto(framed.as_uri())
                use(page, page.frame_locator("iframe").locator(".nmt-play"))
            with watched(browser, java_script_enabled=False) as page:
                page.goto(file.as_uri())
                table = page.locator(".nmt-play > table")
                assert "run the cell" in table.inner_text(), f"{name}: no table"
        with jupyterlab(OUT, PYTHONPATH=str(ROOT)) as address, watched(browser) as page:
            in_jupyterlab(page, address)
    print(f"{', '.join(NAMES)} can be used everywhere; screenshots: {OUT}")
    return 0


def all_cells() -> None:
    """A notebook with a cell for each, and the outputs of a run."""
    cells = [new_code_cell("import nmt_book as book")]
    for name in NAMES:
        shown = {"text/html": book.play(name)._repr_html_()}
        stored = new_output("execute_result", shown, execution_count=1)
        cells.append(new_code_cell(f"book.play({name!r})", outputs=[stored]))
    write(OUT / "notebooks/play.ipynb", *cells)


def on_a_page(browser: Any, name: str, file: Path) -> None:
    """No barrier, nothing sideways, and room for a finger; first and last look."""
    for width in (390, 1280):
        for scheme in ("light", "dark"):
            touch = {"is_mobile": True, "has_touch": True} if width < 500 else {}
            with watched(browser, width, scheme, **touch) as page:
                page.goto(file.as_uri())
                host = page.locator(".nmt-play")
                host.screenshot(path=OUT / f"{name}-{width}-{scheme}-first.png")
                use(page, host)
                check(page, OUT / f"{name}-{width}-{scheme}-used.png")
                targets = page.evaluate(TARGETS.replace("nmt-train", "nmt-play"))
                small = [one for one in targets if touch and min(one[1:]) < 44]
                assert not small, (name, small)
                mouse(page, host)


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


def in_jupyterlab(page: Any, address: str) -> None:
    """Tables before the notebook is trusted; then it is run, and keys stay inside."""
    page.goto(f"{address}/lab/tree/play.ipynb?reset")
    page.locator(".nmt-play table, .jp-RenderedHTML table").first.wait_for()
    drawn = "[...document.querySelectorAll('.nmt-play')].filter(one => one.shadowRoot)"
    assert not page.evaluate(f"{drawn}.length"), "a script ran without trust"
    run_all(page)
    for name, host in zip(NAMES, page.locator(".nmt-play").all(), strict=True):
        host.scroll_into_view_if_needed()
        use(page, host)
        host.screenshot(path=OUT / f"{name}-lab.png")
    assert page.evaluate(COUNT) == len(NAMES) + 1, "keys changed the notebook"


if __name__ == "__main__":
    sys.exit(main())
