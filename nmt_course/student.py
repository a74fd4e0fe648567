"""The student's side: a process that has imported everything once, and a fresh copy of it for each run of the cells.

``marking.py`` starts it, in a sandbox unless told otherwise. It holds no test and no solution, so a copy (``os.fork``)
has none to find in its memory. Each copy runs the student's cells, and then answers calls until it is ended.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import re
import shutil
import signal
import socket
import sys
import tempfile
import traceback
from types import MappingProxyType
from typing import Any

os.environ.setdefault("MPLBACKEND", "Agg")

import numpy  # noqa: F401
import torch
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

import nmt_lib  # noqa: F401

from .remote import Gone, Unpickler, plain, receive, send
from .sandbox import hide, limit


class TooSlow(BaseException):
    """A cell that runs too long; no ``except Exception`` stops it."""


def main() -> None:
    """Waits for jobs on the control socket. Each ends the copy that did the one before."""
    start = json.loads(sys.argv[1])
    control = socket.socket(fileno=start["control"])
    for module in start["warm"]:  # copies have it already
        importlib.import_module(module)
    torch.set_num_threads(1)
    # No history: a database of the teacher's, open in every copy, does not survive a student.
    shell = InteractiveShell.instance(config=Config({"HistoryManager": {"enabled": False, "hist_file": ":memory:"}}))
    gc.collect()
    gc.freeze()  # pages stay shared with the copies
    limit(start["memory"], start["seconds"], start["processes"])
    send(control, b"ready")
    job, child, folder = _next(control), 0, ""
    while job:
        _, handles, _, _ = socket.recv_fds(control, 1, 1)
        folder = tempfile.mkdtemp()
        child = os.fork()
        if child == 0:
            control.close()
            serve(socket.socket(fileno=handles[0]), shell, job, folder)
        os.close(handles[0])
        job = _next(control)
        for kill in (os.killpg, os.kill):
            with contextlib.suppress(ProcessLookupError):
                kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        shutil.rmtree(folder, ignore_errors=True)


def _next(control: socket.socket) -> Any:
    try:
        return json.loads(receive(control))
    except Gone:
        return None


def serve(wire: socket.socket, shell: InteractiveShell, job: dict[str, Any], folder: str) -> None:
    """Never returns: when it is done, the process ends, and no clean-up of anybody runs."""
    try:
        os.setsid()
        nothing = os.open(os.devnull, os.O_RDWR)
        for handle in (0, 1, 2):
            os.dup2(nothing, handle)
        os.chdir(folder)
        sys.path.insert(0, "")  # a cell can import what another has written
        os.environ.update(HOME=folder, TMPDIR=folder)
        hide(job["blocked"])
        Student(wire, shell, job["cell_seconds"], _own_copies(job["helpers"])).work()
    except BaseException:
        pass
    finally:
        os._exit(0)


class Student:
    def __init__(self, wire: socket.socket, shell: InteractiveShell, seconds: float, helpers: dict[str, Any]) -> None:
        self.wire, self.shell, self.cell_seconds, self.helpers = wire, shell, seconds, helpers
        self.answers: list[Any] = []
        self.taken: dict[str, Any] = {}
        signal.signal(signal.SIGALRM, _too_slow)

    def work(self) -> None:
        while True:
            try:
                ticket, request, args = Unpickler(receive(self.wire), self.answers, self.helpers).load()
                reply = [ticket, "value", plain(getattr(self, "on_" + request)(*args), self.keep)]
            except Gone:
                return
            except BaseException as error:
                reply = [ticket, "error", [type(error).__name__, *_say(error)]]
            send(self.wire, json.dumps(reply).encode())

    def keep(self, thing: Any) -> int:
        self.answers.append(thing)
        return len(self.answers) - 1

    def on_cell(self, source: str, takes: dict[str, dict[str, bool]]) -> list[str]:
        """Runs a cell; then remembers, for each answer that this cell holds, what its names stand for now."""
        with open(os.devnull, "w") as nothing, contextlib.redirect_stdout(nothing), contextlib.redirect_stderr(nothing):
            signal.setitimer(signal.ITIMER_REAL, self.cell_seconds)
            try:
                result = self.shell.run_cell(source, store_history=False)
                error = result.error_before_exec or result.error_in_exec
            except BaseException as raised:  # too slow before it runs
                error = raised
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
        for part, names in takes.items():
            for name, callable_ in names.items():
                value = self.shell.user_ns.get(name, self)
                if value is not self and (callable(value) or not callable_):
                    self.taken[f"{part}.{name}"] = value
        return [] if error is None else [type(error).__name__, _say(error)[0]]

    def on_ready(self) -> None:
        """From here on answers are called. What the cells set for all of torch is theirs, not the tests'."""
        torch.set_default_dtype(torch.float32)
        torch.set_grad_enabled(True)

    def on_take(self, part: str, name: str) -> Any:
        """What a name of an answer stood for; functions and other objects stay here."""
        if f"{part}.{name}" not in self.taken:
            raise NameError(f"the answer cell does not define {name}")
        return self.taken[f"{part}.{name}"]

    def on_call(self, function: Any, args: Any, kwargs: Any = MappingProxyType({})) -> Any:
        return function(*args, **kwargs)

    def on_beside(self, name: tuple[str, str], args: Any, kwargs: Any) -> Any:
        module = self.helpers.get(name[0]) or importlib.import_module(name[0])
        return getattr(module, name[1])(*args, **kwargs)


def _own_copies(names: list[str]) -> dict[str, Any]:
    """The checks' modules, imported for us alone: those that the cells import, and may change, are others."""
    for name in names:
        importlib.import_module(name)
    ours = tuple(f"{__package__}.{folder}" for folder in ("check", "standins"))
    return {name: sys.modules.pop(name) for name in list(sys.modules) if name.startswith(ours)}


def _too_slow(*_: Any) -> None:
    raise TooSlow("this cell runs too long: is there a loop that never ends?")


def _say(error: BaseException) -> list[str]:
    """The message, and the student's line."""
    try:
        lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename.startswith("<ipython-input")]
        message = re.sub(r"\(<ipython-input[^>]*>, (line \d+)\)", r"(\1)", str(error)[:400])  # of a SyntaxError
        return [message, str(lines[-1] if lines else "")]
    except BaseException:
        return ["an error whose message cannot be shown", ""]


if __name__ == "__main__":
    main()
