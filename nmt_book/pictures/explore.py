"""The live page: a translator that runs in the reader's browser.

The page contains style, scripts and data; its model is a file.
"""

from __future__ import annotations

import json
import re
import sys
from base64 import b64encode
from collections.abc import Sequence
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from nmt_lib.data.tokens import UNK
from nmt_lib.errors import CheckpointError, check_kind
from nmt_lib.training.atomic_write import write_file
from nmt_lib.translate.heatmap import KINDS
from nmt_lib.translate.translator import Translator

from .. import web

TRANSLATOR = (
    *("model_file", "tokenizers", "train_ops", "train_kernel", "transformer"),
    *("beam_search", "translator", "page_look", "page_worker"),
)
PAGE = (
    *("kit", "viewer", "page_state", "page_parts", "page_answers"),
    *("page_models", "page_ask", "page"),
)
SHARED = ("tree",)  # what these import
BELOW = ("words", "heads", "maps", "machine", "tree")  # below the translation
START = """import { livePage } from "./page.js";
const templates = { page: PAGE, viewer: VIEWER };
livePage(host, data, templates, WORKER, model, MAKERS);
"""
BEGIN = 'import { begin } from "./beside.js";\nbegin(host, data, PACKED);\n'
LIMIT = 60  # subwords of a sentence that the page reads
LARGEST = 12_000_000  # bytes: the largest model in a cell's output
SENTENCES = {
    "en": "A man is reading a newspaper.",
    "de": "Ein Mann liest eine Zeitung.",
    "fr": "Un homme lit un journal.",
}
DEFAULTS: dict[str, Any] = {
    "unk": UNK,
    "limit": LIMIT,
    "start": "",
    "ideas": [],
    "sentences": {language: [text] for language, text in SENTENCES.items()},
}


def explore(
    translator: Translator, texts: Sequence[str] = (), paste: bool | None = None
) -> web.Html:
    """A page in a cell's output that translates typed text, in the browser itself.

    It shows the attention, can switch off heads, and continues from a word that the
    reader chooses. It needs neither Python nor a network: this writes the model into
    ``explore/`` beside the notebook, and there the page reads it.

    Args:
        translator: any that is not too large.
        texts: sentences that the page suggests; default: one in the source language.
        paste: put the model into the output; default: where a page cannot read files,
            that is on Colab, in VS Code and outside of notebooks.

    Raises:
        ValueError: a model of more than about six million weights.
    """
    check_kind(translator, Translator)
    data = translator.config.data
    texts = [texts] if isinstance(texts, str) else texts
    sentences = list(texts) or [SENTENCES.get(data.src_lang, "")]
    model = model_bytes(translator)
    model_data = {
        "name": translator.config.name,
        "title": f"{data.src_lang} → {data.tgt_lang}",
        "source": data.src_lang,
        "target": data.tgt_lang,
        "examples": sentences,
        "url": "",
        "bytes": len(model),
    }
    rows = "".join(
        f"<tr><td>{escape(translation.source)}</td>"
        f"<td>{escape(translation.text)}</td></tr>"
        for translation in translator.translate(sentences, beam_size=1)
    )
    caption = "<caption>Run the cell to translate sentences of your own</caption>"
    table = f'<table class="dataframe">{caption}{rows}</table>'
    page_data = {
        "models": [model_data],
        "stored": [],
        "names": KINDS,
        "fragment": False,
    }
    page_data |= {"bytes": len(model), "file": file_name(translator, model)}
    if paste is None:
        paste = not (reads_files() and write(model, Path(str(page_data["file"]))))
    if paste:
        kind = 'class="model" type="application/octet-stream;base64"'
        table += f"<script {kind}>{b64encode(model).decode()}</script>"
    script = web.packed(web.squeezed(live_script()))
    begin = web.squeezed(web.bundle("packed", "beside", start=BEGIN))
    script = f"const PACKED = {web.quoted(script)};\n{begin}"
    return web.Html(web.shell("nmt-live", DEFAULTS | page_data, table, script))


def file_name(translator: Translator, model: bytes) -> str:
    """The model's file beside the notebook, named by the model and its digest."""
    name = re.sub(r"[^A-Za-z0-9_.-]", "-", translator.config.name)
    size = int.from_bytes(model[:8], "little")  # of the header, in JSON
    digest = json.loads(model[8 : 8 + size])["__metadata__"]["digest"]
    return f"explore/{name}-{digest[:8]}.safetensors"


def reads_files() -> bool:
    """Whether a page in a cell's output can read files beside its notebook."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    in_code = "__vsc_ipynb_file__" in getattr(shell, "user_ns", {})  # VS Code
    return (
        hasattr(shell, "kernel") and not in_code and "google.colab" not in sys.modules
    )


def write(model: bytes, path: Path) -> bool:
    """Writes the file; False if that is not possible."""
    try:
        write_file(path, model)
    except CheckpointError:
        return False
    return True


def model_bytes(translator: Translator) -> bytes:
    """The bytes of the model's file, in fp16 if that is exact or fp32 is too large."""
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


def live_page(data: dict[str, Any], table: str = "", brief: bool = False) -> str:
    """The page as HTML; it fetches the model that it needs.

    Args:
        data: what ``nmt_book/web/page.js`` shows first; its head says what that is.
        table: HTML to show where no script runs.
        brief: one sentence, one head and the maps, as on the start page.
    """
    script = f"const model = null;\n{live_script(brief)}"
    return web.shell("nmt-live", DEFAULTS | data | {"brief": brief}, table, script)


def live_script(brief: bool = False) -> str:
    """The script; it draws in ``host``, from ``data`` and ``model``, a file's bytes."""
    styles = ["page.css", *["brief.css"] * brief]
    below = ("maps",) if brief else BELOW
    imports, makers = "", ""
    for name in below:
        imports += f'import {{ make{name.title()} }} from "./page_{name}.js";\n'
        makers += f"{name}: make{name.title()}, "
    modules = [*PAGE, *([] if brief else SHARED), *(f"page_{name}" for name in below)]
    start = f"{imports}const MAKERS = {{ {makers}}};\n{START}"
    return f"""\
const PAGE = {web.quoted(web.template("page.html", *styles))};
const VIEWER = {web.quoted(web.template("viewer.html", "viewer.css"))};
const WORKER = {web.quoted(web.squeezed(web.bundle(*TRANSLATOR)))};
{web.bundle(*modules, start=start)}"""
