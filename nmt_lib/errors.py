"""The errors that this library raises on purpose.

Each is one sentence: what is wrong, where, and what to do.
"""

from __future__ import annotations

import sys
import warnings


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


def warn(message: str) -> None:
    """A warning that points to the first line outside this library."""
    level = 1
    ours = (__package__, "torch")
    while sys._getframe(level).f_globals.get("__name__", "").split(".")[0] in ours:
        level += 1
    warnings.warn(message, stacklevel=level + 1)
