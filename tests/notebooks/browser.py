"""Opens each chapter in JupyterLab as a reader would, runs all cells, finds errors.

Part of ``make browser``. Screenshots go to build/browser; the chapters run on copies.
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
    return session?.isReady && session.kernelDisplayStatus === 'idle'
        && session.session?.kernel?.connectionStatus === 'connected'
}"""
RUNNING = """() => window.jupyterapp.shell.currentWidget.content.widgets.some(
    cell => cell.model.type === 'code' && cell.model.executionState === 'running')"""


def main() -> int:
    shutil.rmtree(OUT, ignore_errors=True)
    (OUT / "notebooks").mkdir(parents=True)
    chapters = sorted((ROOT / "notebooks").glob("[0-9]*.ipynb"))
    names = sys.argv[1:] or [path.name for path in chapters]
    failed = 0
    with chromium() as browser, jupyterlab(OUT) as address:
        for name in names:
            path, start = OUT / "notebooks" / name, time.time()
            shutil.copy(ROOT / "notebooks" / name, path)
            page = browser.new_page(viewport={"width": 1400, "height": 1000})
            page.set_default_timeout(MINUTES * 60_000)
            page.goto(f"{address}/lab/tree/{name}?reset")
            run_all(page)
            do(page, "commands.execute('docmanager:save')")
            page.screenshot(path=OUT / f"{path.stem}.png")
            do(page, "shell.currentWidget.sessionContext.shutdown()")
            page.close()
            errors = complaints(path)
            failed += bool(errors)
            said = "; ".join(errors) or "no error"
            print(f"{name}: {time.time() - start:.0f} s, {said}", flush=True)
    return bool(failed)


def do(page: Any, call: str) -> None:
    page.evaluate(f"() => window.jupyterapp.{call}")


def run_all(page: Any) -> None:
    """Runs all cells of the notebook that is open."""
    page.wait_for_selector(".jp-NotebookPanel-toolbar")
    page.wait_for_function(READY)
    do(page, "commands.execute('notebook:run-all-cells') && 0")
    page.wait_for_function(RUNNING, timeout=60_000)
    page.wait_for_function(f"() => !({RUNNING})()")


@contextmanager
def jupyterlab(folder: Path, **environment: str) -> Iterator[str]:
    """The address of a JupyterLab that serves ``folder/notebooks``."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"]
    command += [f"--port={port}", "--IdentityProvider.token="]
    command += [f"--ServerApp.root_dir={folder / 'notebooks'}"]
    command += ["--LabApp.expose_app_in_browser=True", "--LabApp.news_url="]
    places = {
        "JUPYTERLAB_SETTINGS_DIR": str(folder / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(folder / "spaces"),
    }
    with (folder / "server.log").open("w") as log:
        server = subprocess.Popen(
            command, env=os.environ | places | environment, stdout=log, stderr=log
        )
    try:
        address = f"http://127.0.0.1:{port}"
        for _ in range(300):
            try:
                urllib.request.urlopen(f"{address}/api")
                break
            except (urllib.error.URLError, ConnectionError):
                time.sleep(1)
        yield address
    finally:
        server.terminate()
        server.wait()


def complaints(path: Path) -> list[str]:
    """Errors of a saved chapter, and cells that did not run."""
    cells = nbformat.read(path, as_version=4).cells
    code = [cell for cell in cells if cell.cell_type == "code" and cell.source.strip()]
    errors = [
        f"{output.ename}: {output.evalue}"
        for cell in code
        for output in cell.outputs
        if output.output_type == "error"
    ]
    not_run = [cell.source for cell in code if cell.execution_count is None]
    return errors + [f"not run: {source[:40]}" for source in not_run]


if __name__ == "__main__":
    sys.exit(main())
