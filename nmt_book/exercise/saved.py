"""A reader's solved exercises, and the text of her functions that translate.

Both are in one file beside the runs, ``exercises.json``: ``solved`` lists the
exercises whose check said right, as ``chapter04.attention``; ``written`` maps a part of
the translator (a keyword of ``book.try_it``) to the text of the function or class.

Chapter 08 runs these texts, so each is signed with a key outside the runs: of a file
that comes from somebody else nothing is run.
"""

from __future__ import annotations

import hmac
import os
import secrets
from contextlib import AbstractContextManager
from itertools import count
from pathlib import Path

from filelock import FileLock
from pydantic import BaseModel

from nmt_lib.errors import CheckpointError
from nmt_lib.training.atomic_write import write_file
from nmt_lib.training.run_folder import runs_folder

FILE = "exercises.json"
patience = 20.0  # seconds to wait for a lock; none after a wait in vain
MOST_BYTES = 10_000_000  # a larger file was not written here
UNWRITABLE = OSError, RuntimeError, NotImplementedError  # no space, home or locks


class Record(BaseModel, strict=True):
    """The content of the reader's file."""

    solved: list[str] = []
    written: dict[str, str] = {}
    signatures: dict[str, str] = {}


def remember(solved: str = "", written: dict[str, str] | None = None) -> None:
    """Adds to the reader's file, or prints why that is not possible."""
    path, signatures = runs_folder() / FILE, dict[str, str]()
    try:
        if written:
            secret = key()
            signatures = {part: sign(part, written[part], secret) for part in written}
        path.parent.mkdir(parents=True, exist_ok=True)
        with locked(path.with_name(f".{FILE}.lock")):
            for leftover in path.parent.glob(f".{FILE}-*.tmp"):  # of a killed write
                leftover.unlink(missing_ok=True)
            record = read(path) or put_aside(path)
            record.solved = sorted({*record.solved, *([solved] if solved else [])})
            record.written |= written or {}
            record.signatures |= signatures
            write_file(path, record.model_dump_json(indent=1).encode())
    except (CheckpointError, *UNWRITABLE) as error:
        reason = str(error).partition(";")[0]
        print(f"not kept: {reason}; what was solved before is still there")


def recall() -> Record:
    """The content of the reader's file; empty if there is none that can be read."""
    path = runs_folder() / FILE
    if record := read(path):
        return record
    print(f"{path} is damaged, so nothing counts as solved until you solve something")
    return Record()


def checked_functions(record: Record) -> dict[str, str]:
    """The texts of the reader's functions that were checked on this computer."""
    secret = b""
    try:
        secret = key() if record.written else b""
    except UNWRITABLE as error:
        print(f"your functions cannot be used, since no key can be kept: {error}")
    checked = {
        part: text
        for part, text in record.written.items()
        if secret
        and hmac.compare_digest(
            sign(part, text, secret).encode(),
            record.signatures.get(part, "").encode(),
        )
    }
    if secret and (others := sorted({*record.written} - {*checked})):
        print(
            f"{runs_folder() / FILE} holds functions that this computer did not check "
            f"({str(others)[1:-1]:.200}): run their check and book.try_it again"
        )
    return checked


def read(path: Path) -> Record | None:
    """The content of the file; None if it is damaged or not a regular file."""
    if not os.path.lexists(path):
        return Record()
    try:
        if not path.is_file() or path.stat().st_size > MOST_BYTES:
            return None
        return Record.model_validate_json(path.read_bytes())
    except (OSError, ValueError):
        return None


def put_aside(path: Path) -> Record:
    """An empty record; the damaged file gets another name, which is printed."""
    names = (path.with_name(f"exercises-damaged-{i}.json") for i in count(1))
    aside = next(name for name in names if not os.path.lexists(name))
    path.rename(aside)
    print(f"{path} is damaged: it is {aside.name} now, and a new one begins")
    return Record()


def key() -> bytes:
    """The reader's secret, which is drawn once and kept in her home.

    Raises:
        OSError, RuntimeError, NotImplementedError: there is no home to write to.
    """
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    path = Path(state, "nmt_book", "key")
    path.parent.mkdir(parents=True, exist_ok=True)
    with locked(path.with_name("key.lock")):
        path.touch(mode=0o600)
        if len(path.read_bytes()) < 32:
            path.write_bytes(secrets.token_bytes(32))
        return path.read_bytes()


def locked(path: Path) -> AbstractContextManager[object]:
    """A lock on a file, which no other process has until the end of the ``with``."""
    global patience
    try:
        return FileLock(path).acquire(patience)
    except TimeoutError:
        patience = 0.0
        raise


def sign(part: str, text: str, secret: bytes) -> str:
    return hmac.new(secret, f"{part}\0{text}".encode(), "sha256").hexdigest()
