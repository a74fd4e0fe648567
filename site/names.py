"""The page of the library: every public name once, by the file that defines it."""

from __future__ import annotations

import ast
import inspect
import sys
from itertools import groupby
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import nmt_lib as nmt

ROOT = Path(__file__).resolve().parent.parent
# The way of a sentence, which is the order of the files on the page; what is not named comes after.
WAY = [
    *("config", "corpora", "tokenizers", "vocab", "batching", "embeddings", "masks", "attention", "layers", "encoder"),
    *("decoder", "transformer", "losses", "schedules", "training", "runs", "decoding", "translation", "translator"),
    *("export", "evaluation", "plotting", "diagrams", "notebook"),
]


def page(repository: str) -> str:
    """Markdown for all names, file by file."""
    parts = []
    for module, group in groupby(sorted(nmt.__all__, key=place), key=home):
        source = Path(inspect.getsourcefile(sys.modules[module]) or "").relative_to(ROOT)
        first = (sys.modules[module].__doc__ or "").split("\n\n")[0]
        heading = f"## {module.partition('.')[2] or module}"
        parts += [heading, f"{first} [{source}]({repository}/{source})", "```{eval-rst}", *map(directive, group), "```"]
    return "\n\n".join(parts)


def place(name: str) -> tuple[int, str, int]:
    """Where a name stands on the page: by its file, and there by its line; what is no class or function comes first."""
    module, thing = home(name), getattr(nmt, name)
    stem = module.rpartition(".")[2]
    line = inspect.getsourcelines(thing)[1] if inspect.isclass(thing) or inspect.isroutine(thing) else 0
    return WAY.index(stem) if stem in WAY else len(WAY), module, line


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
    targets = [t for node in tree.body if isinstance(node, ast.Assign) for t in node.targets]
    targets += [node.target for node in tree.body if isinstance(node, ast.AnnAssign)]
    return {name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)}


def directive(name: str) -> str:
    """What lets Sphinx write down one public name."""
    thing = getattr(nmt, name)
    kind = "class" if inspect.isclass(thing) else "function" if inspect.isroutine(thing) else "data"
    if kind == "data":
        return f".. py:currentmodule:: {nmt.__name__}\n.. py:data:: {name}\n   :value: {thing!r}\n"
    return f".. auto{kind}:: {nmt.__name__}.{name}\n" + ("   :members:\n" if kind == "class" else "")
