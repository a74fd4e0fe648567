"""A reader's solved exercises, and the text of her functions that translate.

Both are in one file beside the runs, ``exercises.json``: ``solved`` lists the
exercises whose check said right, as ``chapter04.attention``; ``written`` maps a part of
the translator (a keyword of ``book.try_it``) to the text of the function or class.
"""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

from nmt_lib.training.run_folder import runs_folder

FILE = "exercises.json"


def remember(solved: str = "", written: dict[str, str] | None = None) -> bool:
    """Adds to the reader's file; False if it cannot be written."""
    path, record = runs_folder() / FILE, recall()
    record["solved"] = sorted({*record["solved"], *([solved] if solved else [])})
    record["written"] |= written or {}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            json.dumps(record, indent=1, ensure_ascii=False), encoding="utf-8"
        )
    except OSError:
        return False
    return True


def recall() -> dict[str, Any]:
    """The content of the reader's file; empty if there is none that can be read."""
    record: dict[str, Any] = {"solved": [], "written": {}}
    with suppress(OSError, ValueError, TypeError):
        record |= json.loads((runs_folder() / FILE).read_text(encoding="utf-8"))
    return record
