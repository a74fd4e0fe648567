"""The exercises of all chapters: which are solved, and functions made of answers."""

from __future__ import annotations

import importlib
import math
import pkgutil
from contextlib import suppress
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from .exercise import Exercise, chapter_of
from .saved import recall


def modules() -> list[ModuleType]:
    """The exercises of the chapters and deeper pages, in order: their ``check``."""
    book = importlib.import_module(__package__.rpartition(".")[0])
    folders = sorted(info.name for info in pkgutil.iter_modules(book.__path__))
    names = [f"{book.__name__}.{name}" for name in folders if name[-1].isdigit()]
    found = [f"{name}.check" for name in names if find_spec(f"{name}.check")]
    return [importlib.import_module(name) for name in found]


def exercises(module: ModuleType) -> list[Exercise]:
    """The exercises that a module defines, in the order of its text."""
    found = [thing for thing in vars(module).values() if isinstance(thing, Exercise)]
    return [thing for thing in found if thing.module == chapter_of(module.__name__)]


def progress(chapter: ModuleType | None = None) -> None:
    """Prints how many exercises are solved in this place, of a chapter or of all.

    Args:
        chapter: the module that a chapter calls ``check``.
    """
    solved, total, done = set(recall()["solved"]), 0, 0
    for module in [chapter] if chapter else modules():
        name = chapter_of(module.__name__)
        own = [(x.name, f"{name}.{x.name}" in solved) for x in exercises(module)]
        marks = ", ".join(f"{'✓' if ok else '·'} {title}" for title, ok in own)
        print(f"{name}: {sum(ok for _, ok in own)} of {len(own)} solved: {marks}")
        total, done = total + len(own), done + sum(ok for _, ok in own)
    if not chapter:
        print(f"{done} of {total}")


def functions(wanted: list[Exercise]) -> dict[str, Any]:
    """A function or class for each exercise: hers, or the printed answer.

    Hers is what has translated (``book.try_it``), if its check still calls it right.
    They can call each other. Prints which is which.
    """
    import torch
    import torch.nn.functional as F

    import nmt_lib as nmt

    written, hers = recall()["written"], []
    names: dict[str, Any] = {"math": math, "torch": torch, "F": F, "nn": torch.nn}
    names["nmt"] = nmt
    for exercise in wanted:
        with suppress(Exception):  # her own code
            exec(written[exercise.part], names)
            if exercise.verdict(names[exercise.name]).startswith("right"):
                hers.append(exercise.name)
                continue
        exec(exercise.source, names)
    others = len(wanted) - len(hers)
    print(f"yours: {', '.join(hers) or 'none yet'}; printed answers: {others}")
    return {exercise.name: names[exercise.name] for exercise in wanted}
