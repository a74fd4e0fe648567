"""The wire between a test and a student's answer, which live in two processes.

A test calls ``encode(["a"], itos)`` as if the function stood beside it. In truth ``encode`` is an ``Answer``: the
call travels to the student's process, and its result comes back as plain data: numbers, texts, lists, tuples,
dictionaries, sets, tensors. So what is compared, and with what, is out of the student's reach. Anything else comes
back as an ``Answer`` again, to be called, asked for attributes, iterated.
"""

from __future__ import annotations

import base64
import builtins
import io
import json
import math
import operator
import pickle
import secrets
import socket
import struct
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor

MAX_REPLY = 16 << 20  # bytes; as Python objects they are twenty times as many
MAX_EMPTY = 1 << 16  # of a tensor without numbers, the product of its other sizes


class Gone(BaseException):
    """The student's process has died or does not answer. No ``except Exception`` of a test takes it for a wrong
    answer."""


class Died(Gone):
    """It has ended; perhaps not in what it was asked just now."""

    def __init__(self) -> None:
        super().__init__("the process ended (exit, or out of memory)")


# ------------------------------------------- plain data, as JSON with a letter for each type


def plain(value: Any, keep: Any) -> Any:
    """What ``json`` can write. Whatever is no plain data goes to ``keep``, which gives it a number."""
    if value is None or type(value) in (bool, int, str):
        return value
    if isinstance(value, str):  # subclasses, such as members of an enum, are what they hold
        return str.__getitem__(value, slice(None))
    if isinstance(value, int):
        return int.__add__(value, 0)
    if isinstance(value, Tensor):
        bare = value.detach().cpu().clone(memory_format=torch.contiguous_format)  # contiguous() leaves [5] its stride
        raw = bare.reshape(-1).view(torch.uint8).numpy().tobytes() if bare.numel() else b""
        return {"tensor": [str(bare.dtype).removeprefix("torch."), list(bare.shape), base64.b64encode(raw).decode()]}
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        raw = np.ascontiguousarray(value).tobytes()
        return {"array": [value.dtype.str, list(value.shape), base64.b64encode(raw).decode()]}
    if isinstance(value, np.generic):
        return plain(value.item(), keep)
    if isinstance(value, float):
        return {"float": float(value).hex()}
    if isinstance(value, bytes):
        return {"bytes": base64.b64encode(value).decode()}
    if isinstance(value, list):
        return [plain(item, keep) for item in value]
    if isinstance(value, (tuple, set, frozenset)):
        return {type(value).__name__ if type(value) in (set, frozenset) else "tuple": [plain(v, keep) for v in value]}
    if isinstance(value, dict):
        return {"dict": [[plain(key, keep), plain(item, keep)] for key, item in value.items()]}
    return {"answer": [keep(value), type(value).__name__]}


def restore(data: Any, answer: Any) -> Any:
    """The way back. Only plain data can come out, whatever was sent."""
    if isinstance(data, list):
        return [restore(item, answer) for item in data]
    if not isinstance(data, dict):
        return data
    ((kind, value),) = data.items()
    if kind == "tensor":
        name, shape, raw = value
        dtype = getattr(torch, name)
        if not isinstance(dtype, torch.dtype):
            raise ValueError(f"{name!r} is no dtype")
        raw = bytearray(base64.b64decode(raw))
        _no_empty_giant(shape)
        flat = torch.frombuffer(raw, dtype=torch.uint8).view(dtype) if raw else torch.empty(0, dtype=dtype)
        return flat.reshape(shape)
    if kind == "array":
        name, shape, raw = value
        _no_empty_giant(shape)
        return np.frombuffer(base64.b64decode(raw), dtype=np.dtype(name)).reshape(shape).copy()
    makers: dict[str, Any] = {
        "float": float.fromhex,
        "bytes": base64.b64decode,
        "tuple": lambda v: tuple(restore(v, answer)),
        # One by one, in Python: a time limit can stop it where thousands have the same hash.
        "set": lambda v: {restore(item, answer) for item in v},
        "frozenset": lambda v: frozenset({restore(item, answer) for item in v}),
        "dict": lambda v: {restore(key, answer): restore(item, answer) for key, item in v},
        "answer": lambda v: answer(*v),
    }
    return makers[kind](value)


def _no_empty_giant(shape: list[int]) -> None:
    """(30000000, 0) holds nothing, and is thirty million lists as a list."""
    if 0 in shape and math.prod(size for size in shape if size) > MAX_EMPTY:
        raise ValueError(f"a tensor without numbers of shape {shape}")


# -------------------------------------------------------------------- messages over a socket


def send(wire: socket.socket, message: bytes) -> None:
    wire.sendall(struct.pack("!Q", len(message)) + message)


def receive(wire: socket.socket, deadline: float | None = None, limit: int | None = None) -> bytes:
    """One message.

    Raises:
        Gone: the other side has closed, is too slow, or sends more than ``limit`` bytes.
    """
    (length,) = struct.unpack("!Q", _exactly(wire, 8, deadline))
    if limit is not None and length > limit:
        raise Gone(f"the result is larger than {limit >> 20} MB")
    return _exactly(wire, length, deadline)


def _exactly(wire: socket.socket, length: int, deadline: float | None) -> bytes:
    parts = bytearray()
    while len(parts) < length:
        try:
            if deadline is not None:
                wire.settimeout(max(0.001, deadline - time.monotonic()))
            part = wire.recv(min(1 << 20, length - len(parts)))
        except TimeoutError:
            raise Gone("no answer in time: is there a loop that never ends?") from None
        except OSError:
            part = b""
        if not part:
            raise Died()
        parts += part
    return bytes(parts)


# --------------------------------------------------------------------------- the test's side


class Wire:
    """The test's end. One request, one reply; after ``Gone`` nothing more is asked."""

    def __init__(self, wire: socket.socket) -> None:
        self.wire, self.deadline = wire, time.monotonic() + 30.0

    def ask(self, request: str, *args: Any) -> Any:
        """Sends a request with its arguments (pickled: this side is trusted) and decodes the reply (this one is not).

        Raises:
            Gone: no reply.
            Exception: what the answer raised: the builtin exception of that name, else a ``RuntimeError``. Its
                ``by_student`` is the name of its type and the line of the cell, without its message.
        """
        buffer, ticket = io.BytesIO(), secrets.token_hex(8)
        _Pickler(buffer).dump((ticket, request, args))
        try:
            send(self.wire, buffer.getvalue())
            back, kind, value = json.loads(receive(self.wire, self.deadline, MAX_REPLY))
            if back != ticket:
                raise Gone("something else than results came back")
            value = restore(value, self.answer)
        except OSError:
            raise Died() from None
        except (ValueError, TypeError, KeyError, AttributeError, RuntimeError, RecursionError) as error:
            raise Gone(f"no result that can be read ({type(error).__name__})") from None
        if kind == "value":
            return value
        name, message, line = map(str, value)
        line = f" (line {line[:6]} of its cell)" if line.isdigit() else ""
        error_type: Any = getattr(builtins, name, None)
        known = isinstance(error_type, type) and issubclass(error_type, Exception) and error_type not in _SPECIAL
        said = message[:500] + line
        raised: Any = error_type(said) if known else RuntimeError(f"{name[:50]}: {said}")
        raised.by_student = (name if known else "an error of its own") + line
        raise raised

    def answer(self, number: Any, kind: Any) -> Answer:
        """Its class has the name of the thing's own, so that messages can say what came back."""
        return type(str(kind)[:40], (Answer,), {})(self, int(number))


_SPECIAL = (UnicodeDecodeError, UnicodeEncodeError, UnicodeTranslateError, AssertionError, StopIteration, BaseException)


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
        """Calls one of our own functions, given by name, in the student's process (see
        ``nmt_course.check.kit.beside_answer``)."""
        return self._wire.ask("beside", (function.__module__, function.__qualname__), args, kwargs)


class _Pickler(pickle.Pickler):
    def persistent_id(self, thing: Any) -> int | None:
        return thing.__dict__["_number"] if isinstance(thing, Answer) else None


# ------------------------------------------------------------------------ the student's side


class Unpickler(pickle.Unpickler):
    """Reads requests; ``answers`` are the objects by number, ``modules`` our own copies of the helpers' modules."""

    def __init__(self, data: bytes, answers: list[Any], modules: dict[str, Any]) -> None:
        super().__init__(io.BytesIO(data))
        self.answers, self.modules = answers, modules

    def persistent_load(self, number: int) -> Any:
        return self.answers[number]

    def find_class(self, module: str, name: str) -> Any:
        if module in self.modules:
            return getattr(self.modules[module], name)
        return super().find_class(module, name)
