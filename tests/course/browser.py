"""Opens hostile submissions in a Chromium, in formgrader and on the feedback page:
nothing of them runs, and their formulas and links are there.

Part of ``make browser``. Screenshots go to build/browser-course.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
from nbgrader.api import Gradebook

from nmt_book.course import course
from tests.course import kit
from tests.course.hostile import PAYLOADS
from tests.course.test_sanitize import FINE
from tests.site.chromium import ROOT, chromium
from tests.site.jupyterlab import jupyterlab

OUT, NAME = ROOT / "build/browser-course", "A1_tokenization"
CLASS = OUT / "notebooks"  # what ``jupyterlab`` serves
MATHJAX = ROOT / "build/mathjax/node_modules/mathjax"
RAN = "window.hasRun = false; window.ran = () => { window.top.hasRun = true }"
CLICK = """() => document.querySelectorAll('a, button, [href]').forEach(thing => {
    if (thing.textContent.trim() === 'click')
        thing.dispatchEvent(new MouseEvent('click', {bubbles: true, cancelable: true}))
})"""


def main() -> int:
    shutil.rmtree(OUT, ignore_errors=True)
    if not MATHJAX.exists() and shutil.which("npm"):  # the pages' own is on the web
        npm = ["npm", "install", "--silent", "mathjax@2.7.9", "--prefix"]
        MATHJAX.parents[1].mkdir(parents=True, exist_ok=True)
        subprocess.run([*npm, MATHJAX.parents[1]], check=True)
    course.make("", "", CLASS)
    titles = {f"s{i:02}": title for i, title in enumerate(PAYLOADS)}
    for student, title in titles.items():
        hand_in(OUT / f"in/{student}/A1.ipynb", f"{PAYLOADS[title]}\n\n{FINE}")
    grade = [sys.executable, "-m", "nmt_book.course.grade", "--trusted"]
    subprocess.run([*grade, OUT / "in", "--course", CLASS], check=True)
    os.chdir(CLASS)  # where formgrader looks for its config
    wrong = 0
    with chromium() as browser, jupyterlab(OUT) as address:
        with Gradebook(f"sqlite:///{CLASS}/gradebook.db", "nmt") as book:
            pages_of = {
                one.student.id: f"{address}/formgrader/submissions/{one.id}/"
                for one in book.notebook_submissions(NAME, NAME)
            }
        for student, title in titles.items():
            pages = {
                "formgrader": pages_of[student],
                "feedback": (CLASS / f"feedback/{student}/{NAME}/{NAME}.html").as_uri(),
            }
            for place, url in pages.items():
                said = look(browser, url, OUT / f"{student}-{place}.png")
                wrong += bool(said)
                print(f"{title}, {place}: {said or 'nothing runs'}", flush=True)
        # The proof of the proof: not sanitized, a script runs.
        marked = CLASS / f"autograded/s00/{NAME}/{NAME}.ipynb"
        notebook = nbformat.read(marked, 4)
        notebook.cells.append(nbformat.v4.new_markdown_cell(PAYLOADS["script"]))
        marked.unlink()
        nbformat.write(notebook, marked)
        said = look(browser, pages_of["s00"], OUT / "control.png")
        wrong += "a script runs" not in said
        print(f"not sanitized: {said or 'nothing runs, which is wrong'}")
    return bool(wrong)


def hand_in(path: Path, text: str) -> None:
    """An answered notebook with this text in a written answer, in cells of the
    student's own, in an output, in an attachment, and in an error's message."""
    notebook = kit.submission(kit.assignment(NAME))
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and cell.metadata.nbgrader.solution:
            cell.source = text
            cell.attachments = {"a.svg": {"image/svg+xml": text}}
    output = {"text/html": text, "application/javascript": "ran()"}
    own = nbformat.v4.new_code_cell(
        "1", outputs=[nbformat.v4.new_output("display_data", output)]
    )
    raw = nbformat.v4.new_raw_cell(text)
    error = nbformat.v4.new_code_cell(f"raise ValueError('''{text}''')")
    notebook.cells += [own, raw, error]
    notebook.cells += map(nbformat.v4.new_markdown_cell, (text, FINE))
    kit.hand_in(path, notebook)


def local(route: Any) -> None:
    """MathJax from this machine."""
    path = MATHJAX / route.request.url.partition("/2.7.7/")[2].partition("?")[0]
    route.fulfill(path=path) if path.exists() else route.abort()


def look(browser: Any, url: str, picture: Path) -> str:
    """What is wrong on a page."""
    page = browser.new_page(viewport={"width": 1100, "height": 1400})
    page.add_init_script(RAN)
    fetched = []
    if MATHJAX.exists():
        page.route("**/mathjax/2.7.7/**", local)
    page.on("request", lambda request: fetched.append(request.url))
    page.goto(url, wait_until="load")
    page.wait_for_function("() => window.MathJax?.Hub?.Register && MathJax.isReady")
    page.evaluate("() => new Promise(r => MathJax.Hub.Queue(() => r()))")
    page.evaluate(CLICK)
    page.wait_for_timeout(300)
    page.screenshot(path=picture, full_page=True)
    wrong = ["a script runs"] * page.evaluate("window.hasRun")
    wrong += [f"fetches {url}" for url in fetched if "fetched" in url]
    wrong += ["goes elsewhere"] * (not page.url.startswith(url))
    wrong += ["no link"] * (not page.query_selector("a[href='https://example.org']"))
    wrong += ["no formula"] * (not page.query_selector(".mjx-chtml"))
    page.close()
    return ", ".join(wrong)


if __name__ == "__main__":
    sys.exit(main())
