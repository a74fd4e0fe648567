"""The wire between a test and a student's answer, which live in two processes.

A test calls ``encode(["a"], itos)`` as if the function stood beside it. In truth
``encode`` is an ``Answer``: the call travels to the student's process, and its result
comes back as plain data in JSON: numbers, texts, lists, tuples, dictionaries, sets,
tensors. So what is compared, and with what, is out of the student's reach. Anything
else comes back as an ``Answer`` again, to be called, asked for attributes, iterated.
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
    """The student's process has died or does not answer. No ``except Exception`` of a
    test takes it for a wrong answer."""


@contextmanager
def within(
    seconds: float, used: Callable[[], float] = time.process_time
) -> Iterator[None]:
    """What runs here is stopped when it has used this much processor time, be it
    waiting for an answer or busy with what came back; or after six times as much on the
    wall, for what sleeps. So a busy machine costs nobody points.

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
    """The test's end. One request, one reply; after ``Gone`` nothing more is asked."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection

    def ask(self, request: str, *args: Any) -> Any:
        """Sends a request with its arguments (pickled: this side is trusted) and
        decodes the reply (this one is not).

        Raises:
            Gone: no reply.
            Exception: what the answer raised: the builtin exception of that name, else
            a ``RuntimeError``. Its
                ``by_student`` is the name of its type and the line of the cell, without
                its message.
        """
        buffer, ticket = io.BytesIO(), secrets.token_hex(8)
        _Pickler(buffer).dump((ticket, request, args))
        try:
            self.connection.send_bytes(buffer.getvalue())
            reply = self.connection.recv_bytes(MAX_REPLY)
        except (OSError, EOFError):
            ended = self.connection.readable
            long = f"the result is larger than {MAX_REPLY >> 20} MB"
            raise Gone(
                "the process ended (exit, or out of memory)" if ended else long
            ) from None
        try:
            back, kind, value = json.loads(reply)
            if back != ticket:
                raise Gone("something else than results came back")
            value = restore(value, self.answer)
        except Exception as error:
            raise Gone(f"no result that can be read ({type(error).__name__})") from None
        if kind == "value":
            return value
        raise _raised(*map(str, value))

    def answer(self, number: Any, kind: Any) -> Answer:
        """Its class has the name of the thing's own, so that messages can say what came
        back."""
        return type(str(kind)[:40], (Answer,), {})(self, int(number))


def _raised(name: str, message: str, line: str) -> Exception:
    line = f" (line {line[:6]} of its cell)" if line.isdigit() else ""
    kind: Any = getattr(builtins, name, None)
    known = (
        isinstance(kind, type) and issubclass(kind, Exception) and kind not in SPECIAL
    )
    said = message[:500] + line
    error: Any = kind(said) if known else RuntimeError(f"{name[:50]}: {said}")
    error.by_student = (name if known else "an error of its own") + line
    return error


class Answer:
    """Something that lives in the student's process."""

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
    """What ``json`` can write. Whatever is no plain data goes to ``keep``, which gives
    it a number."""
    if isinstance(value, Fraction):
        return float(value)
    if value is None or isinstance(value, (str, int, float)):
        # ``json`` takes subclasses, such as members of an enum, for what they hold.
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
    """The way back, whatever was sent; ``answer`` gets the number and the type's name
    of what is no plain data.

    Raises:
        Exception: it is not what ``plain`` writes.
    """
    if isinstance(data, list):
        return [restore(item, answer) for item in data]
    if not isinstance(data, dict):
        return data
    ((kind, value),) = data.items()
    makers: dict[str, Any] = {
        "tensor": lambda: _tensor(*value),
        "tuple": lambda: tuple(restore(value, answer)),
        # One by one, in Python: a time limit can stop it where thousands have the same
        # hash. It equals a set, and can be in one.
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
