"""The student's side: a process that has imported everything once, and a fresh copy of it for each run of the cells.

``nursery.py`` starts it, in a sandbox unless told otherwise. It holds no test and no solution, so a copy (``os.fork``)
has none to find in its memory. Each copy runs the student's cells, and then answers calls until it is ended.
"""

from __future__ import annotations

import gc
import importlib
import io
import json
import os
import pickle
import re
import shutil
import signal
import sys
import tempfile
import traceback
from contextlib import redirect_stderr, redirect_stdout, suppress
from multiprocessing.connection import Connection
from multiprocessing.reduction import recv_handle
from types import MappingProxyType
from typing import Any

os.environ.setdefault("MPLBACKEND", "Agg")

import numpy  # noqa: F401
import torch
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

import nmt_lib  # noqa: F401

from .hide import hide
from .limits import limit
from .plain import plain


class TooSlow(BaseException):
    """A cell that runs too long; no ``except Exception`` stops it."""


def main() -> None:
    """Makes a copy for each job that comes over the control connection; the next job, or its end, ends the copy."""
    control = Connection(int(sys.argv[1]))
    torch.set_num_threads(1)
    # No history: a database of the teacher's, open in every copy, does not survive a student.
    shell = InteractiveShell.instance(config=Config({"HistoryManager": {"enabled": False, "hist_file": ":memory:"}}))
    with suppress(EOFError, OSError):
        while True:
            job, handle = json.loads(control.recv_bytes()), recv_handle(control)
            for module in job["warm"]:
                importlib.import_module(module)
            gc.collect()
            gc.freeze()  # pages stay shared with the copies
            limit(job["memory"], job["processor"], job["processes"])  # a copy may get at what it was copied from
            folder = tempfile.mkdtemp()
            child = os.fork()
            if child == 0:
                control.close()
                serve(Connection(handle), shell, job, folder)
            os.close(handle)
            control.poll(None)
            for kill in (os.killpg, os.kill):
                with suppress(ProcessLookupError):
                    kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            shutil.rmtree(folder, ignore_errors=True)


def serve(wire: Connection, shell: InteractiveShell, job: dict[str, Any], folder: str) -> None:
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
        Student(wire, shell, job["cell"], _own_copies(job["helpers"])).work()
    finally:
        os._exit(0)


def _own_copies(names: list[str]) -> dict[str, Any]:
    """The checks' modules, imported for us alone: those that the cells import, and may change, are others."""
    for name in names:
        importlib.import_module(name)
    ours = tuple(f"{__package__}.{folder}" for folder in ("check", "standins"))
    return {name: sys.modules.pop(name) for name in list(sys.modules) if name.startswith(ours)}


class Student:
    """Does what ``remote.Wire`` asks, in the process where the cells have run."""

    def __init__(self, wire: Connection, shell: InteractiveShell, seconds: float, helpers: dict[str, Any]) -> None:
        self.wire, self.shell, self.cell_seconds, self.helpers = wire, shell, seconds, helpers
        self.answers: list[Any] = []
        self.taken: dict[str, Any] = {}
        signal.signal(signal.SIGALRM, _too_slow)

    def work(self) -> None:
        while True:
            request = self.wire.recv_bytes()
            try:
                ticket, name, args = _Unpickler(request, self.answers, self.helpers).load()
                reply = [ticket, "value", plain(getattr(self, "on_" + name)(*args), self.keep)]
            except BaseException as error:
                reply = [ticket, "error", [type(error).__name__, *_say(error)]]
            self.wire.send_bytes(json.dumps(reply).encode())

    def keep(self, thing: Any) -> int:
        self.answers.append(thing)
        return len(self.answers) - 1

    def on_cell(self, source: str, takes: list[tuple[str, str, bool]]) -> list[str]:
        """Runs a cell; then remembers, for each answer that this cell holds, what its names stand for now."""
        with open(os.devnull, "w") as nothing, redirect_stdout(nothing), redirect_stderr(nothing):
            signal.setitimer(signal.ITIMER_REAL, self.cell_seconds)
            try:
                result = self.shell.run_cell(source, store_history=False)
                error = result.error_before_exec or result.error_in_exec
            except BaseException as raised:  # too slow before it runs
                error = raised
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
        for part, name, is_function in takes:
            value = self.shell.user_ns.get(name, self)
            if value is not self and (callable(value) or not is_function):
                self.taken[f"{part}.{name}"] = value
        return [] if error is None else [type(error).__name__, _say(error)[0]]

    def on_take(self, part: str, name: str) -> Any:
        """What a name of an answer stood for; functions and other objects stay here. What the cells set for all of
        torch is theirs, not the tests'."""
        torch.set_default_dtype(torch.float32)
        torch.set_grad_enabled(True)
        if f"{part}.{name}" not in self.taken:
            raise NameError(f"the answer cell does not define {name}")
        return self.taken[f"{part}.{name}"]

    def on_call(self, function: Any, args: Any, kwargs: Any = MappingProxyType({})) -> Any:
        return function(*args, **kwargs)


class _Unpickler(pickle.Unpickler):
    """Reads requests; ``answers`` are the objects by number, ``modules`` our own copies of the helpers' modules."""

    def __init__(self, data: bytes, answers: list[Any], modules: dict[str, Any]) -> None:
        super().__init__(io.BytesIO(data))
        self.answers, self.modules = answers, modules

    def persistent_load(self, number: int) -> Any:
        return self.answers[number]

    def find_class(self, module: str, name: str) -> Any:
        return getattr(self.modules[module], name) if module in self.modules else super().find_class(module, name)


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
