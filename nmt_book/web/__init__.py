"""The JavaScript and HTML of notebooks and pages; Python only fills it in."""

from __future__ import annotations

import json
import re
import zlib
from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from typing import Any

FILES = Path(__file__).parent


class Html:
    """HTML that a notebook shows as an output; ``data`` holds it."""

    def __init__(self, data: str) -> None:
        self.data = data

    def __repr__(self) -> str:
        return "<Html>"

    def _repr_html_(self) -> str:
        return self.data


def read(name: str) -> str:
    return (FILES / name).read_text(encoding="utf-8")


def fill(name: str, **parts: str) -> str:
    """A file with each ``@NAME@`` replaced by its part; parts are not searched."""
    names = "|".join(parts)
    return re.sub(f"@({names})@", lambda match: parts[match[1]], read(name))


def template(name: str, *styles: str, **parts: str) -> str:
    """A file of elements behind its styles, for ``fromTemplate`` of kit.js."""
    css = "".join(map(read, styles))
    return f"<style>{css}</style>{fill(name, **parts) if parts else read(name)}"


IMPORT = re.compile(
    r'(?m)^import \{([^}]*)\} from\s+"\.{1,2}/(?:things/)?(\w+)\.js";\n'
)


def bundle(*names: str, start: str = "") -> str:
    """Modules as one script, each after those that it imports, in its own scope.

    ``start`` may import from them, too; it runs last.
    """
    modules = {name.rpartition("/")[2]: read(f"{name}.js") for name in names}
    imports = IMPORT.findall("".join([*modules.values(), start]))
    script = ""
    for name, text in modules.items():
        requests = ", ".join(items for items, module in imports if module == name)
        body = re.sub("(?m)^export ", "", IMPORT.sub(r"const {\1} = \2;\n", text))
        exports = ", ".join(
            sorted({item.strip() for item in requests.split(",")} - {""})
        )
        script += f"const {name} = (() => {{\n{body}return {{ {exports} }};\n}})();\n"
    return script + IMPORT.sub(r"const {\1} = \2;\n", start)


def quoted(value: Any) -> str:
    """JSON for a script of a page: no text in it can end the script."""
    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")


def squeezed(script: str) -> str:
    """A script without indentation and comments, apart from some that hold quotes."""
    lines = re.sub(r"(?m)^\s*(//.*|/\*\*(?s:.*?)\*/)?\n|^ +", "", script)
    return re.sub(r"""(?m) +// [^"'`\n]*$""", "", lines)


def packed(text: str) -> str:
    """Compressed, in letters: a third of a script's size."""
    return b64encode(zlib.compress(text.encode(), 9)).decode()


def shell(kind: str, data: Any, fallback: str, script: str) -> str:
    """An output of a cell, or a part of a page: HTML, and a script that draws over it.

    Args:
        kind: its class.
        data: what the script finds as ``data``; ``host`` is the element to draw in.
        fallback: HTML to show where no script runs; half a character (a lone
            surrogate), which no file can hold, becomes a question mark.
        script: it attaches a shadow root to ``host``.
    """
    fallback = fallback.encode(errors="replace").decode()
    parts = {"KIND": kind, "FALLBACK": fallback, "DATA": quoted(data)}
    parts["SCRIPT"] = script
    key = sha256("".join(parts.values()).encode()).hexdigest()[:12]
    return fill("shell.html", KEY=key, **parts)
