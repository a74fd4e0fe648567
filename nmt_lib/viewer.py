"""Attention to touch: a small page in the output of a cell. What runs in the browser stands in ``viewer.html``."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from html import escape
from pathlib import Path

from torch import Tensor

from .translation import Translation

TEMPLATE = Path(__file__).with_name("viewer.html")
Links = Sequence[tuple[int, int]]


@dataclass(frozen=True)
class AttentionViewer:
    """What a notebook shows as the last line of a cell; the page ``html`` fetches nothing from anywhere."""

    title: str
    html: str = field(repr=False)

    def _repr_html_(self) -> str:
        return self.html


def view_attention(
    translation: Translation, kind: str = "cross", layer: int = -1, head: int | None = None, gold: Links = ()
) -> AttentionViewer:
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
    from .plotting import KINDS, attention_table  # here, as it loads matplotlib

    weights, rows, columns = attention_table(translation, kind, layer)  # (H, T, S)
    if head is not None and not -len(weights) <= head < len(weights):
        raise ValueError(f"head {head}: this layer has heads 0 to {len(weights) - 1}")
    kinds = {}
    for name, words in KINDS.items():
        tables = [attention_table(translation, name, i) for i in range(len(getattr(translation.attention, name)))]
        shown = [thousandths(table[0]) for table in tables]
        kinds[name] = {"names": words, "rows": tables[0][1], "columns": tables[0][2], "weights": shown}
    chosen = -1 if head is None else head % len(weights)  # −1 is the mean
    start = {"kind": kind, "layer": layer % len(kinds[kind]["weights"]), "head": chosen}
    data = json.dumps({"kinds": kinds, "start": start, "gold": gold_cells(translation, gold)}, separators=(",", ":"))
    table = static_table(weights.mean(0) if head is None else weights[head], rows, columns)
    filled = {"TABLE": table, "DATA": data.replace("<", "\\u003c")}  # no word can end the script
    filled["KEY"] = sha256("".join(filled.values()).encode()).hexdigest()[:12]
    parts = re.split("@(KEY|TABLE|DATA)@", TEMPLATE.read_text(encoding="utf-8"))
    html = "".join(filled[part] if i % 2 else part for i, part in enumerate(parts))
    return AttentionViewer(f"{translation.source} → {translation.text}", html)


def thousandths(weights: Tensor) -> list[list[int]]:
    """Weights ``(H, T, S)`` as whole thousandths, a list of T·S for each head: short, and the same on most machines."""
    return (weights.float() * 1000).round().int().flatten(1).tolist()  # (H, T·S)


def gold_cells(translation: Translation, gold: Links) -> list[tuple[int, int]]:
    """Gold links as (row, column) of the cross-attention."""
    before = int(translation.src_labels[0] == "<sos>")
    n_src, n_tgt = len(translation.src_labels) - before - 1, len(translation.tokens)  # without <eos>
    for s, t in gold:
        if not (0 <= s < n_src and 0 <= t < n_tgt):
            raise ValueError(f"gold link ({s}, {t}): there are {n_src} source words and {n_tgt} target words, from 0")
    return [(t, s + before) for s, t in gold]


def static_table(weights: Tensor, rows: Sequence[str], columns: Sequence[str]) -> str:
    """Weights ``(T, S)`` as plain HTML, which sanitizers leave alone: a row's largest bold, under 0.05 empty."""
    lines = ["".join(f"<th>{escape(word)}</th>" for word in ["", *columns])]
    for word, row in zip(rows, weights.tolist(), strict=True):
        cells = [f"<b>{w:.2f}</b>" if w == max(row) else f"{w:.2f}" if w >= 0.05 else "" for w in row]
        lines.append(f"<th>{escape(word)}</th>" + "".join(f"<td>{cell}</td>" for cell in cells))
    return f'<table class="dataframe">{"".join(f"<tr>{line}</tr>" for line in lines)}</table>'
