"""Interactive attention: a small page in a cell's output (``web/viewer.js``)."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from torch import Tensor

from nmt_lib.training.atomic_write import write_file
from nmt_lib.translate.heatmap import KINDS, attention_table, gold_cells
from nmt_lib.translate.translator import Translation

from .. import web
from .palette import LIGHT

HEAD = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Attention</title>
<meta name="viewport" content="width=device-width">
"""
LONG = 150  # tokens: of a longer text, the weights of each head are megabytes
START = """import { attentionViewer } from "./viewer.js";
attentionViewer(host, VIEWER, data);
"""


def view_attention(
    translation: Translation,
    gold: Sequence[tuple[int, int]] = (),
    file: str | os.PathLike[str] | None = None,
) -> web.Html:
    """Which words each word attends to, in all kinds, layers and heads.

    It can be explored with mouse, finger or keyboard. Where no script runs (on GitHub,
    in a notebook that is not trusted), a table is shown instead: the cross-attention of
    the last layer, the mean of its heads. Of a text of more than 150 tokens, only the
    mean of the heads is there, and a warning says so.

    Args:
        translation: of a ``Translator``.
        gold: links (source word, target word) from 0 without special tokens, as
            ``Pair.alignment`` has them.
        file: where to save it as a page that works alone, such as ``"a.html"``.

    Raises:
        ValueError: an empty text; a gold link to a word that does not exist.
    """
    weights, *words = attention_table(translation, "cross", -1)  # (H, T, S)
    longest = max(map(len, words))
    if mean := longest > LONG:
        warnings.warn(
            f"{longest} tokens are too many to keep the weights of each head: the "
            "viewer shows the mean of the heads of a layer; for the heads themselves, "
            f"give a text of {LONG} tokens at most",
            stacklevel=2,
        )
    kinds = {name: all_layers(translation, name, mean) for name in KINDS}
    start = {"kind": "cross", "layer": len(kinds["cross"]["weights"]) - 1, "head": -1}
    links = [(row, column) for column, row in gold_cells(translation, "cross", gold)]
    caption = (
        f"cross attention, layer {start['layer']}, mean of all heads; run the cell to "
        "explore all of them"
    )
    data = {"kinds": kinds, "start": start, "gold": links}
    table = static_table(caption, weights.mean(0), *words)
    template = web.quoted(web.template("viewer.html", "viewer.css"))
    script = f"const VIEWER = {template};\n{web.bundle('kit', 'viewer', start=START)}"
    shown_page = web.shell("nmt-view", data, table, script)
    if file is not None:
        write_file(Path(os.path.expanduser(file)), f"{HEAD}{shown_page}".encode())
    return web.Html(shown_page)


def all_layers(translation: Translation, kind: str, mean: bool) -> dict[str, Any]:
    """The words of a kind of attention, and its weights in thousandths.

    ``mean``: of all heads as if they were one.
    """
    n_layers = len(getattr(translation.attention, kind))
    tables = [attention_table(translation, kind, i) for i in range(n_layers)]
    heads = [table[0].float() for table in tables]  # (H, T, S)
    if mean:
        heads = [weights.mean(0, keepdim=True) for weights in heads]
    thousandths = [(weights * 1000).round().int() for weights in heads]
    return {
        "names": KINDS[kind],
        "rows": tables[0][1],
        "columns": tables[0][2],
        "weights": [layer.flatten(1).tolist() for layer in thousandths],  # (H, T·S)
    }


def static_table(
    caption: str, weights: Tensor, rows: Sequence[str], columns: Sequence[str]
) -> str:
    """Weights ``(T, S)`` as HTML that sanitizers keep; the largest of a row is bold."""
    lines = ["".join(f"<th>{escape(word)}</th>" for word in ["", *columns])]
    for word, row in zip(rows, weights.tolist(), strict=True):
        cells = [static_cell(weight, weight == max(row)) for weight in row]
        lines.append(f"<th>{escape(word)}</th>" + "".join(cells))
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f'<table class="dataframe"><caption>{caption}</caption>{body}</table>'


def static_cell(weight: float, bold: bool) -> str:
    if weight < 0.05 and not bold:
        return "<td></td>"
    number = f"<b>{weight:.2f}</b>" if bold else f"{weight:.2f}"
    shade = f"background-color:{LIGHT['right']}{round(153 * weight):02x}"
    return f'<td style="{shade}">{number}</td>'
