"""The live page: a translator that runs in the reader's browser.

The page contains style, scripts and data; its model is a file.
"""

from __future__ import annotations

import json
import os
import re
import sys
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
    shown["bytes"], shown["file"] = len(model), file_name(translator, model)
    if paste is None:
        paste = not (reads_files() and write(model, Path(shown["file"])))
    if paste:
        kind = 'class="model" type="application/octet-stream;base64"'
        table += f"<script {kind}>{b64encode(model).decode()}</script>"
    script = f"const PACKED = {web.quoted(web.packed(page_script()))};\n"
    start = 'import { begin } from "./beside.js";\nbegin(host, data, PACKED);\n'
    script += web.bundle("beside", start=start)
    return web.Html(web.shell("nmt-live", shown, table, script))


def file_name(translator: Translator, model: bytes) -> str:
    """Beside the notebook; another model has another name, from its digest."""
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
    """Whether the file is there; a folder may be closed to writing."""
    try:
        path.parent.mkdir(exist_ok=True)
        beside = path.with_suffix(f".{os.getpid()}.tmp")
        beside.write_bytes(model)
        beside.replace(path)
    except OSError:
        return False
    return True


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


def live_page(data: dict[str, Any], table: str = "") -> str:
    """The page as HTML; it fetches the model that it needs.

    Args:
        data: what ``nmt_lib/web/page.js`` shows first; its head says what that is.
        table: HTML to show where no script runs.
    """
    return web.shell("nmt-live", data, table, "const model = null;\n" + page_script())


def page_script() -> str:
    """It draws in ``host``, from ``data`` and perhaps from ``model``."""
    translator = ("model_file.js", "tokenizers.js", "translator.js")
    modules = re.sub(r"(?m)^export |^import .*", "", "".join(map(web.read, translator)))
    return f"""const STYLE = {web.quoted(web.read("page.css"))};
const {{ load, UNK, EOS }} = (() => {{
{modules}
return {{ load, UNK, EOS }};
}})();
{web.read("viewer.js")}
{web.read("page.js")}
"""
