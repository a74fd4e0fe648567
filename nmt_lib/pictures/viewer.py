"""Attention to touch: a small page in the output of a cell. What runs in the browser stands in ``viewer.html``."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Any

from torch import Tensor

from ..translator import Translation
from .heatmaps import KINDS, attention_table, gold_cells

TEMPLATE = Path(__file__).with_name("viewer.html")
Links = Sequence[tuple[int, int]]


def view_attention(
    translation: Translation,
    kind: str = "cross",
    layer: int = -1,
    head: int | None = None,
    gold: Links = (),
) -> Any:
    """Where each word looks, for all kinds, layers and heads, to explore with mouse, finger or keyboard.

    Where no script runs (GitHub, a notebook that is not trusted), a table of the chosen head stands instead.

    Args:
        translation: of a ``Translator``.
        kind: what is shown first: ``"encoder"``, ``"decoder"`` or ``"cross"``.
        layer: from 0; −1 is the last.
        head: from 0; ``None`` is the mean over the heads.
        gold: links (source word, target word) from 0 without special tokens, as ``Pair.alignment`` has them.

    Raises:
        ValueError: no such kind, layer or head; an empty translation; a gold link to a word that is not there.
    """
    from IPython.display import HTML

    weights, rows, columns = attention_table(translation, kind, layer)  # (H, T, S)
    if head is not None and not -len(weights) <= head < len(weights):
        raise ValueError(f"head {head}: this layer has heads 0 to {len(weights) - 1}")
    kinds = {}
    for name, sides in KINDS.items():
        tables = [
            attention_table(translation, name, i)
            for i in range(len(getattr(translation.attention, name)))
        ]
        thousandths = [
            (table[0].float() * 1000).round().int().flatten(1).tolist()
            for table in tables
        ]  # (H, T·S) each
        kinds[name] = {
            "names": sides,
            "rows": tables[0][1],
            "columns": tables[0][2],
            "weights": thousandths,
        }
    layer %= len(kinds[kind]["weights"])
    start = {
        "kind": kind,
        "layer": layer,
        "head": -1 if head is None else head % len(weights),
    }  # −1: the mean
    framed = [(row, column) for column, row in gold_cells(translation, "cross", gold)]
    data = json.dumps(
        {"kinds": kinds, "start": start, "gold": framed}, separators=(",", ":")
    )
    chosen = "mean of all heads" if head is None else f"head {start['head']}"
    caption = f"{kind} attention, layer {layer}, {chosen}; run the cell to explore all of them"
    table = static_table(
        caption, weights.mean(0) if head is None else weights[head], rows, columns
    )
    return HTML(page(table, data))


def static_table(
    caption: str, weights: Tensor, rows: Sequence[str], columns: Sequence[str]
) -> str:
    """Weights ``(T, S)`` as HTML that sanitizers leave alone: shaded where they may, a row's largest bold."""
    lines = ["".join(f"<th>{escape(word)}</th>" for word in ["", *columns])]
    for word, row in zip(rows, weights.tolist(), strict=True):
        lines.append(
            f"<th>{escape(word)}</th>"
            + "".join(static_cell(weight, weight == max(row)) for weight in row)
        )
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f'<table class="dataframe"><caption>{caption}</caption>{body}</table>'


def static_cell(weight: float, bold: bool) -> str:
    if weight < 0.05 and not bold:
        return "<td></td>"
    number = f"<b>{weight:.2f}</b>" if bold else f"{weight:.2f}"
    return f'<td style="background-color:rgba(31,102,214,{0.6 * weight:.2f})">{number}</td>'


def page(table: str, data: str) -> str:
    """The template with its table and its data (JSON); no word of theirs can end the script or fill another place."""
    filled = {"TABLE": table, "DATA": data.replace("<", "\\u003c")}
    filled["KEY"] = sha256((table + data).encode()).hexdigest()[:12]
    parts = re.split("@(KEY|TABLE|DATA)@", TEMPLATE.read_text(encoding="utf-8"))
    return "".join(filled[part] if i % 2 else part for i, part in enumerate(parts))
