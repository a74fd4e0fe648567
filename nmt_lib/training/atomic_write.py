"""Atomic writing: a crash leaves either the old file or the new one."""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from pathlib import Path

from ..errors import CheckpointError


def write_file(path: Path, data: bytes) -> None:
    """Writes a file atomically: beside ``path``, synced to disk, then renamed."""
    writer = f"{os.getpid()}-{threading.get_ident()}"  # each has a file of its own
    beside = path.with_name(f".{path.name}-{writer}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(beside, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except OSError as error:
        with suppress(OSError):
            beside.unlink()
        raise CheckpointError(
            f"cannot write {path} ({error.strerror}); files written before are kept, "
            "and a run resumes from its last checkpoint"
        ) from None
