"""All JavaScript and HTML of the library; Python only fills it in."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

FILES = Path(__file__).parent


def read(name: str) -> str:
    return (FILES / name).read_text(encoding="utf-8")


def fill(name: str, **parts: str) -> str:
    """A file with each ``@NAME@`` replaced by its part; parts are not searched."""
    names = "|".join(parts)
    return re.sub(f"@({names})@", lambda found: parts[found[1]], read(name))


def quoted(value: Any) -> str:
    """JSON for a script of a page: no text in it can end the script."""
    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")
