"""What chapter 11 found in five write-ups: their own lines, and the harm they did."""

from __future__ import annotations

from html import escape
from typing import Any, NamedTuple

from matplotlib.figure import Figure

from nmt_lib.translate.heatmap import new_figure

from ..pictures.data import load_data
from ..pictures.palette import LIGHT, MIDDLE, pale
from ..web import Html

ALIGN = "text-align: left; vertical-align: top; padding: 3px 8px"
LEFT = f'style="{ALIGN}"'


class Defect(NamedTuple):
    title: str
    lines: dict[str, str]  # who → the article's own line, or lines, between |
    measured: str


DATA = load_data("chapter11/defects")
ARTICLES = DATA["articles"]  # letter → address
SIGNS = {verdict: sign for verdict, (sign, _, _) in DATA["harm"].items()}
HARM = {verdict: pale(*shade) for verdict, (_, *shade) in DATA["harm"].items()}
DEFECTS = {
    verdict: [Defect(**row) for row in rows]
    for verdict, rows in DATA["defects"].items()
}


def plot_defects() -> Figure:
    """A row for each defect: what, and a coloured cell for each who has it."""
    figure, (axis,) = new_figure(size=(5.2, 8.4))
    y = 0.0
    style: Any = MIDDLE | {"weight": "bold"}
    for verdict, defects in DEFECTS.items():
        middle = y + (len(defects) - 1) / 2
        axis.text(-10.4, middle, f"{verdict} {SIGNS[verdict]}", rotation=90, **style)
        for defect, lines, _ in defects:
            axis.text(-0.8, y, defect, ha="right", va="center", parse_math=False)
            for x, letter in enumerate("ABCDE"):
                shade = HARM[verdict] if letter in lines else LIGHT["soft"]
                axis.barh(y, 0.9, 0.86, left=x - 0.45, color=shade)
            y += 1
        y += 0.6
    for x, letter in enumerate("ABCDE"):
        axis.text(x, -1.1, letter, **style)
    axis.set(xlim=(-10.8, 4.7), ylim=(y - 0.4, -1.8))
    axis.axis("off")
    return figure


def show_defects() -> Html:
    """The same as a table, with the lines of the articles as their authors wrote them.

    A defect has two rows: harm, what and measured; below them, over the whole width,
    who wrote which line. A letter is a link to the article, if we know its address.
    """
    rows = ""
    for verdict, defects in DEFECTS.items():
        edge = f'style="border-left: 6px solid {HARM[verdict]}; {ALIGN}"'
        harm = f"<td {edge}>{SIGNS[verdict]} {verdict}</td>"
        for title, lines, measured in defects:
            heading = f"<th {LEFT}>{escape(title)}</th>"
            rows += f"<tr>{harm}{heading}<td {LEFT}>{escape(measured)}</td></tr>"
            rows += f'<tr><td colspan="3" {edge}>{_quoted(lines)}</td></tr>'
    columns = "harm", "what", "measured"
    head = "".join(f"<th {LEFT}>{column}</th>" for column in columns)
    return Html(f'<table class="defects"><tr>{head}</tr>{rows}</table>')


def _quoted(lines: dict[str, str]) -> str:
    """Each line with the letters of those who have it."""
    text = ""
    for line in dict.fromkeys(lines.values()):
        letters = ", ".join(
            f'<a href="{ARTICLES[letter]}">{letter}</a>'
            if letter in ARTICLES
            else letter
            for letter in lines
            if lines[letter] == line
        )
        code = "<br>".join(f"<code>{escape(part)}</code>" for part in line.split(" | "))
        text += f"{letters}: {code}<br>"
    return text
