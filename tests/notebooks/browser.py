"""Opens each chapter in JupyterLab as a reader would, runs all cells, and looks for errors: ``make browser``.

A Chromium of the system is driven without a window; screenshots go to build/browser. The chapters run on copies.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import nbformat
from tests.site.chromium import ROOT, chromium

OUT = ROOT / "build" / "browser"
MINUTES = 15  # for one chapter; a busy machine can be many times slower
READY = """() => {
    const session = window.jupyterapp.shell.currentWidget?.sessionContext
    return session?.isReady && session.session?.kernel?.connectionStatus === 'connected'
        && session.kernelDisplayStatus === 'idle'
}"""
RUNNING = """() => {
    const panel = window.jupyterapp.shell.currentWidget
    return panel.content.widgets.some(cell => cell.model.type === 'code' && cell.model.executionState === 'running')
}"""


def main() -> int:
    shutil.rmtree(OUT, ignore_errors=True)
    (OUT / "notebooks").mkdir(parents=True)
    names = sys.argv[1:] or [
        path.name for path in sorted((ROOT / "notebooks").glob("[0-9]*.ipynb"))
    ]
    for name in names:
        shutil.copy(ROOT / "notebooks" / name, OUT / "notebooks")
    with chromium() as browser, jupyterlab(OUT) as address:
        return run_all(browser, address, names)


@contextmanager
def jupyterlab(folder: Path, **environment: str) -> Iterator[str]:
    """The address of a JupyterLab that serves ``folder/notebooks`` and keeps its own settings there."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = {
        "JUPYTERLAB_SETTINGS_DIR": str(folder / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(folder / "spaces"),
    }
    command = [
        sys.executable,
        "-m",
        "jupyterlab",
        "--no-browser",
        "--allow-root",
        f"--port={port}",
        f"--ServerApp.root_dir={folder / 'notebooks'}",
        "--IdentityProvider.token=",
        "--LabApp.expose_app_in_browser=True",
    ]
    quiet = (
        folder
        / "settings/@jupyterlab/apputils-extension/notification.jupyterlab-settings"
    )
    quiet.parent.mkdir(parents=True)
    quiet.write_text('{"fetchNews": "false", "checkForUpdates": false}')
    log = (folder / "server.log").open("w")
    server = subprocess.Popen(
        command,
        env={**os.environ, **settings, **environment},
        stdout=log,
        stderr=subprocess.STDOUT,
    )
    try:
        address = f"http://127.0.0.1:{port}"
        wait_for(address)
        yield address
    finally:
        server.terminate()
        server.wait()


def wait_for(address: str) -> None:
    """Until the server answers.

    Raises:
        TimeoutError: it does not within five minutes.
    """
    for _ in range(300):
        try:
            urllib.request.urlopen(address + "/api")
            return
        except (urllib.error.URLError, ConnectionError):
            time.sleep(1)
    raise TimeoutError("JupyterLab does not answer: see server.log in build/browser")


def run_all(browser: Any, address: str, names: list[str]) -> int:
    """Opens, runs, saves and photographs each chapter; 1 if one of them has an error."""
    failed = 0
    for name in names:
        start = time.time()
        page = browser.new_page(viewport={"width": 1400, "height": 1000})
        page.set_default_timeout(MINUTES * 60_000)
        page.goto(f"{address}/lab/tree/{name}?reset")
        page.wait_for_selector(".jp-NotebookPanel-toolbar")
        page.wait_for_function(READY)
        page.get_by_role("menuitem", name="Run", exact=True).click()
        page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
        page.wait_for_function(RUNNING, timeout=60_000)
        page.wait_for_function(f"() => !({RUNNING})()")
        page.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")
        page.screenshot(path=OUT / f"{Path(name).stem}-end.png")
        page.evaluate(
            "() => window.jupyterapp.shell.currentWidget.content.scrollToItem(0)"
        )
        page.wait_for_timeout(1000)
        page.screenshot(path=OUT / f"{Path(name).stem}.png")
        errors = complaints(OUT / "notebooks" / name)
        failed += bool(errors)
        print(
            f"{name}: {time.time() - start:.0f} s, {'; '.join(errors) or 'no error'}",
            flush=True,
        )
        page.evaluate(
            "() => window.jupyterapp.shell.currentWidget.sessionContext.shutdown()"
        )
        page.close()
    print(f"screenshots: {OUT}")
    return bool(failed)


def complaints(path: Path) -> list[str]:
    """Cells that did not run, and errors, of a saved chapter."""
    cells = [
        cell
        for cell in nbformat.read(path, as_version=4).cells
        if cell.cell_type == "code" and cell.source.strip()
    ]
    errors = [
        f"{output.ename}: {output.evalue}"
        for cell in cells
        for output in cell.outputs
        if output.output_type == "error"
    ]
    counts = [cell.execution_count for cell in cells]
    return errors + (
        [] if counts == list(range(1, len(cells) + 1)) else [f"cells numbered {counts}"]
    )


if __name__ == "__main__":
    sys.exit(main())
