"""The errors that this library raises on purpose: one sentence each, saying what is wrong, where, and what to do."""

from __future__ import annotations

import sys
import warnings


class NMTError(Exception):
    """Base of all errors below; the shell entry prints it on one line and exits with code 2."""


class ConfigError(NMTError, ValueError):
    """A config that cannot be used: unknown key, wrong type, values that do not fit together."""


class CorpusError(NMTError, ValueError):
    """Data that cannot be read: missing file, unequal line counts, wrong encoding, nothing left."""


class ShapeError(NMTError, ValueError):
    """A tensor of the wrong shape or dtype."""


class CheckpointError(NMTError, RuntimeError):
    """A saved file that is missing, truncated, or belongs to another config or vocabulary."""


class TrainingError(NMTError, RuntimeError):
    """Training cannot go on: the loss is not finite, a sentence is larger than a batch."""


class MissingPackageError(NMTError, ImportError):
    """A package that only some uses need is not installed."""


def warn(message: str) -> None:
    """A warning that points to the user's own line: the first one outside this library."""
    level = 1
    while sys._getframe(level).f_globals.get("__name__", "").partition(".")[0] in (
        __package__,
        "torch",
    ):
        level += 1
    warnings.warn(message, stacklevel=level + 1)
