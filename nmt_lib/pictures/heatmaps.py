"""Attention as heatmaps: a grid for each head, with the words on both axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from torch import Tensor

from ..translator import Translation
from .plotting import ORANGE, Grid, draw_grids, in_lines

KINDS = {  # kind → (label of the rows, label of the columns)
    "encoder": ("source word asks", "source word answers"),
    "decoder": ("word being written", "word read so far"),
    "cross": ("word being written", "source word"),
}


def plot_attention(
    translation: Translation | Sequence[Translation],
    kind: str = "cross",
    layer: int = -1,
    heads: Sequence[int] | None = None,
    *,
    mean: bool = False,
    gold: Sequence[Any] = (),
) -> Figure:
    """A grid for each head: row = query token, column = key token, dark = high weight.

    Args:
        translation: of a ``Translator``; or several, each in a panel with its sentence
            as the title.
        kind: ``"encoder"``, ``"decoder"`` or ``"cross"``.
        layer: from 0; −1 is the last.
        heads: the heads to draw; default: all.
        mean: one grid, the mean of the heads.
        gold: links (source word, target word) without special tokens, as
            ``Pair.alignment`` has them, framed in orange; a list of links for each
            translation, where there are several.

    Raises:
        ValueError: an unknown kind or layer; an empty text; a gold link to a
            word that does not exist; more or fewer lists of links than translations.
        IndexError: an unknown head.
    """
    several = not isinstance(translation, Translation)
    shown: Any = translation if several else [translation]
    golds = gold if several and gold else [gold] * len(shown)
    grids, frames = [], []
    for one, links in zip(shown, golds, strict=True):
        weights, *words = attention_table(one, kind, layer)  # (H, T, S)
        chosen = [*range(len(weights))] if heads is None else list(heads)
        tables, names = weights[chosen], [f"head {h % len(weights)}" for h in chosen]
        if mean:
            tables, names = tables.mean(0, keepdim=True), ["mean of the heads"]
        if several and len(names) == 1:
            names = [one.source]  # the sentence is enough
        elif several:
            names = [f"{one.source}, {name}" for name in names]
        grids += [Grid(*grid, *words) for grid in zip(names, tables, strict=True)]
        frames += [gold_cells(one, kind, links)] * len(names)
    rows_label, columns_label = KINDS[kind]
    figure, axes = draw_grids(in_lines(grids), columns_label, rows_label)
    frame: Any = {"fill": False, "edgecolor": ORANGE, "linewidth": 2}
    for axis, cells in zip(axes, frames, strict=True):
        for x, y in cells:
            axis.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, **frame))
    return figure


def attention_table(
    translation: Translation, kind: str, layer: int
) -> tuple[Tensor, list[str], list[str]]:
    """The weights ``(H, rows, columns)`` of a layer, and the words of both axes.

    Raises:
        ValueError: an unknown kind or layer; an empty text.
    """
    if kind not in KINDS:
        raise ValueError(f"kind {kind!r}: choose one of {', '.join(KINDS)}")
    if not translation.src_labels:
        raise ValueError("an empty text has no attention to draw")
    layers = getattr(translation.attention, kind)
    if not -len(layers) <= layer < len(layers):
        raise ValueError(
            f"layer {layer}: the {kind} attention has layers 0 to {len(layers) - 1}"
        )
    source, written = list(translation.src_labels), list(translation.tgt_labels)
    read = ["<sos>", *written[:-1]]
    rows = source if kind == "encoder" else written
    columns = read if kind == "decoder" else source
    return layers[layer][0].cpu(), rows, columns  # (H, T, S)


def gold_cells(
    translation: Translation, kind: str, gold: Sequence[tuple[int, int]]
) -> list[tuple[int, int]]:
    """The (column, row) of each gold link in the cross-attention.

    Raises:
        ValueError: another kind; a link to a word that does not exist.
    """
    if gold and kind != "cross":
        raise ValueError(
            f"gold links join source and target: the {kind} attention has none"
        )
    first = int(translation.src_labels[:1] == ("<sos>",))  # some models have none
    # Without <eos>.
    n_src, n_tgt = len(translation.src_labels) - first - 1, len(translation.tokens)
    for s, t in gold:
        if not (0 <= s < n_src and 0 <= t < n_tgt):
            raise ValueError(
                f"gold link ({s}, {t}): there are {n_src} source words "
                f"and {n_tgt} target words, from 0"
            )
    return [(first + s, t) for s, t in gold]
