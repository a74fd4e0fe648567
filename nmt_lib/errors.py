"""The errors that this library raises on purpose.

Each is one sentence: what is wrong, where, and what to do.
"""

from __future__ import annotations

import warnings
from inspect import currentframe
from itertools import takewhile
from traceback import walk_stack


class NMTError(Exception):
    """Base of all errors below; the CLI prints it on one line, with exit code 2."""


class ConfigError(NMTError, ValueError):
    """A config that cannot be used: an unknown key, a wrong type, values that clash."""


class CorpusError(NMTError, ValueError):
    """Data that cannot be read: a missing file, unequal line counts, no UTF-8."""


class ShapeError(NMTError, ValueError):
    """A tensor of the wrong shape or dtype."""


class CheckpointError(NMTError, RuntimeError):
    """A model file that is missing, damaged, or of another run."""


class TrainingError(NMTError, RuntimeError):
    """Training cannot continue: the loss is not finite, a sentence exceeds a batch."""


def one_line(error: object, length: int = 300) -> str:
    """The text of an error on one line, cut to ``length`` characters."""
    return printable(" ".join(str(error).split()))[:length]


def printable(text: object) -> str:
    r"""A text in which what would steer a terminal is spelled out, such as ``\x1b``."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in str(text))


def check_kind(thing: object, kind: type) -> None:
    """Raises a TypeError, in one sentence, for a thing of another kind."""
    if not isinstance(thing, kind):
        given = type(thing).__name__
        raise TypeError(f"a {kind.__name__} is needed here, not a {given}")


def warn(message: str) -> None:
    """A warning that points to the first line outside this library."""
    modules = (f.f_globals.get("__name__", "") for f, _ in walk_stack(currentframe()))
    inner = takewhile(lambda m: m.split(".")[0] in (__package__, "torch"), modules)
    warnings.warn(message, stacklevel=len([*inner]) + 1)
