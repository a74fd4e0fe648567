"""The machine to remember: the Transformer, with the parts that a chapter explains."""

from __future__ import annotations

import re
from base64 import b64encode
from html import escape
from pathlib import Path

from .. import web
from .data import load_data
from .palette import DARK, LIGHT, css

DRAWING = Path(__file__).with_name("machine.svg")
# A picture in an <img> sees nothing of its page but whether that is light or dark.
COLORS = (
    f":root {{ {css(LIGHT)} }}\n"
    f"@media (prefers-color-scheme: dark) {{ :root {{ {css(DARK)} }} }}\n"
)


def machine(number: str) -> web.Html:
    """The machine with the parts of a chapter lit, such as ``"04"``."""
    svg = machine_svg(number, COLORS)
    data = b64encode(svg.encode()).decode()
    alt = ". ".join(re.findall("<(?:title|desc).*?>(.*)</", svg))
    source = f"data:image/svg+xml;base64,{data}"
    return web.Html(f'<img src="{source}" width="400" alt="{alt}">')


def machine_svg(number: str, colors: str = "") -> str:
    """The same as SVG, for a page that has the colours; or with their declarations.

    Raises:
        ValueError: there is no such chapter.
    """
    chapters, number = load_data("pictures/machine"), f"{number:0>2}"  # 4 is "04"
    if number not in chapters:
        raise ValueError(f"no chapter {number!r}: choose from {', '.join(chapters)}")
    name, parts = chapters[number]
    lines, lit = DRAWING.read_text(encoding="utf-8").splitlines(), []
    for i, line in enumerate(lines):
        classes = {*"".join(re.findall('^<g class="(.*?)"', line)).split()}
        if any({*part.split(".")} <= classes for part in parts.split()):
            lines[i] = line.replace('">', ' on">', 1)
            lit += re.findall(">([^<]+)</text>", line)[:1]
    fields = {
        "NUMBER": number,
        "NAME": escape(name),
        "LIT": ", ".join(dict.fromkeys(lit)),
        "COLORS": colors,
        "WRONG": "wrong" if number == "11" else "",
    }
    return re.sub("@([A-Z]+)@", lambda match: fields[match[1]], "\n".join(lines))
