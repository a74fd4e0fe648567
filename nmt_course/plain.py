"""Plain data as JSON: numbers, texts, lists, tuples, dictionaries, sets, tensors. Nothing else can come out of it."""

from __future__ import annotations

import base64
import math
from typing import Any

import numpy as np
import torch
from torch import Tensor

MAX_EMPTY = 1 << 16  # of a tensor without numbers, the product of its other sizes


def plain(value: Any, keep: Any) -> Any:
    """What ``json`` can write. Whatever is no plain data goes to ``keep``, which gives it a number."""
    if value is None or isinstance(value, (str, int, float)):
        return value  # ``json`` takes subclasses, such as members of an enum, for what they hold
    if isinstance(value, np.generic):
        return plain(value.item(), keep)
    if isinstance(value, Tensor):
        bare = value.detach().cpu().clone(memory_format=torch.contiguous_format)  # contiguous() leaves [5] its stride
        raw = bare.reshape(-1).view(torch.uint8).numpy().tobytes() if bare.numel() else b""
        return {"tensor": [str(bare.dtype).removeprefix("torch."), list(bare.shape), base64.b64encode(raw).decode()]}
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        return {"array": plain(torch.from_numpy(value.astype(value.dtype.newbyteorder("="), order="C")), keep)}
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
    """The way back, whatever was sent; ``answer`` gets the number and the type's name of what is no plain data.

    Raises:
        Exception: it is not what ``plain`` writes.
    """
    if isinstance(data, list):
        return [restore(item, answer) for item in data]
    if not isinstance(data, dict):
        return data
    ((kind, value),) = data.items()
    makers: dict[str, Any] = {
        "tensor": lambda v: _tensor(*v),
        "array": lambda v: _tensor(*v["tensor"]).numpy(),
        "bytes": base64.b64decode,
        "tuple": lambda v: tuple(restore(v, answer)),
        # One by one, in Python: a time limit can stop it where thousands have the same hash.
        "set": lambda v: {restore(item, answer) for item in v},
        "frozenset": lambda v: frozenset({restore(item, answer) for item in v}),
        "dict": lambda v: {restore(key, answer): restore(item, answer) for key, item in v},
        "answer": lambda v: answer(*v),
    }
    return makers[kind](value)


def _tensor(name: str, shape: list[int], encoded: str) -> Tensor:
    dtype = getattr(torch, name)
    if not isinstance(dtype, torch.dtype):
        raise ValueError(f"{name!r} is no dtype")
    if 0 in shape and math.prod(size for size in shape if size) > MAX_EMPTY:
        raise ValueError(f"a tensor without numbers of shape {shape}")  # (30000000, 0) is thirty million lists
    raw = bytearray(base64.b64decode(encoded))
    flat = torch.frombuffer(raw, dtype=torch.uint8).view(dtype) if raw else torch.empty(0, dtype=dtype)
    return flat.reshape(shape)
