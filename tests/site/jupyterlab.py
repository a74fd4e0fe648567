"""A JupyterLab for the proofs in a browser, and how to run a notebook in it."""

from __future__ import annotations

import os
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
from nbformat.v4 import new_notebook

READY = """() => {
    const session = window.jupyterapp.shell.currentWidget?.sessionContext
    return session?.isReady && session.kernelDisplayStatus === 'idle'
        && session.session?.kernel?.connectionStatus === 'connected'
}"""
RUNNING = """() => window.jupyterapp.shell.currentWidget.content.widgets.some(
    cell => cell.model.type === 'code' && cell.model.executionState === 'running')"""


COUNT = "window.jupyterapp.shell.currentWidget.content.widgets.length"  # of cells


def write(path: Path, *cells: Any) -> None:
    """Writes a notebook."""
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(new_notebook(cells=[*cells], metadata=kernel), path)


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
        try:
            server.wait(20)
        except subprocess.TimeoutExpired:  # it waits for a thread of a page just opened
            server.kill()
            server.wait()
