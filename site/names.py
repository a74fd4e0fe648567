"""The page of the library: every public name once, by the file that defines it."""

from __future__ import annotations

import ast
import inspect
import re
import sys
from functools import cache
from itertools import groupby
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import nmt_lib as nmt

ROOT = Path(__file__).resolve().parent.parent
STUB = (
    ROOT / "nmt_lib" / "__init__.pyi"
)  # names the public names in the order of the way of a sentence


def page(repository: str) -> str:
    """Markdown for all names, file by file, and in a file line by line."""
    listed = (
        re.findall(r"\b(\w+) as \1\b", STUB.read_text(encoding="utf-8"))
        if STUB.exists()
        else []
    )
    files = list(dict.fromkeys(map(home, [*listed, *nmt.__all__])))
    parts = []
    for module, group in groupby(
        sorted(nmt.__all__, key=lambda name: (files.index(home(name)), line(name))),
        home,
    ):
        source = Path(inspect.getsourcefile(sys.modules[module]) or "").relative_to(
            ROOT
        )
        first = (sys.modules[module].__doc__ or "").split("\n\n")[0]
        heading = f"## {module.partition('.')[2] or module}"
        parts += [
            heading,
            f"{first} [{source}]({repository}/{source})",
            "```{eval-rst}",
            *map(directive, group),
            "```",
        ]
    return "\n\n".join(parts)


def line(name: str) -> int:
    """Where in its file a public name is defined; what is no class or function comes first."""
    thing = getattr(nmt, name)
    return (
        inspect.getsourcelines(thing)[1]
        if inspect.isclass(thing) or inspect.isroutine(thing)
        else 0
    )


@cache
def home(name: str) -> str:
    """The module that defines a public name."""
    module = getattr(getattr(nmt, name), "__module__", None)
    if module and module.partition(".")[0] == nmt.__name__:
        return module
    ours = [key for key in sys.modules if key.partition(".")[0] == nmt.__name__]
    return next(key for key in sorted(ours, reverse=True) if name in assigned(key))


def assigned(module: str) -> set[str]:
    """The names that a module assigns at its top."""
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    targets = [
        t for node in tree.body if isinstance(node, ast.Assign) for t in node.targets
    ]
    targets += [node.target for node in tree.body if isinstance(node, ast.AnnAssign)]
    return {
        name.id
        for target in targets
        for name in ast.walk(target)
        if isinstance(name, ast.Name)
    }


def directive(name: str) -> str:
    """What lets Sphinx write down one public name."""
    thing = getattr(nmt, name)
    kind = (
        "class"
        if inspect.isclass(thing)
        else "function"
        if inspect.isroutine(thing)
        else "data"
    )
    if kind == "data":
        return f".. py:currentmodule:: {nmt.__name__}\n.. py:data:: {name}\n   :value: {thing!r}\n"
    return f".. auto{kind}:: {nmt.__name__}.{name}\n" + (
        "   :members:\n" if kind == "class" else ""
    )
