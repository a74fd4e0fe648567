"""The interface in a Chromium without a window says, shows and sends what it should.

Each number on the screen is the one that Python computes, or the formula in Node. The
heavier walks, with axe-core, JupyterLab and Firefox, are ``make browser``.
"""

from __future__ import annotations

import io
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pytest
import torch
from PIL import Image

import nmt_book as book
import nmt_lib as nmt
from nmt_book import web
from nmt_book.web import train_page
from nmt_book.web.things.calculator import Calculator
from nmt_book.web.things.mask import Mask
from tests.lib.small import small_translator
from tests.site import browser_play, browser_viewer
from tests.site.browser_live import (
    GERMAN,
    OWN,
    arrive,
    expected,
    get_model,
    odds,
    open_file,
    settled,
    write,
)
from tests.site.browser_play import HEAD, LISTEN, move
from tests.site.browser_train import begin, number, pause, wait
from tests.site.chromium import needs_chromium, served
from tests.site.node import in_node, needs_node
from tests.site.test_live import TEXTS, node
from tools import live, train

pytestmark = [needs_node, needs_chromium]
RED_CAR = live.GENDER["text"]
RED_CAR_OFF = "Un voiture rouge est garé devant une maison blanche."


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server of the start page's beginning, the live page and the training page."""
    folder = tmp_path_factory.mktemp("site")
    pages = {"index": live.start_page(""), "live": live.site_page()}
    for name, shown in (pages | {"train": train.site_page()}).items():
        html = f'{HEAD}<link rel="icon" href="data:,"><main>{shown}</main>'
        (folder / f"{name}.html").write_text(html, encoding="utf-8")
    shutil.copy(web.FILES / "worker.js", folder / live.WORKER)
    (folder / "models").mkdir()
    for name in live.EXAMPLES:
        shutil.copy(live.model_path(name), folder / f"models/{name}.safetensors")
    with served(folder) as address:
        yield address


@pytest.fixture
def german(page: Any, address: str) -> Any:
    """The live page with a sentence, and its model."""
    page.goto(f"{address}/live.html{GERMAN}")
    get_model(page)
    settled(page)
    return page


def opened(page: Any, folder: Path, *outputs: web.Html) -> None:
    """Shows outputs of cells on a page."""
    file = folder / "page.html"
    html = "".join(output.data for output in outputs)
    file.write_text(f"{HEAD}<main>{html}</main>", encoding="utf-8")
    page.goto(file.as_uri())


def pixels(part: Any) -> Any:
    """What of a page is seen: rows of colours ``(height, width, 3)``."""
    image = Image.open(io.BytesIO(part.screenshot(animations="disabled")))
    return np.asarray(image.convert("RGB")).astype(int)


def filled(part: Any, y: float = 0.5) -> float:
    """How much of a bar has the colour of its beginning, at a height from 0 to 1."""
    colours = pixels(part)
    row = colours[int(y * len(colours)), 3:-3]
    return float((abs(row - row[0]).sum(-1) < 30).mean())


# The parts of a page that its state has no use for.
HIDDEN = """host => [...host.shadowRoot.querySelectorAll('[data-part][hidden]')]
    .map(one => one.dataset.part).sort().join(' ')"""


def hidden_parts(page: Any) -> str:
    return str(page.locator(".nmt-live").evaluate(HIDDEN))


def signed(number: float) -> str:
    return f"{number:.2f}".replace("-", "−")


# The attention viewer.


def test_the_viewer_shows_the_weights_and_obeys(page: Any, tmp_path: Path) -> None:
    shown = book.view_attention(browser_viewer.PAIR, gold=browser_viewer.GOLD)
    opened(page, tmp_path, shown, shown)
    first, second = page.locator(browser_viewer.VIEWER).all()
    names = [f"head {head}" for head in range(4)]
    for name in ["mean of all heads", *names]:
        for layer in (0, 1):
            radio = first.get_by_role("radio", name=f"layer {layer}, {name}")
            assert radio.count() == 1, "a map without a name"
    browser_viewer.same_numbers(first)
    weights = browser_viewer.PAIR.attention.cross[1][0, 2]  # (T, S)
    T, S = weights.shape
    first.get_by_role("checkbox", name="gold links").uncheck()
    map_ = first.get_by_role("radio", name="layer 1, head 2").locator("svg")
    colours = pixels(map_)
    height, width, _ = colours.shape
    ys = ((np.arange(T) + 0.5) * height / T).astype(int)
    xs = ((np.arange(S) + 0.5) * width / S).astype(int)
    dark = -colours[ys[:, None], xs].sum(-1)  # (T, S)
    assert np.corrcoef(dark.flatten(), weights.flatten())[0, 1] > 0.95
    map_.hover(position={"x": float(xs[3]), "y": float(ys[1])})
    status = first.get_by_role("status").inner_text()
    words = browser_viewer.PAIR.tgt_labels[1], browser_viewer.PAIR.src_labels[3]
    assert status == "{} looks at: {}\u00a0{:.3f}".format(*words, weights[1, 3])
    first.get_by_role("checkbox", name="gold links").check()
    browser_viewer.use(page, first, second)


# Things to touch.


@pytest.mark.parametrize("name", ["clock", "mask", "calculator"])
def test_a_thing_can_be_used_by_keys(name: str, page: Any, tmp_path: Path) -> None:
    opened(page, tmp_path, book.play(name))
    browser_play.use(page, page.locator(".nmt-play"))


def sliders(page: Any, values: dict[str, list[str]]) -> dict[str, str]:
    """What each slider says after some moves, by its name: the text of its value."""
    host, labels = page.locator(".nmt-play"), {}
    host.evaluate(LISTEN)
    assert host.get_by_role("slider").count() == len(values)
    for name, texts in values.items():
        slider = host.get_by_role("slider", name=name, exact=True)
        for _ in range(3):
            at = int(slider.input_value())
            assert slider.get_attribute("aria-valuetext") == texts[at], name
            move(page, host, slider)
        assert slider.get_attribute("max") == str(len(texts) - 1)
        labels[name] = texts[int(slider.input_value())]
    return labels


def readout(page: Any) -> str:
    return str(page.locator(".nmt-play .readout").inner_text())


def test_the_clock_says_its_formulas(page: Any, tmp_path: Path) -> None:
    opened(page, tmp_path, book.play("clock"))
    every = [str(number) for number in range(301)]
    labels = sliders(page, {"position": every, "positions between the two": every[:21]})
    position, distance = map(int, labels.values())
    for base in (100, 10000):
        page.get_by_role("radio", name=str(base), exact=True).check(force=True)
        state = {"position": position, "distance": distance, "base": base, "d_model": 8}
        jobs = [["encoding", state], ["product", state]]
        (sine, cosine, *_), product = in_node("things/clock", jobs)
        assert readout(page) == (
            f"Positions {position} (thin) and {position + distance} (thick). Of "
            f"position {position}, hand 0 says sine {signed(sine)} and cosine "
            f"{signed(cosine)}. The dot product of the two positions is "
            f"{signed(product)}."
        )


def test_the_mask_shows_its_weights_and_a_press_turns_one(
    page: Any, tmp_path: Path
) -> None:
    opened(page, tmp_path, book.play("mask"))
    words = ["<sos>", *Mask().words]
    targets = [*words[1:], "<eos>"]
    mask = [[s <= t for s in range(len(words))] for t in range(len(words))]
    cells = page.get_by_role("group", name="the mask").get_by_role("button")
    read = "all => all.map(c => [c.ariaLabel, c.textContent, c.ariaPressed])"

    def check() -> None:
        (answer,) = in_node("things/mask", [["attend", words, mask]])
        assert cells.evaluate_all(read) == [
            [
                f"{words[t]}, which must say {targets[t]}, looks at {words[s]}: "
                f"weight {weight:.2f}",
                f"{weight:.2f}" if mask[t][s] else "",
                str(mask[t][s]).lower(),
            ]
            for t, row in enumerate(answer["weights"])
            for s, weight in enumerate(row)
        ]
        for t, p in enumerate(answer["probabilities"]):
            end = page.get_by_role("row").nth(1 + t).get_by_role("cell").last
            assert end.inner_text() == f"{p:.2f}"
            if p > 0.1:
                assert filled(end, 0.15) == pytest.approx(p, abs=0.05)
        mean = np.mean(answer["probabilities"])
        assert readout(page).endswith(f"mean probability of {mean:.2f}.")

    check()
    for t, s in ((0, 1), (4, 2)):
        cells.nth(t * len(words) + s).click()
        mask[t][s] = not mask[t][s]
        check()
    page.keyboard.press("Enter")
    mask[4][2] = True
    check()


LABELS = {
    "d_model": "width d_model",
    "n_layers": "layers on each side N",
    "V": "subwords V",
    "B": "sentences in a batch",
    "T": "tokens in a sentence",
    "tokens": "target tokens to read",
}


def test_the_calculator_says_its_formulas(page: Any, tmp_path: Path) -> None:
    opened(page, tmp_path, book.play("calculator"))
    choices = Calculator().given()["choices"]
    values = {
        name: in_node("things/calculator", [["short", value] for value in choices[key]])
        for key, name in LABELS.items()
    }
    labels = sliders(page, values)
    state: dict[str, Any] = {"precision": "bf16", "machine": "gpu"}
    for key, name in LABELS.items():
        state[key] = choices[key][values[name].index(labels[name])]
    jobs = ("parameters", "operations", "memory", "hours")
    learnt, work, held, hours = in_node(
        "things/calculator", [[job, state] for job in jobs]
    )
    updates = int(np.ceil(state["tokens"] / (state["B"] * state["T"])))
    said = [["short", updates], ["time", hours]]
    said += [["bytes", sum(held.values())], ["power", sum(work.values())]]
    expected = "{} updates: {}. An update needs {} and {} operations."
    assert readout(page) == expected.format(*in_node("things/calculator", said))
    figures = page.get_by_role("figure").all()
    for figure, parts in zip(figures, (learnt, work, held), strict=True):
        rows = figure.get_by_role("row").all()
        for row, (name, part) in zip(rows, parts.items(), strict=True):
            share = part / sum(parts.values())
            assert row.get_by_role("rowheader").inner_text() == name
            if share > 0.1:
                bar = row.get_by_role("cell").first
                assert filled(bar) == pytest.approx(share, abs=0.03), name


# The live page.


def test_a_head_is_off_before_anything_is_fetched(page: Any, address: str) -> None:
    """The red car loses its gender; Back undoes it."""
    asked: list[str] = []
    page.on("request", lambda one: asked.append(one.url))
    page.goto(f"{address}/live.html", wait_until="networkidle")
    assert settled(page) == expected("en-fr", RED_CAR)
    page.get_by_role("button", name="Switch off the head that makes").click()
    assert settled(page) == RED_CAR_OFF
    assert page.locator(".result mark").all_inner_texts() == ["Un", "garé"]
    page.go_back()
    assert settled(page) == expected("en-fr", RED_CAR)
    assert not [one for one in asked if "/models/" in one]


def test_a_stranger_sees_the_search_of_an_address(page: Any, address: str) -> None:
    text = live.BEAM  # two searches, two translations, and this one is not stored
    asked = urlencode({"model": "en-de", "text": text, "beam": 2})
    arrive(page, f"{address}/live.html#{asked}")
    assert settled(page) == expected("en-de", text, 2) != expected("en-de", text)


def test_a_word_that_is_chosen_and_heads_that_are_off(german: Any) -> None:
    page = german
    text, file = live.EXAMPLES["en-de"][0], live.model_path("en-de")
    ((plain,),) = node(file, [{"text": text}])
    assert settled(page) == expected("en-de", text) == plain["text"]
    search = "alphas numbers off offer picture redraw treeAsTable"
    assert hidden_parts(page) == f"again {search} versus was"
    rows = page.locator(".bars tbody tr").all()
    for row, choice in zip(rows, plain["steps"][0], strict=True):
        p = choice["p"]
        assert f"{p:.2f}" in row.inner_text() or p < 0.01
        if p > 0.1:
            bar = row.get_by_role("cell").first.locator("div")
            assert filled(bar) == pytest.approx(p, abs=0.03)
    jobs = [{"text": text, "prefix": [choice["id"]]} for choice in plain["steps"][0]]
    texts = [answer["text"] for answer in node(file, jobs)[0]]
    other = next(i for i, words in enumerate(texts) if words != plain["text"])
    page.locator(".bars tbody").get_by_role("button").nth(other).click()
    assert settled(page) == texts[other] and hidden_parts(page) == f"{search} was"
    page.get_by_role("button", name="Let the model choose again").click()
    assert settled(page) == plain["text"]
    were = odds(page)
    page.get_by_role("switch", name="cross, layer 3, head 2").click()
    settled(page)
    assert odds(page) != were
    page.reload()
    page.locator(".offer").wait_for(state="hidden")  # the model is kept
    settled(page)
    page.locator(".switch[aria-checked=false]").click()
    assert settled(page) == plain["text"] and odds(page) == were
    weighed(page, plain)


# Everything that the page asks its worker.
ASKED = """() => {
    window.asked = 0
    const { postMessage } = Worker.prototype
    Worker.prototype.postMessage = function (...message) {
        window.asked++
        postMessage.apply(this, message)
    }
}"""


def weighed(page: Any, plain: dict[str, Any]) -> None:
    """Each head is switched off once, and says how far log P falls without it."""
    page.evaluate(ASKED)
    page.get_by_role("button", name="Which one matters?").click()
    page.get_by_text("most of all").wait_for()
    switches = page.get_by_role("switch")
    assert 0 <= page.evaluate("window.asked") - switches.count() <= 1
    file, whole = live.model_path("en-de"), sum(plain["logProbs"])
    job = {"text": live.EXAMPLES["en-de"][0], "prefix": plain["ids"]}
    heads = [("encoder", 0, 1), ("decoder", 1, 3), ("cross", 3, 2), ("cross", 2, 0)]
    jobs = [job | {"closed": [[*head, None]]} for head in heads]
    for (kind, layer, head), off in zip(heads, node(file, jobs)[0], strict=True):
        fall = f"{whole - sum(off['logProbs']):.2f}"
        name = f"{kind}, layer {layer}, head {head}: without it, log P falls by {fall}"
        assert page.get_by_role("switch", name=name).count() == 1, name


OFF = "1 head is off · switch on"
BLUE_CAR = "A blue car is parked on the street."


def test_the_start_page_names_the_head_that_is_off(page: Any, address: str) -> None:
    """While one types, too; and the model arrives where the translation will be."""
    page.goto(f"{address}/index.html")
    result, coming = page.locator(".result"), page.locator(".pair .offer")
    chip, button = page.locator("[data-part=off]"), page.locator(".tries button")
    first = settled(page)
    assert first == expected("en-fr", RED_CAR)
    later = "heads machine numbers off progress share tree versus words"
    assert hidden_parts(page) == later
    assert page.locator(".result mark").count() == 0
    button.click()
    assert settled(page) == RED_CAR_OFF
    assert chip.inner_text() == OFF and first in page.locator(".versus").inner_text()
    answers: list[Any] = []
    page.route("**/models/*", lambda route: answers.append(route))
    page.locator("#text").fill(BLUE_CAR)
    coming.get_by_role("progressbar").wait_for()
    assert result.inner_text() == "" and chip.inner_text() == OFF
    page.locator("[inert]").get_by_text("See where each word looks").wait_for()
    assert not page.locator(".offer:visible:not(.pair .offer)").count()
    answers[0].continue_()
    coming.wait_for(state="hidden")
    said = settled(page)
    assert said == "Un voiture bleu est garé dans la rue." and chip.inner_text() == OFF
    assert not page.locator("[inert]").count()
    assert page.locator(".result mark").all_inner_texts() == ["Un", "bleu", "garé"]
    chip.click()
    assert settled(page) == expected("en-fr", BLUE_CAR)
    assert page.locator(".result:focus").count(), "the chip took the focus with it"
    assert not chip.is_visible() and button.inner_text() == "Switch off the same head"
    button.click()
    assert settled(page) == said and chip.inner_text() == OFF


def test_in_a_notebook_too_heads_that_are_off_are_named(
    page: Any, tmp_path: Path
) -> None:
    opened(page, tmp_path, book.explore(small_translator(), ["ich sehe"], paste=True))
    before, chip = settled(page), page.locator("[data-part=off]")
    for count, text in ((1, OFF), (2, "2 heads are off · switch on")):
        page.locator(".switch[aria-checked=true]").nth(2).click()
        settled(page)
        assert chip.inner_text() == text, count
    page.locator("#text").press_sequentially(" du", delay=20)
    assert settled(page) and chip.inner_text() == text
    page.locator("#text").fill("ich sehe")
    chip.click()
    assert settled(page) == before and not chip.is_visible()


def test_a_hidden_subword_looks_hidden(german: Any) -> None:
    word = german.locator(".chips button").nth(2)
    style = "one => [getComputedStyle(one).textDecorationLine, one.title]"
    assert word.evaluate(style)[0] == "none"
    word.click()
    settled(german)
    assert word.evaluate(style)[0] == "line-through"
    note = german.locator(".note").first.inner_text()
    assert note == "The decoder does not see what is crossed out."


def test_the_chosen_map_is_a_table_as_well(german: Any) -> None:
    details = german.locator("details", has_text="The chosen map as a table")
    details.locator("summary").click()
    row = details.locator("tbody tr").nth(1)
    before = row.inner_text()
    weights = [float(text) for text in re.findall(r"\d\.\d\d", before)]
    assert len(weights) > 3 and sum(weights) == pytest.approx(1, abs=0.05)
    maps = german.get_by_role("radiogroup", name="layer and head")
    maps.get_by_role("radio").first.click()
    assert row.inner_text() != before, "another head, another table"


def test_a_model_of_ones_own_begins_with_what_it_knows(
    page: Any, address: str, tmp_path: Path
) -> None:
    """Unless the reader has typed; and a link does not hold it."""
    config = nmt.load_config("tiny", **train_page.CONFIG)
    tokenizers = nmt.build_tokenizers(config.data, nmt.load_corpus(config.data).train)
    model = nmt.Transformer(config.model, len(tokenizers[0]), len(tokenizers[1]))
    translator = nmt.Translator(model, *tokenizers, config)
    page.goto(f"{address}/live.html")
    text, send = page.locator("#text"), page.get_by_text("send its file as well")
    assert not send.count()
    for typed in ("", BLUE_CAR):
        if typed:
            text.fill(typed)
        file = tmp_path / f"{len(typed)}/model.safetensors"
        translator.save(file)
        page.locator("#file").set_input_files(file)
        name = "your file 2" if typed else "your file"
        page.get_by_role("radio", name=f"({name})", checked=True).wait_for()
        settled(page)
        assert text.input_value() == (typed or train_page.EXAMPLES[0])
        assert bool(page.locator(".chip.unknown").count()) == bool(typed)
        tries = page.get_by_role("group", name="examples").get_by_role("button")
        assert tries.all_inner_texts() == [*train_page.EXAMPLES[:4]]
        assert send.count() == 1


def test_nothing_is_shown_that_belongs_to_another_text(german: Any) -> None:
    """Such as to no text, or to one that is too long."""
    for text in ("", "  ", "the dog and " * 30):
        assert write(german, text) == "" and not german.locator(".two").is_visible()
    assert "90 tokens" in german.locator(".note").inner_text()
    assert write(german, OWN) == expected("en-de", OWN)


def test_a_translation_is_drawn_and_the_tree_is_pressed(german: Any) -> None:
    write(german, OWN)
    german.get_by_role("radio", name="1.5", exact=True).first.click()
    drawn = {settled(german)}
    for _ in range(5):
        german.get_by_role("button", name="Draw again").click()
        drawn.add(settled(german))
    assert len(drawn) > 2
    german.get_by_role("radio", name="3", exact=True).click()
    assert settled(german) == expected("en-de", OWN, 3)
    german.locator(".tree g.dropped").first.click()
    settled(german)
    assert german.locator(".chip.mine").count() >= 1
    german.get_by_role("button", name="Let the model choose again").click()
    german.get_by_role("radio", name="1, greedy search").click()
    assert settled(german) == expected("en-de", OWN)


def test_each_opened_model_answers_for_itself(
    page: Any, address: str, tmp_path: Path
) -> None:
    """Files of one name; what was chosen for the model before is forgotten."""
    arrive(page, f"{address}/live.html{GERMAN}&prefix=200&closed=cross-1-2&hidden=2")
    settled(page)
    assert page.locator(".chip.mine").count() == 1
    page.locator("#text").fill(TEXTS[0])
    broken = small_translator(4)
    with torch.no_grad():
        broken.model.output.weight[5] = torch.nan
    opened = {
        "your file": small_translator(0),
        "your file 2": small_translator(3),
        "your file 3": broken,
    }
    translations = [translator(TEXTS[0]).text for translator in [*opened.values()][:2]]
    assert len({*translations}) == 2
    answers = [*translations, ""]
    for (name, translator), wanted in zip(opened.items(), answers, strict=True):
        file = tmp_path / name / "model.safetensors"
        translator.save(file)
        open_file(page, file)
        page.get_by_role("radio", name=f"({name})", checked=True).wait_for()
        assert settled(page) == wanted
        assert not page.locator(".chip.mine, .switch[aria-checked=false]").count()
        hidden = page.get_by_title("press to hide it from the decoder", exact=True)
        assert hidden.and_(page.locator("[aria-pressed=true]")).count() == 0
    page.get_by_text("this text: the weights are not finite.").wait_for()


@pytest.mark.parametrize(
    ("asked", "note"),
    [
        ("model=en-de&text=" + "x" * 300_000, "That makes 1000 tokens."),
        (f"{GERMAN[1:]}&prefix=" + "_".join(3_000 * ["200"]), ""),
        (f"{GERMAN[1:]}&prefix={nmt.EOS}", "The model writes nothing"),
        ("model=mine&text=Two+dogs.&prefix=200_300", "a model that is not here"),
    ],
    ids=["long text", "long prefix", "nothing written", "no model"],
)
def test_no_address_stops_the_page(
    asked: str, note: str, page: Any, address: str
) -> None:
    arrive(page, f"{address}/live.html#{asked}")
    settled(page)
    assert note in page.locator(".note").first.inner_text()
    assert bool(page.locator(".chip.mine").count()) == asked.startswith(GERMAN[1:])
    text = live.EXAMPLES["en-de"][1]
    assert write(page, text) == expected("en-de", text)


# The training page.


def test_the_training_page_says_what_it_is_told(page: Any, address: str) -> None:
    page.goto(f"{address}/train.html")
    host, settings = page.locator(".nmt-train"), train_page.page_data()["settings"]
    host.evaluate(LISTEN)
    for name, key, words in (
        ("Learning rate", "lr", "learning rate"),
        ("Warm-up", "warmup", "warm-up"),
    ):
        slider = page.get_by_role("slider", name=name)
        assert slider.get_attribute("aria-valuetext") == f"{settings[key]}"
        for _ in range(2):
            move(page, host, slider)
            text = slider.get_attribute("aria-valuetext")
            assert float(text) > settings[key]
            page.get_by_text(re.compile(rf"^Now: .*{words} {text}\b")).wait_for()


# A worker that trains at once: its looks at updates 0 and 600, and nothing between.
TRAINED = """window.Worker = class {
    postMessage([order, { id } = {}]) {
        this.id = id ?? this.id
        const step = { start: 0, go: 600 }[order]
        if (step === undefined) return
        const look = { id: this.id, step, loss: 1.04, right: step ? 87 : null,
            said: "neuf", source: ["The"], sourceIds: [9], tokens: ["Le"],
            cross: [[[[1]]]], milliseconds: 12345, frequencyLoss: 4.7 }
        setTimeout(() => this.onmessage({ data: { look, state: "resting" } }))
    }
}"""


def test_the_training_page_begins_with_a_picture_and_ends_with_an_invitation(
    page: Any, address: str
) -> None:
    page.add_init_script("window.Worker = class { postMessage() {} }")
    page.goto(f"{address}/train.html")
    assert not page.locator(".maps figcaption:visible").count(), "heads without maps"
    page.add_init_script(TRAINED)
    page.reload()
    page.get_by_text("neuf", exact=True).first.wait_for()
    maps = page.locator(".maps figure:visible")
    maps.first.wait_for()
    assert maps.count() == 1 and not page.locator(".maps figcaption:visible").count()
    assert page.locator(".curve.last").count() == 1, "no curve of the run before"
    assert "Press “Train”" in page.locator(".note").inner_text()
    assert not page.get_by_text("–", exact=True).locator("visible=true").count()
    page.get_by_role("button", name="Train", exact=True).click()
    page.get_by_text("87 of 100 right.").wait_for()
    page.get_by_text("13", exact=True).wait_for()  # seconds for 600 updates
    mask = page.get_by_role("checkbox", name="take away the causal mask")
    page.set_viewport_size({"width": 390, "height": 844})
    for name, taken in (("Now take away", True), ("Give the mask back", False)):
        button = page.get_by_role("button", name=name)
        top = (button.bounding_box() or {})["y"]
        assert top + 44 < 844 - 211, "under a title, below a phone's first screen"
        button.click()
        assert mask.is_checked() == taken
        page.get_by_text("87 of 100 right.").wait_for()


def test_a_double_click_starts_one_training(page: Any, address: str) -> None:
    page.goto(f"{address}/train.html")
    page.get_by_role("button", name="Train", exact=True).dblclick()
    wait(page, 25)
    pause(page)
    step = number(page, "step")
    page.wait_for_timeout(1000)
    assert number(page, "step") == step


def test_what_is_saved_is_what_is_shown(
    page: Any, address: str, tmp_path: Path
) -> None:
    """After a text that is empty, and updates that no look has shown; Python and the
    live page open the file."""
    page.goto(f"{address}/train.html")
    text, said = page.get_by_label("An English sentence"), page.locator(".said")
    text.fill(" ")
    begin(page)
    wait(page, 25)
    page.get_by_text("(nothing)", exact=True).first.wait_for()
    text.fill("The cup is red.")
    text.press("Enter")
    page.locator(".grid tbody, .grid tr").first.wait_for()
    wait(page, 100)
    pause(page)
    file = tmp_path / "model.safetensors"
    with page.expect_download() as download:
        page.get_by_role("button", name="Save").click()
    download.value.save_as(file)
    page.wait_for_timeout(500)  # it draws twice a second
    shown = said.inner_text()
    saved = nmt.Translator.load(file, device="cpu")
    assert shown == (saved("The cup is red.").text or "(nothing)")
    page.goto(f"{address}/live.html")
    open_file(page, file)
    page.get_by_role("radio", name="your file", checked=True).wait_for()
    settled(page)
    assert (write(page, "The cup is red.") or "(nothing)") == shown


def test_training_by_keys_alone(page: Any, address: str) -> None:
    """Training, a choice and a slider."""
    page.goto(f"{address}/train.html")
    button = page.get_by_role("button", name="Train", exact=True)
    button.focus()
    page.keyboard.press("Enter")
    wait(page, 25)
    page.keyboard.press("Enter")
    button.wait_for()
    page.get_by_role("radio", name="post-LN").focus()
    page.keyboard.press("ArrowRight")
    assert page.get_by_role("radio", name="pre-LN").is_checked()
    page.get_by_text("pre-LN, 1 + 1 layers").wait_for()


def test_a_run_is_compared_with_the_one_before(page: Any, address: str) -> None:
    """An idea begins a new run, and the last one stays in grey."""
    page.goto(f"{address}/train.html")
    page.get_by_role("button", name="Without warm-up").click()
    begin(page)
    wait(page, 100)
    pause(page)
    assert number(page, "loss") > 4.5, "it is not stuck"
    page.get_by_role("button", name="A bag of words").click()
    page.get_by_text("Before, in grey: post-LN, 2 + 2 layers").wait_for()
    assert page.locator(".curve.last").count() == 1
    page.get_by_role("button", name="One update").click()
    wait(page, 1)
    assert number(page, "step") == 1, "a look at the run before"
    assert page.get_by_role("button", name="Save").is_disabled()
