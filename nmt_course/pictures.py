"""The pictures of the assignments' written questions. What they show is drawn by a seed
or a word."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import torch
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from torch import Tensor, nn

import nmt_lib as nmt


def order(seed: Any, letters: Any, *things: Any) -> dict[str, Any]:
    """Which thing has which letter."""
    drawn = random.Random(str(seed)).sample(things, len(things))
    return dict(zip(letters, drawn, strict=False))


def answer(seed: Any, letters: Any, *things: str) -> str:
    """The same in words, for a marking scheme."""
    drawn = order(seed, letters, *things)
    return "; ".join(f"**{letter}**: {thing}" for letter, thing in drawn.items())


def two_tables(seed: str) -> dict[str, Tensor]:
    """A2: two tables of 100 positions and 128 columns, one of them with the doubled
    exponent."""
    column = torch.arange(128)
    angle = torch.arange(100)[:, None] / 10000 ** (2 * column / 128)
    doubled = torch.where(column % 2 == 1, angle.cos(), angle.sin())
    return order(seed, ("table L", "table R"), nmt.sinusoids(100, 128), doubled)


def four_masks(seed: str) -> Figure:
    """A2: a target mask for three words and two ``<pad>``, and three wrong ones."""
    drawn = [
        "10000 11000 11100 11100 11100",
        "11100 11100 11100 11110 11111",
        "10000 11000 11100 00000 00000",
        "00000 10000 11000 11100 11100",
    ]
    grids = [torch.tensor([[*map(int, row)] for row in g.split()]) == 1 for g in drawn]
    words = ["<sos>", "il", "dort", "<pad>", "<pad>"]
    named = order(seed, "ABCD", *grids)
    return nmt.plot_grids(named, words, words, lines=True, ylabel="query")


def two_axes(axes: Any, d_k: int, seed: int) -> None:
    """A3: a map without the names of its axes, and two heads that have not learnt."""
    table = torch.tensor(_CHAIR)
    across = order(f"{seed} axis", ["query"], True, False)["query"]
    table = table.T if across else table
    draw = torch.Generator().manual_seed(seed)
    queries, keys = torch.randn(2, 2, 12, d_k, generator=draw)
    divisors = [*order(f"{seed} scale", "AB", 1.0, math.sqrt(d_k)).values()]
    A, B = (queries @ keys.mT / torch.tensor(divisors).view(2, 1, 1)).softmax(-1)
    words = ["the", "chair", "fell", "since", "it", "broke"]
    shades = LinearSegmentedColormap.from_list("", ["w", "teal"])
    for axis, title, weights in zip(axes, ("", "A", "B"), (table, A, B), strict=True):
        names = [""] * 12 if title else words
        nmt.draw_grid(axis, weights, names, names, cmap=shades)
        axis.set_title(title, fontsize=10)
    style: Any = {"ha": "center", "va": "center", "fontsize": 7}
    for (row, column), weight in np.ndenumerate(table.numpy()):
        shade = "white" if weight > 0.65 else "black"
        axes[0].text(column, row, f"{weight:.2f}", color=shade, **style)


def deep(seed: int) -> Figure:
    """A4: fresh encoders of twelve layers, and what is left of a sentence."""
    torch.manual_seed(seed)
    x = torch.randn(1, 12, 64)
    layers = [
        nn.TransformerEncoderLayer(64, 4, 256, 0.0, batch_first=True) for _ in range(12)
    ]
    for layer in layers:
        three = layer.self_attn.in_proj_weight.data.chunk(3)  # W_q, W_k, W_v
        out = layer.self_attn.out_proj.weight
        for matrix in (*three, out, layer.linear1.weight, layer.linear2.weight):
            nn.init.xavier_uniform_(matrix)
    kinds = "post", "pre", "no norm", "no sum"
    steps = {kind: _through(x, layers, kind) for kind in kinds}
    panels: Any = {"mean cosine of two positions": {}, "mean length of a vector": {}}
    cosine, length = panels.values()
    for letter, kind in order(f"{seed} left", "AB", "no sum", "post").items():
        cosines = [
            nn.functional.cosine_similarity(y[0, :, None], y[0], -1)
            for y in steps[kind][:7]
        ]
        # Of two different positions.
        cosine[letter] = [((one.sum() - 12) / 132).item() for one in cosines]
    for letter, kind in order(f"{seed} right", "PQR", "post", "pre", "no norm").items():
        length[letter] = [y.norm(dim=-1).mean().item() for y in steps[kind]]
    figure = nmt.plot_lines(panels, xlabel="layers")
    figure.axes[1].set(yscale="log", ylim=(1, 2 * max(map(max, length.values()))))
    return figure


@torch.no_grad()
def _through(x: Tensor, layers: list[Any], kind: str) -> list[Tensor]:
    """x, and what each layer leaves; the layers' own parts, put together in the order
    of ``kind``."""
    steps, norm = [x], nn.LayerNorm(x.size(-1))
    for layer in layers:
        for part in (
            lambda h, a=layer: a.self_attn(h, h, h)[0],
            lambda h, a=layer: a.linear2(a.linear1(h).relu()),
        ):
            x = (
                x + part(norm(x))
                if kind == "pre"
                else part(x) + (0 if kind == "no sum" else x)
            )
            x = norm(x) if kind in ("post", "no sum") else x
        steps.append(x)
    return steps


def two_runs(vocabulary: int, seed: int) -> dict[str, Any]:
    """A5: a run of two losses, and a batch over-fitted by three programs."""
    draw, first, steps, updates = (
        random.Random(seed),
        math.log(vocabulary),
        range(0, 2001, 50),
        range(0, 101),
    )
    floor, lowest = (
        0.1 * math.log(vocabulary / 0.1) + 0.9 * math.log(1 / 0.9),
        math.log(math.e + vocabulary - 1) - 1,
    )
    turn = draw.choice(range(600, 1001, 100))
    training = [
        floor
        + 0.25
        + (first - floor) * math.exp(-s / 330)
        - 0.00008 * s
        + draw.gauss(0, 0.02)
        for s in steps
    ]
    depth = (first - 0.9) / (1 - math.exp(-turn / 170))
    falls = [
        first - depth * (1 - math.exp(-min(s, turn) / 170)) + 0.0006 * max(0, s - turn)
        for s in steps
    ]
    validation = [loss + draw.gauss(0, 0.008) for loss in falls]
    run = order(f"{seed} left", "AB", (steps, training), (steps, validation))
    programs = [
        [
            low
            + (first - low)
            / (1 + math.exp((u - middle) / width))
            * (1 + math.exp(-middle / width))
            for u in updates
        ]
        for low, middle, width in ((0.01, 22, 9), (floor, 22, 9), (lowest, 40, 12))
    ]
    learnt = order(f"{seed} right", "PQR", *programs)
    return {"a) a run on a corpus": run, "b) sixteen sentences, over and over": learnt}


def three_maps(seed: int) -> Figure:
    """A6: one translation, drawn by three programs; one of them is right."""
    right, unmasked = torch.tensor(_CAR), torch.tensor(_CAR)
    share = torch.tensor(
        [0.22, 0.28, 0.18, 0.3, 0.24, 0.26]
    )  # of each row, for the two <pad>
    unmasked[:, 7], unmasked[:, 8] = 0.6 * share, 0.4 * share
    unmasked[:, :7] *= 1 - share[:, None]
    src = ["<sos>", "the", "red", "car", "is", "new", "<eos>", "<pad>", "<pad>"]
    tgt = ["la", "voiture", "rouge", "est", "neuve", "<eos>"]
    programs = (right, tgt), (unmasked, tgt), (right, ["<sos>", *tgt[:-1]])
    drawn = order(seed, "ABC", *programs)
    tables = {letter: table for letter, (table, _) in drawn.items()}
    words = [names for _, names in drawn.values()]
    return nmt.plot_grids(tables, words, src, numbers=".2f")


_CHAIR = [
    [0.50, 0.35, 0.05, 0.00, 0.05, 0.05],
    [0.30, 0.40, 0.20, 0.00, 0.05, 0.05],
    [0.05, 0.60, 0.25, 0.05, 0.00, 0.05],
    [0.05, 0.10, 0.25, 0.20, 0.00, 0.40],
    [0.05, 0.75, 0.05, 0.05, 0.05, 0.05],
    [0.00, 0.15, 0.10, 0.05, 0.60, 0.10],
]
_CAR = [
    [0.02, 0.34, 0.06, 0.55, 0.01, 0.00, 0.02, 0, 0],
    [0.01, 0.05, 0.08, 0.81, 0.03, 0.01, 0.01, 0, 0],
    [0.00, 0.02, 0.85, 0.09, 0.01, 0.02, 0.01, 0, 0],
    [0.03, 0.01, 0.02, 0.06, 0.78, 0.08, 0.02, 0, 0],
    [0.01, 0.00, 0.03, 0.11, 0.05, 0.77, 0.03, 0, 0],
    [0.12, 0.01, 0.01, 0.02, 0.02, 0.10, 0.72, 0, 0],
]
