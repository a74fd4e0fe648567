"""The wire between a test and a student's answer, which live in two processes.

A test calls ``encode(["a"], itos)`` as if the function were in its own process. In fact
``encode`` is an ``Answer``: the call travels to the student's process, and the result
comes back as plain data in JSON (numbers, strings, lists, tuples, dictionaries, sets,
tensors), so the student's code cannot reach the comparison. Any other object is
represented by another ``Answer``, which can be called, iterated, and asked for
attributes.
"""

from __future__ import annotations

import builtins
import io
import json
import math
import operator
import pickle
import secrets
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
import torch
from torch import Tensor

MAX_REPLY = 16 << 20  # bytes; as Python objects they are twenty times as many
MAX_EMPTY = 1 << 16  # of a tensor without numbers, the product of its other sizes
SPECIAL = (
    UnicodeDecodeError,
    UnicodeEncodeError,
    UnicodeTranslateError,
    AssertionError,
    StopIteration,
)


class Gone(BaseException):
    """The student's process has ended or does not answer. It is not an ``Exception``,
    so a test that catches exceptions does not take it for a wrong answer."""


@contextmanager
def within(
    seconds: float, used: Callable[[], float] = time.process_time
) -> Iterator[None]:
    """Stops what runs here when it has used this much processor time, whether it is
    waiting or computing, or after six times that wall-clock time, which catches
    sleeping code. Load on the machine costs no points.

    Raises:
        Gone: it was stopped.
    """
    start, began = used(), time.monotonic()

    def look(*_: Any) -> None:
        if used() - start > seconds or time.monotonic() - began > 6 * seconds:
            raise Gone("no answer in time: is there a loop that never ends?")

    before = signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, 0.2, 0.2)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


class Wire:
    """The test's end: one reply for each request, and no request after ``Gone``."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection

    def ask(self, request: str, *args: Any) -> Any:
        """Sends a request with its arguments (pickled: this side is trusted) and
        decodes the reply (this one is not).

        Raises:
            Gone: no reply.
            Exception: what the answer raised: the builtin exception of that name, or
                else a ``RuntimeError``. It has an attribute ``by_student``.
        """
        buffer, ticket = io.BytesIO(), secrets.token_hex(8)
        _Pickler(buffer).dump((ticket, request, args))
        try:
            self.connection.send_bytes(buffer.getvalue())
            reply = self.connection.recv_bytes(MAX_REPLY)
        except (OSError, EOFError):
            reason = f"the result is larger than {MAX_REPLY >> 20} MB"
            if self.connection.readable:
                reason = "the process ended (exit, or out of memory)"
            raise Gone(reason) from None
        try:
            back, kind, value = json.loads(reply)
            if back != ticket:
                raise Gone("something other than results came back")
            value = restore(value, self.answer)
        except Exception as error:
            reason = f"the result cannot be read ({type(error).__name__})"
            raise Gone(reason) from None
        if kind == "value":
            return value
        raise _raised(*map(str, value))

    def answer(self, number: Any, kind: Any) -> Answer:
        """Its class has the name of the object's own class, so that messages can say
        what came back."""
        return type(str(kind)[:40], (Answer,), {})(self, int(number))


def _raised(name: str, message: str, line: str) -> Exception:
    line = f" (line {line[:6]} of its cell)" if line.isdigit() else ""
    kind: Any = getattr(builtins, name, None)
    known = (
        isinstance(kind, type) and issubclass(kind, Exception) and kind not in SPECIAL
    )
    text = message[:500] + line
    error: Any = kind(text) if known else RuntimeError(f"{name[:50]}: {text}")
    error.by_student = True
    return error


class Answer:
    """Represents an object in the student's process."""

    def __init__(self, wire: Wire, number: int) -> None:
        self.__dict__.update(_wire=wire, _number=number)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._wire.ask("call", self, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._wire.ask("call", getattr, (self, name))

    def __setattr__(self, name: str, value: Any) -> None:
        self._wire.ask("call", setattr, (self, name, value))

    def __getitem__(self, key: Any) -> Any:
        return self._wire.ask("call", operator.getitem, (self, key))

    def __len__(self) -> int:
        return int(self._wire.ask("call", len, (self,)))

    def __iter__(self) -> Iterator[Any]:
        return iter(self._wire.ask("call", list, (self,)))

    def __repr__(self) -> str:
        return " ".join(str(self._wire.ask("call", repr, (self,))).split())[:200]

    def beside(self, function: Any, args: Any, kwargs: Any) -> Any:
        """Calls one of our own functions, by its name, in the student's process
        (``check.kit.beside_answer``)."""
        there = getattr(sys.modules[function.__module__], function.__qualname__)
        return self._wire.ask("call", there, args, kwargs)


class _Pickler(pickle.Pickler):
    def persistent_id(self, thing: Any) -> int | None:
        return thing.__dict__["_number"] if isinstance(thing, Answer) else None


def plain(value: Any, keep: Any) -> Any:
    """Converts a value to what ``json`` can write. An object that is not plain data
    goes to ``keep``, which returns a number for it."""
    if isinstance(value, Fraction):
        return float(value)
    if value is None or isinstance(value, (str, int, float)):
        # ``json`` writes subclasses, such as members of an enum, by value.
        return value
    if isinstance(value, np.generic):
        return plain(value.item(), keep)
    if isinstance(value, Tensor):
        kind = str(value.dtype).removeprefix("torch.")
        return {"tensor": [kind, list(value.shape), value.flatten().tolist()]}
    if isinstance(value, list):
        return [plain(item, keep) for item in value]
    if isinstance(value, (tuple, set, frozenset)):
        name = "tuple" if isinstance(value, tuple) else "set"
        return {name: [plain(item, keep) for item in value]}
    if isinstance(value, dict):
        return {"dict": [plain([*pair], keep) for pair in value.items()]}
    return {"answer": [keep(value), type(value).__name__]}


def restore(data: Any, answer: Any) -> Any:
    """The inverse of ``plain``; ``answer`` gets the number and the type's name of an
    object that is not plain data.

    Raises:
        Exception: the data are not what ``plain`` writes.
    """
    if isinstance(data, list):
        return [restore(item, answer) for item in data]
    if not isinstance(data, dict):
        return data
    ((kind, value),) = data.items()
    makers: dict[str, Any] = {
        "tensor": lambda: _tensor(*value),
        "tuple": lambda: tuple(restore(value, answer)),
        # Built item by item in Python, so that a time limit can stop it if thousands
        # have the same hash. A frozenset equals a set, and can be in one.
        "set": lambda: frozenset({restore(item, answer) for item in value}),
        "dict": lambda: {
            restore(key, answer): restore(item, answer) for key, item in value
        },
        "answer": lambda: answer(*value),
    }
    return makers[kind]()


def _tensor(name: str, shape: list[int], numbers: list[Any]) -> Tensor:
    # (30000000, 0) is thirty million lists.
    if 0 in shape and math.prod(size for size in shape if size) > MAX_EMPTY:
        raise ValueError(f"a tensor without numbers of shape {shape}")
    return torch.tensor(numbers, dtype=getattr(torch, name)).reshape(shape)
