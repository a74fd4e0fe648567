"""The student's side: a process that has imported everything once, and a fresh copy of it for each submission.

``marking.py`` starts it. It holds no test and no solution, so a copy (``os.fork``) has none to find in its memory.
Each copy shuts itself in, runs the student's cells, and then answers calls until the wire is closed.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import signal
import socket
import sys
import traceback
from pathlib import Path
from typing import Any

os.environ.setdefault("MPLBACKEND", "Agg")

import matplotlib.pyplot  # noqa: F401
import numpy  # noqa: F401
import torch
import torch._dynamo
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

import nmt_lib  # noqa: F401

from . import check, standins  # noqa: F401
from .remote import Gone, Unpickler, plain, receive, send
from .sandbox import shut_in


class TooSlow(BaseException):
    """A cell that runs too long; no ``except Exception`` stops it."""


def main() -> None:
    """Waits for jobs on the control socket: one copy of this process for each, one after the other."""
    control = socket.socket(fileno=int(sys.argv[1]))
    torch.set_num_threads(1)
    torch.zeros(1).half()  # asks /proc what the processor can do; later that is shut
    # No history: a database of the teacher's, open in every copy, does not survive a student.
    shell = InteractiveShell.instance(config=Config({"HistoryManager": {"enabled": False, "hist_file": ":memory:"}}))
    gc.collect()
    gc.freeze()  # pages stay shared with the copies
    send(control, b"ready")
    while True:
        try:
            job = json.loads(receive(control))
        except Gone:
            return
        _, handles, _, _ = socket.recv_fds(control, 1, 1)
        child = os.fork()
        if child == 0:
            control.close()
            serve(socket.socket(fileno=handles[0]), shell, job)
        os.close(handles[0])
        send(control, json.dumps(child).encode())
        _, status, used = os.wait4(child, 0)
        send(control, json.dumps([status, used.ru_maxrss]).encode())


def serve(wire: socket.socket, shell: InteractiveShell, job: dict[str, Any]) -> None:
    """Never returns: when it is done, the process ends, and no clean-up of anybody runs."""
    try:
        os.setsid()
        nothing = os.open(os.devnull, os.O_RDWR)
        for handle in (0, 1, 2):
            os.dup2(nothing, handle)
        os.chdir(job["folder"])
        os.environ.clear()
        os.environ.update(
            HOME=job["folder"], TMPDIR=job["folder"], MPLBACKEND="Agg", OMP_NUM_THREADS="1", PATH="/usr/bin:/bin"
        )
        missing = shut_in(Path(job["folder"]), job["memory"], job["seconds"], job["blocked"])
        send(wire, json.dumps(missing).encode())
        Student(wire, shell, job["cell_seconds"]).work()
    except BaseException:
        pass
    finally:
        os._exit(0)


class Student:
    def __init__(self, wire: socket.socket, shell: InteractiveShell, cell_seconds: float) -> None:
        self.wire, self.shell, self.cell_seconds = wire, shell, cell_seconds
        self.answers: list[Any] = []
        self.taken: dict[str, Any] = {}
        signal.signal(signal.SIGALRM, _too_slow)

    def work(self) -> None:
        while True:
            try:
                ticket, request, args = Unpickler(receive(self.wire), self.answers).load()
                reply = [ticket, "value", plain(getattr(self, "on_" + request)(*args), self.keep)]
            except Gone:
                return
            except BaseException as error:
                reply = [ticket, "error", [type(error).__name__, _say(error)]]
            send(self.wire, json.dumps(reply).encode())

    def keep(self, thing: Any) -> int:
        self.answers.append(thing)
        return len(self.answers) - 1

    def on_cell(self, source: str, takes: dict[str, list[str]]) -> list[str]:
        """Runs a cell; then remembers, for each answer that this cell holds, what its names stand for now."""
        with open(os.devnull, "w") as nothing, contextlib.redirect_stdout(nothing), contextlib.redirect_stderr(nothing):
            signal.setitimer(signal.ITIMER_REAL, self.cell_seconds)
            try:
                result = self.shell.run_cell(source, store_history=False)
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
        for part, names in takes.items():
            for name in names:
                if name in self.shell.user_ns:
                    self.taken[f"{part}.{name}"] = self.shell.user_ns[name]
        error = result.error_before_exec or result.error_in_exec
        return [] if error is None else [type(error).__name__, _say(error)]

    def on_take(self, part: str, name: str) -> Any:
        """What a name of an answer stood for; functions and other objects stay here."""
        if f"{part}.{name}" not in self.taken:
            raise NameError(f"the answer cell does not define {name}")
        return self.taken[f"{part}.{name}"]

    def on_call(self, function: Any, args: Any, kwargs: Any) -> Any:
        return function(*args, **kwargs)

    def on_beside(self, name: tuple[str, str], args: Any, kwargs: Any) -> Any:
        return getattr(importlib.import_module(name[0]), name[1])(*args, **kwargs)

    def on_get(self, thing: Any, name: str) -> Any:
        return getattr(thing, name)

    def on_set(self, thing: Any, name: str, value: Any) -> None:
        setattr(thing, name, value)

    def on_item(self, thing: Any, key: Any) -> Any:
        return thing[key]

    def on_len(self, thing: Any) -> int:
        return len(thing)

    def on_list(self, thing: Any) -> list[Any]:
        return list(thing)


def _too_slow(*_: Any) -> None:
    raise TooSlow("this cell runs too long: is there a loop that never ends?")


def _say(error: BaseException) -> str:
    """The message, and the student's line."""
    try:
        lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename.startswith("<ipython-input")]
        return str(error)[:400] + (f" (line {lines[-1]} of its cell)" if lines else "")
    except BaseException:
        return "an error whose message cannot be shown"


if __name__ == "__main__":
    main()
