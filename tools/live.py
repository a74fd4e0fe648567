"""The data that the live page of the site shows before a model is loaded.

Its scripts are in ``nmt_book/web``; ``nmt_book/pictures/explore.py`` puts them
together.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from functools import cache
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import torch

import nmt_lib as nmt
from nmt_book import web
from nmt_book.pictures import explore
from nmt_book.pictures.explore import LIMIT, TRANSLATOR, live_page
from nmt_book.pictures.viewer import static_table
from nmt_book.web import train_page
from nmt_lib.training.run_folder import PRETRAINED
from nmt_lib.translate.heatmap import KINDS

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
    label, state = DOORS.get(Path(path).name[:2], ("", {}))
    if not label or Path(path).parent.name != "notebooks":
        return ""
    return f'<a href="../live.html#{escape(urlencode(state))}">{label}</a> '


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
            source, target = path.parent / file, out / path.parent / file
            name = re.sub(r"^explore/|-\w{8}\.safetensors$", "", file)
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.exists():
                shutil.copy(source, target)
            elif name in nmt.Translator.pretrained():
                translator = nmt.Translator.load(name, device="cpu")
                explore.write(explore.model_bytes(translator), target)
            elif name == "tiny":
                explore.write(explore.model_bytes(nmt.load_or_train(name)), target)


def site_page() -> str:
    """The page as HTML."""
    data, answers = page_data()
    more: dict[str, Any] = {
        "stored": [kept(answer) for answer in answers],
        "ideas": [idea | {"address": urlencode(idea["shows"])} for idea in IDEAS],
        "fragment": True,
        "worker": WORKER,
        "chapters": "notebooks/",
    }
    return live_page(data | more, table_of(answers))


def start_page(ways: str) -> str:
    """The beginning of the start page: one sentence, one head, and the maps.

    Args:
        ways: HTML to follow the translation.
    """
    data, answers = page_data()
    car = [answer for answer in answers if answer["asked"] == CAR["text"]]
    more: dict[str, Any] = {
        "models": [model for model in data["models"] if model["name"] == CAR["model"]],
        "stored": [kept(answer) for answer in car if not answer["prefix"]],
        "ideas": IDEAS[:1],
        "fragment": False,
    }
    return live_page(data | more, table_of(car) + ways, brief=True)


def kept(answer: dict[str, Any]) -> dict[str, Any]:
    """An answer as the page has it: what was asked, and all of it in JSON."""
    return {key: answer[key] for key in QUESTION} | {"json": web.quoted(answer)}


@cache
def page_data() -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """What the pages show first, and what the models answer."""
    models = []
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
    data = {
        "models": models,
        "names": KINDS,
        "start": urlencode(START),
        "sentences": {"en": train_page.EXAMPLES},
    }
    return data, answers_to(data)


def answers_to(data: dict[str, Any]) -> list[dict[str, Any]]:
    """What the page's own scripts answer to its examples and ideas, in Node."""
    job = data | {"scripts": web.FILES.as_uri(), "worker": web.bundle(*TRANSLATOR)}
    job |= {"files": {name: str(model_path(name)) for name in EXAMPLES}}
    job |= {"searched": {"model": "en-de", "text": BEAM, "beam": 3}, "stored": []}
    job |= {"ideas": IDEAS, "limit": LIMIT}
    command: list[str | Path] = ["node", Path(__file__).with_name("answers.mjs")]
    answers = subprocess.check_output(command, input=json.dumps(job), text=True)
    return list(json.loads(answers))


def table_of(answers: list[dict[str, Any]]) -> str:
    """HTML to show where no script runs: all translations, and one map."""
    cross = answers[0]["kinds"]["cross"]  # thousandths, a head after the other
    words = cross["rows"], cross["columns"]
    weights = torch.tensor(cross["weights"][-1]).unflatten(1, [*map(len, words)])
    caption = "Where each word of the first translation looks: mean of the last heads"
    rows = "".join(
        f"<tr><td>{escape(answer['asked'])}</td><td>{escape(answer['text'])}</td></tr>"
        for answer in answers
        if answer["beam"] == 1 and not (answer["closed"] or answer["prefix"])
    )
    head = "<caption>Translations, stored: to type your own, allow scripts</caption>"
    head += "<tr><th>sentence</th><th>translation</th></tr>"
    table = static_table(caption, weights.float().mean(0) / 1000, *words)
    return f'<table class="dataframe">{head}{rows}</table>{table}'
