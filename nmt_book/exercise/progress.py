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
    """The ``check`` modules of the chapters and deeper pages, in order."""
    book = importlib.import_module(__package__.rpartition(".")[0])
    folders = sorted(info.name for info in pkgutil.iter_modules(book.__path__))
    names = [f"{book.__name__}.{name}" for name in folders if name[-1].isdigit()]
    checks = [f"{name}.check" for name in names if find_spec(f"{name}.check")]
    return [importlib.import_module(name) for name in checks]


def exercises(module: ModuleType) -> list[Exercise]:
    """The exercises that a module defines, in the order of its text."""
    members = [x for x in vars(module).values() if isinstance(x, Exercise)]
    return [x for x in members if x.module == chapter_of(module.__name__)]


def progress(chapter: ModuleType | None = None) -> None:
    """Prints how many exercises are solved on this machine, of a chapter or of all.

    Args:
        chapter: the module that a chapter calls ``check``.
    """
    solved, n_exercises, n_solved = set(recall()["solved"]), 0, 0
    for module in [chapter] if chapter else modules():
        name = chapter_of(module.__name__)
        states = [(x.name, f"{name}.{x.name}" in solved) for x in exercises(module)]
        marks = ", ".join(f"{'✓' if ok else '·'} {title}" for title, ok in states)
        print(f"{name}: {sum(ok for _, ok in states)} of {len(states)} solved: {marks}")
        n_exercises += len(states)
        n_solved += sum(ok for _, ok in states)
    if not chapter:
        print(f"{n_solved} of {n_exercises}")


def functions(selection: list[Exercise]) -> dict[str, Any]:
    """A function or class for each exercise: the reader's, or the printed answer.

    The reader's is what has translated (``book.try_it``), if its check still calls it
    right. They can call each other. Prints which is which.
    """
    import torch
    import torch.nn.functional as F

    import nmt_lib as nmt

    written, solved = recall()["written"], []
    names: dict[str, Any] = {"math": math, "torch": torch, "F": F, "nn": torch.nn}
    names["nmt"] = nmt
    for exercise in selection:
        with suppress(Exception):  # her own code
            exec(written[exercise.part], names)
            if exercise.verdict(names[exercise.name]).startswith("right"):
                solved.append(exercise.name)
                continue
        exec(exercise.source, names)
    n_printed = len(selection) - len(solved)
    print(f"yours: {', '.join(solved) or 'none yet'}; printed answers: {n_printed}")
    return {exercise.name: names[exercise.name] for exercise in selection}
