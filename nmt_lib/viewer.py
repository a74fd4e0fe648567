"""Attention to touch: a page of its own in the output of a cell. ``viewer.html`` holds what runs in the browser."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Any

from torch import Tensor

from .translation import Translation

TEMPLATE = Path(__file__).with_name("viewer.html")
TITLES = {"encoder": "encoder self-attention", "decoder": "decoder self-attention", "cross": "cross-attention"}


@dataclass(frozen=True)
class AttentionViewer:
    """What a notebook shows as the last line of a cell; ``html`` needs nothing from anywhere else."""

    title: str
    html: str = field(repr=False)

    def _repr_html_(self) -> str:
        return self.html


def view_attention(
    translation: Translation,
    kind: str = "cross",
    layer: int = -1,
    head: int | None = None,
    gold: Iterable[tuple[int, int]] = (),
) -> AttentionViewer:
    """Where each word looks, for all kinds, layers and heads, to explore with mouse, finger or keyboard.

    Where no script runs (GitHub, a notebook that is not trusted), the table of the chosen head stands instead.

    Args:
        translation: of a ``Translator``.
        kind: ``"encoder"``, ``"decoder"`` or ``"cross"``: what is shown first.
        layer: from 0; −1 is the last.
        head: from 0; ``None`` is the mean over the heads.
        gold: pairs (source word, target word) from 0 without special tokens, as ``Pair.alignment``.

    Raises:
        ValueError: no such kind, layer, head or word; an empty translation.
    """
    from .plotting import KINDS, attention_table  # it loads matplotlib

    weights, rows, columns = attention_table(translation, kind, layer)  # (H, T, S)
    if head is not None and not -len(weights) <= head < len(weights):
        raise ValueError(f"head {head}: this layer has heads 0 to {len(weights) - 1}")
    kinds: dict[str, Any] = {}
    for name, labels in KINDS.items():
        layers = range(len(getattr(translation.attention, name)))
        tables = [attention_table(translation, name, i) for i in layers]
        kinds[name] = {"label": name, "title": TITLES[name], "names": labels, "rows": tables[0][1],
                       "columns": tables[0][2], "weights": [thousandths(table[0]) for table in tables]}  # fmt: skip
    start = {"kind": kind, "layer": layer % len(kinds[kind]["weights"]), "head": -1 if head is None else head % len(weights)}
    links = gold_cells(translation, gold)
    # No "<" in it: nothing that a word holds can end the script.
    data = json.dumps({"kinds": kinds, "start": start, "gold": links}, separators=(",", ":")).replace("<", "\\u003c")
    table = static_table(weights.float().mean(0) if head is None else weights[head].float(), rows, columns)
    parts = re.split("@(KEY|TABLE|DATA)@", TEMPLATE.read_text(encoding="utf-8"))
    filled = {"KEY": sha256((data + table).encode()).hexdigest()[:12], "TABLE": table, "DATA": data}
    html = "".join(filled[part] if i % 2 else part for i, part in enumerate(parts))
    return AttentionViewer(f"{translation.source} → {translation.text}", html)


def thousandths(weights: Tensor) -> list[list[int]]:
    """The weights ``(H, T, S)`` of each head, row after row, as whole thousandths: short, and the same everywhere."""
    return (weights.float() * 1000).round().int().flatten(1).tolist()  # (H, T·S)


def gold_cells(translation: Translation, gold: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Gold links (source word, target word) as (row, column) of the cross-attention.

    Raises:
        ValueError: a link to a word that is not there.
    """
    before = int(translation.src_labels[0] == "<sos>")
    n_src, n_tgt = len(translation.src_labels) - 2 * before, len(translation.tokens)
    for s, t in gold:
        if not (0 <= s < n_src and 0 <= t < n_tgt):
            raise ValueError(f"gold link ({s}, {t}): there are {n_src} source words and {n_tgt} target words, from 0")
    return [(t, s + before) for s, t in gold]


def static_table(weights: Tensor, rows: Sequence[str], columns: Sequence[str]) -> str:
    """Weights ``(T, S)`` as plain HTML that every sanitizer lets through: the largest of a row bold, small ones left out."""
    head = "".join(f"<th>{escape(word)}</th>" for word in ["", *columns])
    lines = []
    for word, row in zip(rows, weights.tolist(), strict=True):
        cells = [f"{weight:.2f}" if weight >= 0.05 else "" for weight in row]
        cells[row.index(max(row))] = f"<b>{max(row):.2f}</b>"
        lines.append(f"<tr><th>{escape(word)}</th>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>")
    return f'<table class="dataframe"><thead><tr>{head}</tr></thead><tbody>{"".join(lines)}</tbody></table>'
