"""Attention as heatmaps: one grid a head, with the words on both axes and the gold links as frames."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from torch import Tensor

from ..translator import Translation
from .plotting import ORANGE, Grid, draw_grids

KINDS = {  # kind → (labels of the rows, labels of the columns)
    "encoder": ("source word asks", "source word answers"),
    "decoder": ("word being written", "word read so far"),
    "cross": ("word being written", "source word"),
}


def plot_attention(
    translation: Translation | Sequence[Translation],
    kind: str = "cross",
    layer: int | None = -1,
    heads: Sequence[int] | None = None,
    columns: int = 4,
    *,
    mean: bool = False,
    gold: Sequence[Any] = (),
    small: bool = False,
) -> Figure:
    """One grid a head: row = the token that asks, column = the token that is looked at, dark = much.

    Args:
        translation: of a ``Translator``; or several: a panel each, with the sentence as its title.
        kind: ``"encoder"``, ``"decoder"`` or ``"cross"``.
        layer: from 0; −1 is the last; ``None``: all layers, a line of grids each.
        heads: which; default: all.
        columns: grids side by side, where only one layer is drawn.
        mean: one grid, the mean of the heads.
        gold: links (source word, target word) without special tokens, as ``Pair.alignment`` has them, framed in
            orange; with several translations: such links for each.
        small: small and without words.

    Raises:
        ValueError: no such kind, layer or head; no column; an empty translation; a gold link beyond the words.
    """
    several = not isinstance(translation, Translation)
    shown: list[Any] = list(translation) if several else [translation]  # type: ignore[arg-type]
    golds = list(gold) if several and gold else [gold] * len(shown)
    if not shown or len(golds) != len(shown):
        raise ValueError(
            f"{len(golds)} lists of gold links for {len(shown)} translations"
        )
    if columns < 1:
        raise ValueError(f"columns must be at least 1, not {columns}")
    lines, frames = [], []
    for one, links in zip(shown, golds, strict=True):
        for i in (
            range(len(getattr(one.attention, kind, [0]))) if layer is None else [layer]
        ):
            weights, *words = attention_table(one, kind, i)  # (H, T, S)
            n_heads = len(weights)
            chosen = list(range(n_heads)) if heads is None else list(heads)
            if not chosen or not -n_heads <= min(chosen) <= max(chosen) < n_heads:
                raise ValueError(
                    f"heads {chosen}: this layer has heads 0 to {n_heads - 1}"
                )
            names = (
                ["mean of the heads"]
                if mean
                else [f"head {h % n_heads}" for h in chosen]
            )
            tables = (
                weights[chosen].mean(0, keepdim=True) if mean else weights[chosen]
            )  # (grids, T, S)
            words = [[""] * len(some) for some in words] if small else words
            start = [one.source] * several + [f"layer {i}"] * (layer is None)
            names = (
                [""] if several and len(names) == 1 else names
            )  # the sentence says enough
            titles = [", ".join(filter(None, [*start, name])) for name in names]
            lines.append(
                [
                    Grid(title, table, *words)
                    for title, table in zip(titles, tables, strict=True)
                ]
            )
            frames += [gold_cells(one, kind, links) if links else []] * len(names)
    if layer is not None:
        flat = [grid for line in lines for grid in line]
        lines = [flat[i : i + columns] for i in range(0, len(flat), columns)]
    figure, axes = draw_grids(
        lines, *KINDS[kind][::-1], cell=(0.11, 0.1) if small else (0.3, 0.26)
    )
    for axis, cells in zip(axes, frames, strict=True):
        for s, t in cells:
            axis.add_patch(
                Rectangle(
                    (s - 0.5, t - 0.5), 1, 1, fill=False, edgecolor=ORANGE, linewidth=2
                )
            )
    return figure


def attention_table(
    translation: Translation, kind: str, layer: int
) -> tuple[Tensor, list[str], list[str]]:
    """The weights ``(H, rows, columns)`` of a layer, with the words on both axes.

    Raises:
        ValueError: no such kind or layer; an empty translation.
    """
    if kind not in KINDS:
        raise ValueError(f"kind {kind!r}: choose one of {', '.join(KINDS)}")
    if not translation.tokens:
        raise ValueError("an empty translation has no attention to draw")
    layers = getattr(translation.attention, kind)
    if not -len(layers) <= layer < len(layers):
        raise ValueError(
            f"layer {layer}: the {kind} attention has layers 0 to {len(layers) - 1}"
        )
    source, written = list(translation.src_labels), list(translation.tgt_labels)
    read = ["<sos>", *written[:-1]]
    rows, cols = {
        "encoder": (source, source),
        "decoder": (written, read),
        "cross": (written, source),
    }[kind]
    return layers[layer][0].cpu(), rows, cols  # (H, T, S)


def gold_cells(
    translation: Translation, kind: str, gold: Sequence[tuple[int, int]]
) -> list[tuple[int, int]]:
    """The (column, row) of each gold link in the cross-attention: the source may have ``<sos>`` in front."""
    if gold and kind != "cross":
        raise ValueError(
            f"gold links join source and target: the {kind} attention has none"
        )
    first = int(translation.src_labels[:1] == ("<sos>",))
    n_src, n_tgt = (
        len(translation.src_labels) - first - 1,
        len(translation.tokens),
    )  # without <eos>
    for s, t in gold:
        if not (0 <= s < n_src and 0 <= t < n_tgt):
            raise ValueError(
                f"gold link ({s}, {t}): there are {n_src} source words and {n_tgt} target words, from 0"
            )
    return [(first + s, t) for s, t in gold]
