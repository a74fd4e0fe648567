"""Kernels without seconds of loading: ``pytest -p tests.notebooks.kernels``.

Each is a copy of one process that has loaded what others wrote: torch, IPython and so
on. Our own packages are loaded by each kernel itself, from where it finds them.
"""

from __future__ import annotations

import os
import sys
import time
from multiprocessing import get_context
from typing import Any

from jupyter_client.provisioning import local_provisioner

LOADED = """
    IPython ipykernel.kernelapp matplotlib.figure matplotlib.font_manager numpy pydantic
    ruamel.yaml sacrebleu safetensors.torch sentencepiece spacy.lang.fr spacy.pipeline
    torch._dynamo tqdm.auto
"""
COPIES = get_context("forkserver")
COPIES.set_forkserver_preload(LOADED.split())


def pytest_configure() -> None:
    # Matplotlib reads it when it is loaded; a kernel would set it before.
    os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"
    vars(local_provisioner)["launch_kernel"] = Copy


class Copy:
    """In place of the ``subprocess.Popen`` that jupyter_client starts and watches."""

    stdin = stdout = stderr = None

    def __init__(self, command: list[str], **options: Any) -> None:
        file = command[command.index("-f") + 1]
        job = file, options["env"], options["cwd"]
        self.process: Any = COPIES.Process(target=serve, args=job)
        self.process.start()
        self.pid: int = self.process.pid or 0
        while self.poll() is None and os.getpgid(self.pid) != self.pid:
            time.sleep(0.01)  # until it leads a group: whole groups are stopped

    def poll(self) -> int | None:
        code: int | None = self.process.exitcode
        return code

    def wait(self, timeout: float | None = None) -> int | None:
        self.process.join(timeout)
        return self.poll()

    def send_signal(self, number: int) -> None:
        os.kill(self.pid, number)


def serve(file: str, environment: dict[str, str], folder: str) -> None:
    """What ``python -m ipykernel_launcher -f file`` does in a new process."""
    from ipykernel.kernelapp import IPKernelApp

    os.setsid()
    nothing = os.open(os.devnull, os.O_RDWR)
    for handle in range(3):
        os.dup2(nothing, handle)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.path[:0] = filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))
    IPKernelApp.launch_instance(["-f", file])
