"""What a check shows: its verdict with a mark, then what the reader's code printed."""

from __future__ import annotations

import html
import sys

COLORS = {"✓": "#0062b8", "✗": "#a34805"}


class Verdict:
    """A sentence with ✓ or ✗ in front, in colour where a notebook shows it."""

    def __init__(self, message: str) -> None:
        self.mark, self.message = "✗✓"[message.startswith("right")], message

    def __repr__(self) -> str:
        return f"{self.mark} {self.message}"

    def _repr_html_(self) -> str:
        mark = f'<b style="color: {COLORS[self.mark]}">{self.mark}</b>'
        text = html.escape(self.message)
        return f'<pre style="white-space: pre-wrap">{mark} {text}</pre>'


def show_verdict(message: str) -> None:
    if getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)():
        from IPython.display import display

        display(Verdict(message))
    else:
        print(Verdict(message))


def show_printed(text: str) -> None:
    """Shows the first lines that the reader's code printed, and how many follow."""
    lines = text.splitlines()
    if lines:
        print("your code printed:", *(f"  {line:.100}" for line in lines[:3]), sep="\n")
    if len(lines) > 3:
        print(f"  … and {len(lines) - 3:,} more")
