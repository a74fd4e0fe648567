"""The whole machine on one page: a translator in the middle of a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch
from torch import Tensor

from nmt_lib.data.pairs import Pair
from nmt_lib.data.tokenizers import Tokenizer
from nmt_lib.data.tokens import SOS
from nmt_lib.model.attention import padding_mask
from nmt_lib.translate.heatmap import WIDTH, new_figure

from ..pictures.boxes import plot_words
from ..pictures.grids import draw_arrow
from ..pictures.palette import GREY, LIGHT, MIDDLE, pale

if TYPE_CHECKING:
    from nmt_lib.translate.translator import Translator


LEFT, RIGHT, STEP = 0.35, 4.35, 0.34  # where the two halves begin; width of a token
CHAPTERS = (  # x, y, the chapters that explain this part
    (0.08, 0.6, "01"),
    (0.08, 1.5, "02"),
    (LEFT + 0.25, 3.53, "05"),
    (LEFT + 2.75, 3.53, "04"),
    (RIGHT + 0.25, 3.53, "06"),
    (RIGHT + 2.3, 3.53, "03"),
    (RIGHT + 2.75, 3.53, "04"),
    (RIGHT + 2.6, 5.63, "07"),
    (RIGHT + 3.05, 5.63, "08"),
    (LEFT + 0.13, 6.3, "00"),
)


@torch.no_grad()
def plot_machine(translator: Translator, text: str, n_words: int = 5) -> Figure:
    """The machine just before it writes the next word of a translation.

    Args:
        translator: its vectors and probabilities are drawn.
        text: at most eleven source tokens are shown.
        n_words: how many target words have already been written.
    """
    model, tokenizer = translator.model, translator.tgt_tokenizer
    src_ids = translator.encode(text)[:11]
    tgt_ids = tokenizer.encode(translator(text).text, sos=False)[:n_words]
    device = model.output.weight.device
    src = torch.tensor([src_ids], device=device)  # (1, S)
    tgt_in = torch.tensor([[SOS, *tgt_ids]], device=device)  # (1, T)
    memory = model.encode(src)  # (1, S, D)
    states = model.decode(tgt_in, memory, padding_mask(src))  # (1, T, D)
    top = model.output(states)[0, -1].softmax(-1).topk(4)  # (4,)

    figure, (axis,) = new_figure(size=(WIDTH, 6.6))
    draw_column(axis, LEFT, translator.src_tokenizer.lookup_tokens(src_ids))
    draw_column(axis, RIGHT, tokenizer.lookup_tokens(tgt_in[0].tolist()))
    legend = "embeddings + positions (B, {}, D)"
    draw_vectors(axis, LEFT, 1.1, model.src_embedding(src)[0], legend.format("S"))
    draw_vectors(axis, RIGHT, 1.1, model.tgt_embedding(tgt_in)[0], legend.format("T"))
    sublayers = ["self-attention", "feed-forward"]
    draw_block(axis, LEFT, "encoder", len(model.encoder.layers), sublayers)
    sublayers[:1] = ["self-attention to the past", "cross-attention to memory"]
    draw_block(axis, RIGHT, "decoder", len(model.decoder.layers), sublayers)
    draw_vectors(axis, LEFT, 4.2, memory[0], "memory (B, S, D)")
    draw_vectors(axis, RIGHT, 4.2, states[0], "decoded (B, T, D)")
    draw_choice(
        axis, top.values.tolist(), tokenizer.lookup_tokens(top.indices.tolist())
    )
    draw_paths(axis, len(src_ids), tgt_in.size(1))
    title: Any = {"fontsize": 13, "va": "center"}
    axis.text(LEFT, 7.0, "It reads, all at once …", color=LIGHT["encoder"], **title)
    axis.text(
        RIGHT, 7.0, "… and writes, word by word.", color=LIGHT["decoder"], **title
    )
    axis.text(LEFT + 0.42, 6.23, "the chapter that explains it", color=GREY)
    axis.text(LEFT, 5.65, "A column of colours is a vector,", color=GREY)
    axis.text(LEFT, 5.4, f"the first 16 of its {memory.size(-1)} numbers:", color=GREY)
    circle: Any = {"boxstyle": "circle,pad=0.22", "fc": LIGHT["right"], "lw": 0}
    for x, y, number in CHAPTERS:
        axis.text(x, y, number, bbox=circle, color="white", **MIDDLE)
    axis.set(xlim=(-0.15, 8.1), ylim=(0.1, 7.2), aspect="auto")
    axis.axis("off")
    return figure


def draw_column(axis: Axes, x: float, words: Sequence[str]) -> None:
    """Words from bottom to top, side by side."""
    for i, word in enumerate(words):
        place = x + STEP * (i + 0.5), 0.95
        axis.text(*place, word, rotation=90, ha="center", va="top", parse_math=False)


def draw_vectors(axis: Axes, x: float, y: float, table: Tensor, label: str) -> None:
    """The first 16 numbers of each vector of ``table``, ``(n, D)``, as colours."""
    color = LIGHT["encoder" if x == LEFT else "decoder"]
    shades = LinearSegmentedColormap.from_list("", [LIGHT["masked"], "white", color])
    for i, vector in enumerate(table.cpu().numpy()):
        left = x + STEP * i
        box = (left + 0.02, left + STEP - 0.02, y, y + 0.8)
        axis.imshow(vector[:16, None], shades, vmin=-2.5, vmax=2.5, extent=box)
    axis.text(x, y + 0.86, label, color=GREY)


def draw_block(
    axis: Axes, x: float, role: str, n_layers: int, lines: Sequence[str]
) -> None:
    """A stack of layers, with the parts of each."""
    box = FancyBboxPatch(
        (x, 2.5), 3.0, 1.3, "round,pad=0.06", fc=pale(role), ec=LIGHT[role]
    )
    axis.add_patch(box).set_zorder(0)
    axis.text(x + 1.25, 3.53, f"{role} × {n_layers}", weight="bold", **MIDDLE)
    axis.text(x + 1.5, 2.92, "\n".join(lines), linespacing=1.4, **MIDDLE)


def draw_choice(axis: Axes, probabilities: Any, words: Sequence[str]) -> None:
    """The most likely next words, as bars."""
    for i, (p, word) in enumerate(zip(probabilities, words, strict=True)):
        x, y = RIGHT + 1.05, 6.6 - 0.22 * i
        axis.barh(y, 1.5 * p, 0.16, left=x, color="0.6" if i else LIGHT["decoder"])
        axis.text(x - 0.07, y, word, ha="right", va="center", parse_math=False)
        label = f"{p:.2f}" if p >= 0.005 else "< 0.01"
        axis.text(x + 0.07 + 1.5 * p, y, label, va="center", color=GREY)
    axis.text(RIGHT, 5.58, "probabilities (B, T, V)", color=GREY)


def draw_paths(axis: Axes, n_src: int, n_tgt: int) -> None:
    """The arrows: up through both halves, across to the decoder, and the loop."""
    for x in (LEFT + 1.5, RIGHT + STEP / 2 * n_tgt):
        draw_path(axis, (x, 2.13), (x, 2.42))
        draw_path(axis, (x, 3.86), (x, 4.17))
    last = RIGHT + STEP * (n_tgt - 0.5)
    draw_path(axis, (last, 5.02), (last, 5.5))
    start = LEFT + STEP * n_src + 0.05, 4.6
    draw_path(axis, start, (3.95, 4.6), (3.95, 3.0), (RIGHT - 0.08, 3.0))
    loop = (7.5, 6.6), (7.95, 6.6), (7.95, 0.5), (last + 0.27, 0.5)
    draw_path(axis, *loop, color=LIGHT["decoder"], lw=2.5)
    axis.text(7.2, 0.6, "append it,", color=LIGHT["decoder"], ha="center")
    axis.text(7.2, 0.25, "until <eos>", color=LIGHT["decoder"], ha="center")


def draw_path(axis: Axes, *points: Any, color: str = "0.3", lw: float = 1.8) -> None:
    """A line with a corner at each point and a head at the last one."""
    axis.plot(*zip(*points[:-1], strict=True), color=color, lw=lw)
    draw_arrow(axis, *points[-2:], color=color, lw=lw, shrinkA=0, shrinkB=0)


def plot_links(
    pair: Pair, src_tok: Tokenizer, tgt_tok: Tokenizer, names: Sequence[str]
) -> Figure:
    """Which word stands for which; words that change places are gold.

    Args:
        pair: with its ``alignment``.
        src_tok, tgt_tok: they cut the two sentences.
        names: of the two languages.
    """
    links = [((0, s), (1, t)) for s, t in pair.alignment]
    crossings = [
        end
        for a, b in links
        if any((a[1] - c[1]) * (b[1] - d[1]) < 0 for c, d in links)
        for end in (a, b)
    ]
    sentences = src_tok.tokenize(pair.src), tgt_tok.tokenize(pair.tgt)
    rows = dict(zip(names, sentences, strict=True))
    return plot_words(rows, links=links, marked=crossings, positions=False)
