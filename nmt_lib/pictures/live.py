"""The live page: a translator that runs in the reader's browser, in one part of a page.

Everything is inside it: style, scripts, data and, if given, the model.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from pathlib import Path
from typing import Any

from .viewer import SCRIPT, TEMPLATE

FILES = Path(__file__).resolve().parents[2] / "site" / "live"


def live_page(data: dict[str, Any], table: str = "", model: bytes = b"") -> str:
    """The page as HTML.

    Args:
        data: what ``site/live/page.js`` shows first; its head says what that is.
        table: HTML that is shown where no script runs.
        model: a model file; without it, the page fetches the one that it needs.
    """

    def read(name: str) -> str:
        return (FILES / name).read_text(encoding="utf-8")

    def quoted(value: Any) -> str:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        return text.replace("<", "\\u003c")

    viewer = TEMPLATE.read_text(encoding="utf-8")
    filled = {
        "COLOURS": viewer[viewer.index("<style>") : viewer.index("</style>")],
        "TABLE": table,
        "MODEL": b64encode(model).decode(),
        "DATA": quoted(data),
        "STYLE": quoted(read("page.css")),
        "TRANSLATOR": re.sub(r"(?m)^export ", "", read("translator.js")),
        "VIEWER": SCRIPT.read_text(encoding="utf-8"),
        "PAGE": read("page.js"),
    }
    names = "|".join(filled)
    return re.sub(f"@({names})@", lambda found: filled[found[1]], read("live.html"))
