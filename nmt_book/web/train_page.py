"""The page on which a Transformer is trained in the browser, from the files here."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from typing import Any

from nmt_lib.config import load_config
from nmt_lib.data.batches import encode_pairs
from nmt_lib.data.corpora import load_corpus
from nmt_lib.data.pairs import Pair
from nmt_lib.data.tokenizers import build_tokenizers
from nmt_lib.data.tokens import SPECIALS, UNK

from .. import web

CONFIG: dict[str, Any] = {  # what differs from the config tiny
    "name": "browser",
    "model.d_model": 32,
    "model.n_heads": 1,
    "model.n_layers": 1,
    "model.d_ff": 64,
    "model.dropout": 0.0,
    "train.batch_tokens": 512,
    "train.lr": 0.012,
    "train.warmup": 75,
}
# Sentences that no training pair has; the first is there on arrival.
EXAMPLES = (
    "The child is reading the old letter.",
    "The old man is not singing.",
    "A red apple is on the blanket.",
    "The cup is big and it is very old.",
    "The woman is sad because the man is dancing.",
)
HELD_OUT = 100  # pairs
WORKER = (
    "model_file",
    "tokenizers",
    "train_ops",
    "train_kernel",
    "transformer",
    "beam_search",
    "translator",
    "packed",
    "train_model",
    "train",
    "train_session",
    "train_worker",
)
PAGE = "kit", "pictures", "train_settings", "train_page"
START = 'import { trainPage } from "./train_page.js";\n'
START += "trainPage(host, data, TEMPLATE, WORKER);\n"


def train_page(live: str, film: dict[str, Any]) -> str:
    """The page as HTML: style, scripts and data are in it.

    Args:
        live: the address of the page that opens a model file.
        film: a stored run: the curve before the reader's, and all that is shown where
            no script runs; see ``film_table``.
    """
    address = f'on the page <a href="{live}">Type a sentence</a> under “A model of '
    address += "your own”, or "
    frames = [{**frame, "weights": None} for frame in film["frames"]]
    data = page_data() | {"packed": pack(training_data()), "film": frames}
    return web.shell("nmt-train", data, film_table(film), page_script(live=address))


def page_script(live: str = "", note: str = "") -> str:
    """It draws in ``host``, from ``data``: see ``train_page.js``.

    Args:
        live: HTML that says where else a model file can be opened.
        note: HTML that follows “Press “Train””.
    """
    parts = {
        "TEMPLATE": web.template(
            "train.html", "kit.css", "train.css", LIVE=live, NOTE=note
        ),
        "WORKER": web.squeezed(web.bundle(*WORKER)),
    }
    constants = "".join(f"const {k} = {web.quoted(v)};\n" for k, v in parts.items())
    return constants + web.bundle(*PAGE, start=START)


def training_data(longest: int = 512, count: int | None = None) -> dict[str, Any]:
    """What the worker needs: pairs as ids, their tokenizers, and the config.

    Args:
        longest: tokens of a source sentence, with its special tokens.
        count: of training pairs; default: all.
    """
    config = load_config("tiny", **CONFIG)
    corpus = load_corpus(config.data)
    tokenizers = build_tokenizers(config.data, corpus.train)

    def ids(pairs: Sequence[Pair]) -> list[list[list[int]]]:
        examples = encode_pairs(pairs, tokenizers, config)
        return [[[*s], [*t]] for s, t in examples if len(s) <= longest]

    train = sorted(ids(corpus.train))  # they pack better; batches are drawn
    stride = len(train) / (count or len(train))
    return {
        "config": config.model_dump(),
        "tokenizers": [tokenizer.dumps() for tokenizer in tokenizers],
        "train": [train[int(i * stride)] for i in range(count or len(train))],
        "heldOut": ids([*corpus.valid, *corpus.test])[:HELD_OUT],
    }


def page_data(longest: int = 512) -> dict[str, Any]:
    """What nmt_book/web/train_page.js shows before anything is trained.

    ``longest`` is that of ``training_data``.
    """
    config = load_config("tiny", **CONFIG)
    corpus = load_corpus(config.data)
    src, _ = build_tokenizers(config.data, corpus.train)
    pairs = {pair.src: pair for pair in [*corpus.valid, *corpus.test]}
    model, train = config.model.model_dump(), config.train.model_dump()
    fields = ("norm", "n_layers", "n_heads", "d_model", "lr", "warmup", "schedule")
    return {
        "examples": [
            example(pairs[text])
            for text in EXAMPLES
            if len(src.encode(text)) <= longest
        ],
        "words": src.lookup_tokens(list(range(len(SPECIALS), len(src)))),
        "unknown": UNK,
        "settings": {key: (model | train)[key] for key in fields},
    }


def example(pair: Pair) -> dict[str, Any]:
    """A sentence with its translation, and its links as squares of a map.

    Rows have no ``<sos>``, and columns have one.
    """
    links = [f"{t},{s + 1}" for s, t in pair.alignment]
    return {"text": pair.src, "reference": pair.tgt, "gold": links}


def pack(value: Any) -> str:
    return web.packed(json.dumps(value, separators=(",", ":")))


def film_table(film: dict[str, Any], ask: str = "allow scripts") -> str:
    """What a model said while it was trained, for readers without scripts.

    Args:
        film: ``text``, ``rows`` and ``columns`` of its map, and ``frames``: each has
            ``step``, ``loss``, ``right``, ``said`` and ``weights`` (T, S) in percent.
        ask: what to do to train a model.
    """
    rows = "".join(
        f"<tr><td>{frame['step']}</td><td>{frame['loss']:.2f}</td>"
        f'<td lang="fr">{escape(frame["said"])}</td>'
        f"<td>{picture(frame['weights'])}</td></tr>"
        for frame in film["frames"]
    )
    return (
        f'<table class="dataframe"><caption>To train a model here, {ask}. This '
        f"one was asked to translate “{escape(film['text'])}” while it was trained. A "
        f"map has a row for each of {escape(' '.join(film['rows']))}, and a column for "
        f"each of {escape(' '.join(film['columns']))}: the stronger a square, the more "
        "the French word looks at the English one.</caption><tr><th>update</th>"
        f"<th>loss</th><th>translation</th><th>cross-attention</th></tr>{rows}</table>"
    )


def picture(weights: Sequence[Sequence[int]]) -> str:
    """A map as SVG, in ten shades."""
    shades: dict[int, str] = {}
    for y, row in enumerate(weights):
        for x, percent in enumerate(row):
            tenth = round(percent / 10)
            shades[tenth] = shades.get(tenth, "") + f"M{x} {y}h1v1h-1z"
    paths = "".join(
        f'<path d="{d}" opacity="{tenth / 10}"/>' for tenth, d in shades.items()
    )
    size = f'viewBox="0 0 {len(weights[0])} {len(weights)}"'
    return f'<svg {size} width="90" fill="currentColor">{paths}</svg>'
