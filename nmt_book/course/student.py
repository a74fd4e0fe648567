"""The student's side: a process that runs the cells of a submission, then answers calls
until it is killed.

``marking.launch`` starts it. It holds no tests and no solutions, so none can be found
in its memory.
"""

from __future__ import annotations

import importlib
import io
import json
import os
import pickle
import pkgutil
import re
import sys
import traceback
import warnings
from contextlib import redirect_stderr, redirect_stdout, suppress
from importlib.util import find_spec
from multiprocessing.connection import Connection
from types import MappingProxyType, SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

os.environ.setdefault("MPLBACKEND", "Agg")

import torch
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

import nmt_book

from .remote import plain
from .sandbox import limit

WRITE_IT = (
    "is what this assignment asks you to write, so it is not there while it is graded"
)


def serve(wire: Connection, job: dict[str, Any]) -> None:
    """Never returns: the process exits with ``os._exit``, so no exit handlers run."""
    try:
        torch.set_num_threads(1)
        for module in job["warm"]:
            importlib.import_module(module)
        limit(job["seconds"], job.get("processes", 0))
        os.chdir(job["folder"])
        sys.path.insert(0, "")  # a cell can import what another has written
        os.environ.update(HOME=job["folder"], TMPDIR=job["folder"])
        hide(job["blocked"])
        for name in ("google", "google.colab"):  # Colab's own: using it does nothing
            sys.modules[name] = MagicMock()
        Student(wire, job["answers"], _own_copies(job["helpers"])).work()
    finally:
        os._exit(0)


def hide(blocked: list[str]) -> None:
    """Removes what an assignment asks the student to write, by dotted names: modules
    of the library, functions of PyTorch, and operators (``aten.…``), to which all names
    of a function lead."""
    for name in blocked:
        package, _, last = name.rpartition(".")
        if package == "aten":
            library = torch.library.Library("aten", "IMPL")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # that it replaces an implementation
                library.impl(last, _refuse(name), "CPU")
            _kept.append(library)
        elif not package or name.startswith("nmt_lib."):
            for module in [m for m in sys.modules if f"{m}.".startswith(f"{name}.")]:
                sys.modules[module] = None  # type: ignore[assignment]
            sys.modules[name] = None  # type: ignore[assignment]  # an import fails
        else:
            with suppress(ImportError, AttributeError):
                holder = pkgutil.resolve_name(package)
                if hasattr(holder, last):
                    setattr(holder, last, _refuse(name))


_kept: list[Any] = []


def _refuse(name: str) -> Any:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise ImportError(f"{name} {WRITE_IT}")

    return refuse


def _own_copies(checks: list[str]) -> dict[str, Any]:
    """Private copies of what runs beside the answers: the cells import, and may change,
    other ones. The checks hold right answers, so here they do nothing."""
    beside = [name.replace(".check.", ".standins.") for name in checks]
    for name in (f"{__package__}.check.kit", *filter(find_spec, beside)):
        importlib.import_module(name)
    packages = tuple(f"{__package__}.{folder}" for folder in ("check", "standins"))
    copies = {
        name: sys.modules.pop(name)
        for name in list(sys.modules)
        if name.startswith(packages)
    }
    sys.modules.update((name, Nothing()) for name in checks)  # type: ignore[misc]
    return copies


class Nothing:
    """In place of the checks, of ``book.plant`` and of its case: nothing is broken or
    checked while a submission is graded, and whatever a cell asks, there is no
    answer."""

    def __getattr__(self, name: str) -> Nothing:
        return self

    def __call__(self, *args: Any, **keywords: Any) -> Nothing:
        return self


class Shell(InteractiveShell):
    """A magic that fails, or that needs a front end, does nothing; the cell below an
    unknown ``%%magic`` is run as it is."""

    def run_line_magic(self, name: str, line: str, _stack_depth: int = 1) -> Any:
        with suppress(Exception):
            return super().run_line_magic(name, line, _stack_depth + 1)

    def run_cell_magic(self, name: str, line: str, cell: str) -> Any:
        if self.find_cell_magic(name):
            return super().run_cell_magic(name, line, cell)
        return self.ex(self.transform_cell(cell))


class Student:
    """Serves the requests of ``remote.Wire`` in the process where the cells have run.

    Args:
        wanted: for each answer cell, the names it defines, and whether each is a
            function.
        helpers: our own copies of the helpers' modules, by name.
    """

    def __init__(
        self,
        wire: Connection,
        wanted: dict[str, dict[str, bool]],
        helpers: dict[str, Any],
    ) -> None:
        self.wire, self.wanted, self.helpers = wire, wanted, helpers
        # IPython's history database could be corrupted when the process is killed.
        self.shell = Shell.instance(
            config=Config({"HistoryManager": {"enabled": False}})
        )
        sys.stdin = SimpleNamespace(readline=lambda _=-1: "\n")  # what input() gets
        self.shell.user_ns["case"] = vars(nmt_book)["plant"] = Nothing()
        self.answers: list[Any] = []
        self.taken: dict[tuple[str, str], Any] = {}
        self.in_place: set[tuple[str, str]] = set()

    def work(self) -> None:
        while True:
            request = self.wire.recv_bytes()
            try:
                ticket, name, args = _Unpickler(
                    request, self.answers, self.helpers
                ).load()
                reply = [
                    ticket,
                    "value",
                    plain(getattr(self, "on_" + name)(*args), self.keep),
                ]
            except BaseException as error:
                reply = [ticket, "error", [_kind(error), *_say(error)]]
            self.wire.send_bytes(json.dumps(reply).encode())

    def keep(self, thing: Any) -> int:
        self.answers.append(thing)
        return len(self.answers) - 1

    def on_cell(self, source: str, place: str, stub: bool) -> None:
        """Runs a cell and takes what it has bound. An answer is what its names are
        bound to by the last cell that binds them: for functions and classes that may be
        any cell; for variables it is the answer's own place if they are bound there. A
        stub counts only where there is nothing else. Copied, moved, retyped and split
        cells and lost metadata therefore change nothing."""
        before = dict(self.shell.user_ns)
        with (
            open(os.devnull, "w") as nothing,
            redirect_stdout(nothing),
            redirect_stderr(nothing),
        ):
            result = self.shell.run_cell(source, store_history=False)
        for part, names in self.wanted.items():
            for name, is_function in names.items():
                value, key = self.shell.user_ns.get(name), (part, name)
                if (
                    value is before.get(name)
                    or (is_function and not callable(value))
                    or (stub and key in self.taken)
                ):
                    continue
                if is_function or place == part or key not in self.in_place:
                    self.taken[key] = value
                self.in_place |= {key} if place == part else set()
        if error := result.error_before_exec or result.error_in_exec:
            raise error

    def on_take(self, part: str, name: str) -> Any:
        """What a name of an answer is bound to; functions and other objects stay here.
        Defaults that the cells set for all of torch do not reach the tests."""
        torch.set_default_dtype(torch.float32)
        torch.set_grad_enabled(True)
        if (part, name) not in self.taken:
            raise NameError(f"the answer cell does not define {name}")
        return self.taken[part, name]

    def on_give(self, source: str) -> None:
        """Defines the correct answers that an answer may call."""
        exec(compile(source, "given", "exec"), self.shell.user_ns)

    def on_call(
        self, function: Any, args: Any, kwargs: Any = MappingProxyType({})
    ) -> Any:
        return function(*args, **kwargs)


class _Unpickler(pickle.Unpickler):
    """Reads requests; ``answers`` are the objects by number, ``modules`` the private
    copies of the helpers' modules."""

    def __init__(
        self, data: bytes, answers: list[Any], modules: dict[str, Any]
    ) -> None:
        super().__init__(io.BytesIO(data))
        self.answers, self.modules = answers, modules

    def persistent_load(self, number: int) -> Any:
        return self.answers[number]

    def find_class(self, module: str, name: str) -> Any:
        return (
            getattr(self.modules[module], name)
            if module in self.modules
            else super().find_class(module, name)
        )


def _kind(error: BaseException) -> str:
    """The name of an error's type. A stub's NotImplementedError is raised by a cell,
    whose file is no file; another one is an error like others."""
    *_, last = traceback.extract_tb(error.__traceback__)
    is_students = isinstance(error, NotImplementedError) and last.filename[0] != "<"
    return "A " * is_students + type(error).__name__


def _say(error: BaseException) -> list[str]:
    """The message of an error, and the line of the student's cell."""
    try:
        lines = [
            f.lineno
            for f in traceback.extract_tb(error.__traceback__)
            if f.filename.startswith("<ipython-input")
        ]
        message = re.sub(
            r"\(<ipython-input[^>]*>, (line \d+)\)", r"(\1)", str(error)[:400]
        )  # of a SyntaxError
        message = re.sub(
            r"import of (\S+) halted; None in sys.modules", rf"\1 {WRITE_IT}", message
        )
        return [message, str(lines[-1] if lines else "")]
    except BaseException:
        return ["an error whose message cannot be shown", ""]


if __name__ == "__main__":
    serve(Connection(int(sys.argv[1])), json.loads(sys.argv[2]))
