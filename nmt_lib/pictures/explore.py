"""The live page: a translator that runs in the reader's browser.

The page contains everything: style, scripts, data and, if given, the model.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from .. import web
from ..special import UNK
from ..translator import Translator
from .heatmaps import KINDS

TRANSLATOR = ("model_file", "tokenizers", "translator", "page_worker")
PAGE = (
    *("kit", "viewer", "page_state", "page_parts", "page_answers", "page_models"),
    *("page_ask", "page_words", "page_heads", "page_maps", "page_tree", "page"),
)
START = """\
import { livePage } from "./page.js";
const inside = host.querySelector(".model").textContent.trim();
const bytes = Uint8Array.from(atob(inside), (letter) => letter.charCodeAt(0));
livePage(host, data, STYLE, WORKER, bytes.length ? bytes.buffer : null);
"""
LIMIT = 60  # subwords of a sentence that the page reads
LARGEST = 12_000_000  # bytes: the largest model in a cell's output
SENTENCES = {
    "en": "A man is reading a newspaper.",
    "de": "Ein Mann liest eine Zeitung.",
    "fr": "Un homme lit un journal.",
}


def explore(translator: Translator, texts: Sequence[str] = ()) -> web.Html:
    """A page in a cell's output that translates typed text, in the browser itself.

    It shows the attention, can switch off heads, and continues from a word that the
    reader chooses. It contains the model, so it needs neither Python nor a network.

    Args:
        translator: any that is not too large.
        texts: sentences that the page suggests; default: one in the source language.

    Raises:
        ValueError: a model of more than about six million weights.
    """
    data = translator.config.data
    sentences = list(texts) or [SENTENCES.get(data.src_lang, "")]
    model = packed(translator)
    known = {
        "name": translator.config.name,
        "title": f"{data.src_lang} → {data.tgt_lang}",
        "source": data.src_lang,
        "target": data.tgt_lang,
        "examples": sentences,
        "url": "",
        "bytes": len(model),
    }
    rows = "".join(
        f"<tr><td>{escape(one.source)}</td><td>{escape(one.text)}</td></tr>"
        for one in translator.translate(sentences, beam_size=1)
    )
    caption = "<caption>Run the cell to translate sentences of your own</caption>"
    table = f'<table class="dataframe">{caption}{rows}</table>'
    shown = {"models": [known], "stored": [], "names": KINDS, "fragment": False}
    return web.Html(live_page(shown, table, model))


def packed(translator: Translator) -> bytes:
    """The model as a file, in fp16 if that loses nothing or if fp32 is too large."""
    parameters = list(translator.model.parameters())
    exact = all(torch.equal(weight, weight.half().float()) for weight in parameters)
    with TemporaryDirectory() as folder:
        file = Path(folder) / "model.safetensors"
        for half in (exact, True):
            translator.save(file, half)
            if file.stat().st_size <= LARGEST:
                return file.read_bytes()
        size = file.stat().st_size / 1e6
    raise ValueError(
        f"the model has {size:.0f} MB in half precision, and a cell's output can hold "
        f"{LARGEST / 1e6:.0f} MB: explore a smaller one, or open its file on the live "
        "page of the site"
    )


def live_page(data: dict[str, Any], table: str = "", model: bytes = b"") -> str:
    """The page as HTML.

    Args:
        data: what ``nmt_lib/web/page.js`` shows first; its head says what that is.
        table: HTML to show where no script runs.
        model: a model file; without it, the page fetches the one that it needs.
    """

    viewer = web.read("viewer.html")
    filled = {
        "COLOURS": viewer[viewer.index("<style>") : viewer.index("</style>")],
        "TABLE": table,
        "MODEL": b64encode(model).decode(),
        "DATA": web.quoted({"unk": UNK, "limit": LIMIT, "start": "", **data}),
        "STYLE": web.quoted(web.read("page.css")),
        "WORKER": web.quoted(web.bundle(*TRANSLATOR)),
        "PAGE": web.bundle(*PAGE, start=START),
    }
    return web.fill("live.html", **filled)
