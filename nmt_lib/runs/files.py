"""Files that are whole: each is written in one step, with a digest of what it holds, and every reader checks it.

A digest (xxHash, 128 bits) shows damage and costs next to nothing; it is no protection against people who forge it.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path

from xxhash import xxh3_128_hexdigest as digest

from ..errors import CheckpointError, warn

PLACE = (
    "0" * 32
)  # stands in a text where its digest will, so that the digest covers all the rest
# At the very beginning, as YAML, JSON and Markdown allow it.
MARK = re.compile(r'(?:# |\{"|<!-- )xxh3_128"?: "?([0-9a-f]{32})(?:\n|",| -->)')


def write_file(path: Path, content: bytes) -> None:
    """Writes beside the place, forces it to the disk, then moves it: a crash leaves the old file or the new one."""
    part = path.with_suffix(".tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(part, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except OSError as error:
        with suppress(OSError):
            part.unlink()
        raise CheckpointError(
            f"cannot write {path} ({error.strerror or error}); files written before are kept: "
            "free some space and start again, a run goes on from its last checkpoint"
        ) from None


def write_text(path: Path, text: str) -> None:
    """Writes a text file; where ``PLACE`` stands in it, its digest comes."""
    write_file(path, text.replace(PLACE, digest(text.encode()), 1).encode())


def read_text(path: Path, most: int = 1 << 26) -> tuple[str, bool]:
    """The text of a file, and whether it holds its digest: older versions wrote none.

    A CheckpointError where it is missing, no regular file, over ``most`` bytes, not UTF-8, or not what its digest says.
    """
    if not os.path.isfile(path):  # a pipe might never end
        raise CheckpointError(
            f"{path} is missing, or no regular file: restore it, or train again"
        )
    try:
        if path.stat().st_size > most:
            raise CheckpointError(
                f"{path} has more than {most:,} bytes: restore it, or train again"
            )
        text = path.read_text(
            encoding="utf-8"
        )  # git may have changed the ends of its lines
    except UnicodeDecodeError as error:
        raise CheckpointError(
            f"{path} is damaged (not UTF-8 at byte {error.start}): restore it"
        ) from None
    except OSError as error:
        raise CheckpointError(f"cannot read {path} ({error.strerror})") from None
    mark = MARK.match(text)
    if mark and digest(text.replace(mark[1], PLACE, 1).encode()) != mark[1]:
        raise CheckpointError(
            f"{path} is damaged: it was cut or changed after it was written; restore it "
            "(if you changed it on purpose, take the digest at its beginning out)"
        )
    return text, bool(mark)


def note_old(path: Path) -> None:
    """Says, once a folder, that damage to its files cannot be seen."""
    warn(
        f"an older version wrote {path.parent}, without digests: damage to its files may go unnoticed; save it again"
    )
