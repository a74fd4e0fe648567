"""The exercises of all chapters: which are solved, and functions made of answers."""

from __future__ import annotations

import ast
import importlib
import math
import pkgutil
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from nmt_lib.errors import check_kind

from .exercise import Exercise, chapter_of
from .saved import checked_functions, recall


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
    solved, n_exercises, n_solved = set(recall().solved), 0, 0
    for module in [chapter] if chapter else modules():
        check_kind(module, ModuleType)
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
    right. Each can call those before it. Prints which is which, and what is not used.
    """
    import torch
    import torch.nn.functional as F

    import nmt_lib as nmt

    known = {"math": math, "torch": torch, "F": F, "nn": torch.nn, "nmt": nmt}
    record = recall()
    texts = checked_functions(record)
    made, solved, unused = dict[str, Any](), list[str](), list[str]()
    for exercise in selection:
        name, text = exercise.name, texts.get(exercise.part)
        if text:
            try:
                exec(text, names := {**known, **made})
                function = names[ast.parse(text).body[-1].name]  # type: ignore
                if (why := exercise.verdict(function)).startswith("right"):
                    made[name] = function
                    solved.append(name)
                    continue
            except Exception as error:  # her own code
                why = f"{type(error).__name__}: {error}"
            unused.append(f"{name}: {' '.join(why.split())}")
        elif f"{exercise.module}.{name}" in record.solved:
            unused.append(f"{name}: solved, but not kept: run its cells again")
        earlier = {part.name: part.right for part in exercise.uses}
        exec(exercise.source, names := {**known, **earlier, **made})
        made[name] = names[name]
    n_printed = len(selection) - len(solved)
    print(f"yours: {', '.join(solved) or 'none yet'}; printed answers: {n_printed}")
    for line in unused:
        print(f"  {line}")
    return made
