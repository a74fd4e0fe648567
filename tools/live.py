"""The data that the live page of the site shows before a model is loaded.

Its scripts are in ``nmt_book/web``; ``nmt_book/pictures/explore.py`` puts them
together.
"""

from __future__ import annotations

import copy
import re
import shutil
from collections.abc import Sequence
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import torch

import nmt_lib as nmt
from nmt_book import web
from nmt_book.pictures import explore
from nmt_book.pictures.explore import live_page
from nmt_book.pictures.viewer import all_layers, static_table
from nmt_lib.training.run_folder import PRETRAINED
from nmt_lib.translate.heatmap import KINDS, attention_table
from nmt_lib.translate.search import Candidate, Hypothesis

WORKER = "live-worker.js"  # a worker serves only pages in its own folder and below
LANGUAGES = {"en": "English", "de": "German", "fr": "French"}
# The first is shown on arrival; some come out wrong.
EXAMPLES = {
    "en-de": [
        "Two dogs are playing in the snow.",
        "The cook is cutting vegetables in a small kitchen.",
        "Three children are building a sandcastle on the beach.",
        "A man is throwing a ball to his dog.",
        "A man is riding a 🦄.",
    ],
    "de-en": [
        "Zwei Hunde spielen im Schnee.",
        "Ein Junge zieht seine Jacke an.",
        "Ein Junge zieht seine Jacke aus.",
        "Der Ball, den der Hund fängt, ist rot.",
    ],
    "en-fr": [
        "A red car is parked in front of a white house.",
        "A little girl in a red dress is holding a white cat.",
        "Three women are sitting on a bench, and they are laughing.",
        "A penguin is riding a bicycle.",
    ],
}
FAILURES = {  # a stranger's first tries, which are no captions
    "en-de": ["I love you.", "The bank closed the account."],
    "de-en": ["Ich liebe dich.", "Die Bank hat das Konto geschlossen."],
    "en-fr": ["I love you.", "I don't know."],
}
LEARNT = (
    "It has learnt from 29,000 captions of pictures, and from nothing else: people, "
    "dogs and balls, in whole sentences that begin with a capital letter."
)
BEAM = "A man is throwing a ball to his dog."  # greedy: he throws the dog
CAR = {"model": "en-fr", "text": "A red car is parked in front of a white house."}
COOK = {
    "model": "en-de",
    "text": "The cook is cutting vegetables in a small kitchen.",
}
HEAD = {"kind": "cross", "layer": 2, "head": 1, "closed": "cross-2-1"}
GENDER: dict[str, Any] = CAR | HEAD
LAST = COOK | {"kind": "cross", "layer": 3, "head": 2, "closed": "cross-3-2", "step": 3}
IDEAS: list[
    dict[str, Any]
] = [  # which head to switch off, and what the translation loses
    {
        "asks": "English → French: which head makes the car feminine?",
        "says": "Switch off the head that makes the car feminine",
        "shows": GENDER,
    },
    {
        "asks": "English → German: which head puts the vegetables last?",
        "says": "Switch off the head that puts the vegetables last",
        "shows": LAST,
    },
]
QUESTION = ("model", "asked", "beam", "closed", "prefix")
START = {name: value for name, value in GENDER.items() if name != "closed"}
# By chapter number: the text of its link to the page, and what the page then shows.
DOORS: dict[str, tuple[str, dict[str, Any]]] = {
    "00": (
        "Type your own sentence",
        {
            "model": "en-de",
            "text": "Three children are building a sandcastle on the beach.",
        },
    ),
    "04": (
        "See every head, and switch it off",
        {
            "model": "en-de",
            "text": "Two dogs are playing in the snow.",
            "kind": "encoder",
            "layer": 2,
            "head": 2,
        },
    ),
    "06": (
        "Watch a decoder write",
        CAR | {"kind": "cross", "layer": 2, "head": 3, "step": 2},
    ),
    "08": ("Grow the tree yourself", {"model": "en-de", "text": BEAM, "beam": 3}),
    "09": ("Switch off the head for gender", GENDER),
}


def door(path: str) -> str:
    """A link from the page of a chapter to an example of its subject."""
    says, state = DOORS.get(Path(path).name[:2], ("", {}))
    if not says or Path(path).parent.name != "notebooks":
        return ""
    return f'<a href="../live.html#{escape(urlencode(state))}">{says}</a> '


def model_path(name: str) -> Path:
    return PRETRAINED / f"multi30k-{name}" / "model.safetensors"


def copy_files(out: Path) -> None:
    """Puts the models and the worker where the page looks for them in the site."""
    shutil.copy(web.FILES / "worker.js", out / WORKER)
    (out / "models").mkdir()
    for name in EXAMPLES:
        shutil.copy(model_path(name), out / f"models/{name}.safetensors")
    copy_explored(Path("notebooks"), out)


def copy_explored(notebooks: Path, out: Path) -> None:
    """The models of stored outputs of ``book.explore``.

    They are those that a run has left beside its notebook, bundled ones, and the tiny
    one, which takes a minute to train. Where another is missing, its page says so."""
    for path in notebooks.rglob("*.ipynb"):
        text = path.read_text(encoding="utf-8")
        for file in {*re.findall(r"explore/[\w.-]+?\.safetensors", text)}:
            made, target = path.parent / file, out / path.parent / file
            name = re.sub(r"^explore/|-\w{8}\.safetensors$", "", file)
            target.parent.mkdir(parents=True, exist_ok=True)
            if made.exists():
                shutil.copy(made, target)
            elif name in nmt.Translator.pretrained():
                translator = nmt.Translator.load(name, device="cpu")
                explore.write(explore.packed(translator), target)
            elif name == "tiny":
                explore.write(explore.packed(nmt.load_or_train(name)), target)


def site_page() -> str:
    """The page as HTML."""
    models, stored = [], []
    for name, texts in EXAMPLES.items():
        file, (source, target) = model_path(name).read_bytes(), name.split("-")
        model = {
            "name": name,
            "title": f"{LANGUAGES[source]} → {LANGUAGES[target]}",
            "source": source,
            "target": target,
            "examples": texts,
            "failures": FAILURES[name],
            "learnt": LEARNT,
            # A changed file gets a new address, so no browser shows the old one.
            "url": f"models/{name}.safetensors?{sha256(file).hexdigest()[:8]}",
            "bytes": len(file),
        }
        models.append(model)
        translator = nmt.Translator.load(f"multi30k-{name}", device="cpu")
        shown = [answer(translator, text) for text in [*texts, *FAILURES[name]]]
        if name == "en-de":
            first = translator.translate(texts[0], beam_size=1)
            shown.append(answer(translator, BEAM, beam=3))
        for idea in IDEAS:
            if idea["shows"]["model"] == name:
                text, head = idea["shows"]["text"], idea["shows"]["closed"]
                off = answer(translator, text, closed=head)
                # The words that are written then, and their chances with all heads on.
                shown += [off, answer(translator, text, prefix=off["ids"])]
        stored += [{"model": name, **one} for one in shown]
    ideas = [idea | {"address": urlencode(idea["shows"])} for idea in IDEAS]
    data: dict[str, Any] = {"models": models, "ideas": ideas}
    data["stored"] = [
        {key: one[key] for key in QUESTION} | {"json": web.quoted(one)}
        for one in stored
    ]
    data |= {"names": KINDS, "fragment": True, "worker": WORKER}
    data |= {"start": urlencode(START), "chapters": "notebooks/"}
    return live_page(data, table_of(stored, first))


def switched_off(translator: nmt.Translator, head: str) -> nmt.Translator:
    """A copy in which a head, such as ``cross-2-1``, passes nothing on."""
    new, model = copy.copy(translator), copy.deepcopy(translator.model)
    kind, layer, number = head.split("-")
    stack = model.encoder if kind == "encoder" else model.decoder
    name = "cross_attention" if kind == "cross" else "self_attention"
    attention = getattr(stack.layers[int(layer)], name)
    # W_o reads the heads side by side: (D, H · d_v).
    of_heads = attention.W_o.weight.unflatten(1, (attention.n_heads, -1))
    of_heads[:, int(number)] = 0.0
    new.model = model
    return new


@torch.inference_mode()
def answer(
    translator: nmt.Translator,
    text: str,
    beam: int = 1,
    closed: str = "",
    prefix: Sequence[int] = (),
) -> dict[str, Any]:
    """A translation in the format of ``nmt_book/web/page_worker.js``.

    Args:
        closed: a head to switch off, such as ``cross-2-1``.
        prefix: the ids of the whole translation, where it is not to be searched for.
    """
    if closed:
        translator = switched_off(translator, closed)
    found = answer_of(translator, text, beam, prefix)
    found["closed"] = [closed] if closed else []
    if closed:  # the page shows what the head did before
        kind, layer, head = closed.split("-")
        maps = found["kinds"][kind]["weights"][int(layer)]
        maps[int(head)] = [0] * len(maps[int(head)])
    return found


def answer_of(
    translator: nmt.Translator, text: str, beam: int, prefix: Sequence[int]
) -> dict[str, Any]:
    model, decode = translator.model, translator.config.decode
    tokenizer, source = translator.tgt_tokenizer, translator.encode(text)
    src, trace = torch.tensor([source]), list[Candidate]()
    alpha, extra = decode.length_penalty, decode.max_extra_tokens
    score = 0.0
    if prefix:
        ids = [*prefix]
    elif beam > 1:
        (best, *_), *_ = nmt.beam_search(model, src, beam, alpha, extra, trace=trace)
        ids, score = [*best.ids, nmt.EOS], best.score
    else:
        (best,) = nmt.greedy_search(model, src, extra, alpha)
        ids, score = [*best.ids, nmt.EOS], best.score
    found = translator._translation(
        text, source, [Hypothesis(tuple(ids[:-1]), score, score)]
    )
    log_probs = model(src, torch.tensor([[nmt.SOS, *ids[:-1]]]))[0].log_softmax(-1)
    log_probs[:, [nmt.PAD, nmt.SOS]] = -torch.inf  # (T, V)

    def choices(row: torch.Tensor) -> list[dict[str, Any]]:
        top = row.topk(8)
        words = tokenizer.lookup_tokens(top.indices.tolist())
        values = zip(
            top.indices.tolist(), words, top.values.exp().tolist(), strict=True
        )
        return [{"id": i, "token": w, "p": round(p, 5)} for i, w, p in values]

    return {
        "asked": text,
        "beam": beam,
        "length": len(source) - 1 - translator.src_tokenizer.sos,
        "text": found.text,
        "score": score,
        "prefix": [*prefix],
        "source": found.src_labels,
        "sourceIds": source,
        "tokens": found.tgt_labels,
        "ids": ids,
        "logProbs": [float(row[i]) for row, i in zip(log_probs, ids, strict=True)],
        "steps": [choices(row) for row in log_probs],
        "trace": [
            {
                "step": c.step,
                "prefix": c.prefix,
                "id": c.token,
                "token": tokenizer.lookup_tokens([c.token])[0],
                "logProb": c.log_prob,
                "fate": c.fate,
            }
            for c in trace
        ],
        "kinds": {kind: all_layers(found, kind) for kind in KINDS},
    }


def table_of(stored: list[dict[str, Any]], first: nmt.Translation) -> str:
    """HTML to show where no script runs: all translations, and one map."""
    weights, *words = attention_table(first, "cross", -1)
    caption = "Where each word of the first translation looks: mean of the last heads"
    rows = "".join(
        f"<tr><td>{escape(one['asked'])}</td><td>{escape(one['text'])}</td></tr>"
        for one in stored
        if one["beam"] == 1 and not (one["closed"] or one["prefix"])
    )
    head = "<caption>Translations, stored: to type your own, allow scripts</caption>"
    head += "<tr><th>sentence</th><th>translation</th></tr>"
    table = static_table(caption, weights.mean(0), *words)
    return f'<table class="dataframe">{head}{rows}</table>{table}'
