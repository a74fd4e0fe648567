"""How long each thing to touch keeps a reader waiting, on a processor slowed 4 times.

Prints a table: python -m tests.site.browser_speed [NAME ...]
"""

from __future__ import annotations

import sys
from typing import Any

import nmt_book as book
from tests.site.browser_live import watched
from tests.site.browser_play import HEAD, NAMES, OUT
from tests.site.chromium import chromium

SLOWED, MOVES, LIMIT = 4, 20, 50  # times; of each control; ms
# Moves each control of a thing to and fro, and waits for a frame after each move. Gives
# {control: [[ms of script and layout, ms until it is painted] of each move]}, and the
# longest time in which the page could do nothing else.
MOVE = """async moves => {
    const root = document.querySelector(".nmt-play").shadowRoot
    const found = {}, long = []
    const observer = new PerformanceObserver(list =>
        long.push(...list.getEntries().map(({ duration }) => duration)))
    observer.observe({ type: "longtask" })
    const painted = () => new Promise(done => requestAnimationFrame(() => {
        const { port1, port2 } = new MessageChannel()
        port1.onmessage = done
        port2.postMessage(0)
    }))
    const time = async (name, act) => {
        await painted()
        const start = performance.now()
        act()
        root.host.getBoundingClientRect() // the layout, too
        const worked = performance.now() - start
        await painted()
        const all = [worked, performance.now() - start]
        found[name] = [...found[name] ?? [], all]
    }
    const event = (one, kind) => one.dispatchEvent(new Event(kind, { bubbles: true }))
    const at = (i, n) => Math.round(Math.abs(((i / 7) % 2) - 1) * n) // to and fro
    for (const one of root.querySelectorAll("input[type=range]"))
        for (let i = 1; i <= moves; i++) await time(
            one.closest(".slider").querySelector("span").textContent, () => {
                one.value = at(i, one.max)
                event(one, "input")
            })
    for (const group of root.querySelectorAll("fieldset")) {
        const all = [...group.querySelectorAll("input")]
        const name = group.querySelector("legend").textContent
        for (let i = 1; i <= moves; i++)
            await time(name, () => all[i % all.length].click())
    }
    for (const one of root.querySelectorAll(".toggle input"))
        for (let i = 1; i <= moves; i++)
            await time(one.parentElement.textContent, () => one.click())
    for (const one of root.querySelectorAll("input:not([type])"))
        for (let i = 1; i <= moves; i++) await time("text", () => {
            one.value += "a"
            event(one, "input")
        })
    const cells = root.querySelectorAll(".cell")
    for (let i = 1; cells.length && i <= moves; i++) await time("a cell", () =>
        root.querySelectorAll(".cell")[i * 5 % cells.length].click())
    await new Promise(done => setTimeout(done, 700)) // a screen reader is told
    return [found, Math.max(0, ...long)]
}"""


def main(names: list[str]) -> int:
    OUT.mkdir(parents=True, exist_ok=True)
    late = []
    print(f"median of {MOVES} moves, in ms, slowed {SLOWED} times")
    print("thing       control                             script painted worst task")
    with chromium() as browser:
        for name in names or NAMES:
            found, longest = measured(browser, name)
            for control, times in found.items():
                worked, painted = (
                    sorted(one)[MOVES // 2] for one in zip(*times, strict=True)
                )
                worst = max(one for one, _ in times)
                if worked > LIMIT:
                    late.append(f"{name}: {control}")
                row = f"{worked:6.0f} {painted:7.0f} {worst:5.0f} {longest:4.0f}"
                print(f"{name:11} {control[:34]:34} {row}")
    print(f"above {LIMIT} ms: {', '.join(late) or 'none'}")
    return len(late)


def measured(browser: Any, name: str) -> tuple[dict[str, list[list[float]]], float]:
    file = OUT / f"{name}-speed.html"
    shown = book.play(name)._repr_html_()
    file.write_text(f"{HEAD}<main>{shown}</main>", encoding="utf-8")
    with watched(browser) as page:
        page.goto(file.as_uri())
        page.locator(".nmt-play section").wait_for()
        page.evaluate(MOVE, 2)  # warm
        session = page.context.new_cdp_session(page)
        session.send("Emulation.setCPUThrottlingRate", {"rate": SLOWED})
        found: tuple[dict[str, list[list[float]]], float] = page.evaluate(MOVE, MOVES)
        return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
