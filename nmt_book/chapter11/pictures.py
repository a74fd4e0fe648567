"""What chapter 11 found in five write-ups: their own lines, and the harm they did."""

from __future__ import annotations

from html import escape
from typing import Any, NamedTuple

from matplotlib.figure import Figure

from nmt_lib.translate.heatmap import new_figure

from ..pictures.data import load_data
from ..web import Html

LEFT = "text-align: left; padding: 3px 8px"


class Defect(NamedTuple):
    what: str
    lines: dict[str, str]  # who → the article's own line, or lines, between |
    measured: str


DATA = load_data("chapter11/defects")
ARTICLES, HARM = DATA["articles"], DATA["harm"]  # letter → address; verdict → colour
DEFECTS = {
    verdict: [Defect(**row) for row in rows]
    for verdict, rows in DATA["defects"].items()
}


def plot_defects() -> Figure:
    """A row for each defect: what, and a coloured cell for each who has it."""
    figure, (axis,) = new_figure(size=(5.2, 7.4))
    y = 0.0
    style: Any = {"ha": "center", "va": "center", "weight": "bold"}
    for verdict, defects in DEFECTS.items():
        middle = y + (len(defects) - 1) / 2
        axis.text(-10.4, middle, verdict, rotation=90, **style)
        for defect, lines, _ in defects:
            axis.text(-0.8, y, defect, ha="right", va="center", parse_math=False)
            for x, letter in enumerate("ABCDE"):
                shade = HARM[verdict] if letter in lines else "#f7f7f7"
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

    A letter is a link to the article, if we know its address.
    """
    rows = ""
    for verdict, defects in DEFECTS.items():
        for defect, lines, measured in defects:
            cells = verdict, escape(defect), _quoted(lines), escape(measured)
            styles = f"border-left: 6px solid {HARM[verdict]}; {LEFT}", LEFT, LEFT, LEFT
            pairs = zip(styles, cells, strict=True)
            row = [f'<td style="{style}">{cell}</td>' for style, cell in pairs]
            rows += f"<tr>{''.join(row)}</tr>"
    titles = "harm", "what", "the author's own line", "measured"
    head = "".join(f'<th style="{LEFT}">{title}</th>' for title in titles)
    return Html(f"<table><tr>{head}</tr>{rows}</table>")


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
