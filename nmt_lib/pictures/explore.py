"""The live page: a translator that runs in the reader's browser.

The page contains everything: style, scripts, data and, if given, the model.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Sequence
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from .. import web
from ..translator import Translator
from .heatmaps import KINDS

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
    names = ("model_file.js", "tokenizers.js", "translator.js")
    modules = "".join(map(web.read, names))
    filled = {
        "COLOURS": viewer[viewer.index("<style>") : viewer.index("</style>")],
        "TABLE": table,
        "MODEL": b64encode(model).decode(),
        "DATA": web.quoted(data),
        "STYLE": web.quoted(web.read("page.css")),
        "TRANSLATOR": re.sub(r"(?m)^export |^import .*", "", modules),
        "VIEWER": web.read("viewer.js"),
        "PAGE": web.read("page.js"),
    }
    return web.fill("live.html", **filled)
