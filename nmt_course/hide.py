"""Takes away what an assignment asks to write: modules of the library, functions of PyTorch."""

from __future__ import annotations

import importlib.abc
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import nmt_lib

WRITE_IT = "is what this assignment asks you to write, so it is not there while it is graded"
LIBRARY = Path(nmt_lib.__path__[0]).resolve()


def hide(blocked: Sequence[str]) -> None:
    """Takes modules and functions away, by their dotted names, in this process."""
    modules = []
    for name in blocked:
        package, _, last = name.rpartition(".")
        holder = None if source_files(name) else _found(package)
        if hasattr(holder, last):
            setattr(holder, last, _refuse(name))
        else:
            modules.append(name)
    finder = _Finder(modules)
    for name in filter(finder.hides, [*sys.modules]):
        del sys.modules[name]
    sys.meta_path.insert(0, finder)


def _found(name: str) -> Any:
    """What a dotted name stands for, if it is imported: a module, or something inside one (``torch.ops.aten``)."""
    first, *rest = name.split(".")
    thing = sys.modules.get(first)
    for step in rest:
        thing = getattr(thing, step, None)
    return thing


def source_files(name: str) -> list[Path]:
    """The files of a module or package of nmt_lib, wherever in its folder they are; nothing for other names."""
    first, *rest = name.split(".")
    if first != "nmt_lib" or not rest:
        return []
    folder = LIBRARY.joinpath(*rest[:-1])
    found = [*folder.glob(f"{rest[-1]}.py"), *folder.glob(f"__pycache__/{rest[-1]}.*.pyc")]
    return found + [path for path in folder.glob(f"{rest[-1]}/**/*") if path.is_file()]


def _refuse(name: str) -> Any:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise ImportError(f"{name} {WRITE_IT}")

    return refuse


class _Finder(importlib.abc.MetaPathFinder):
    """Stands before Python's own, and refuses."""

    def __init__(self, modules: list[str]) -> None:
        self.modules = modules

    def hides(self, name: str) -> bool:
        return any(f"{name}.".startswith(f"{module}.") for module in self.modules)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        if self.hides(name):
            raise ImportError(f"{name} {WRITE_IT}")
