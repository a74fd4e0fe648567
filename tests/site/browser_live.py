"""Uses the live page of build/site as a reader would, and looks for barriers.

Part of ``make browser``. Screenshots go to build/live.
"""

from __future__ import annotations

import gzip
import shutil
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import nmt_lib as nmt
from nmt_lib.pictures.live import live_page
from tests.site.browser_site import SITE, served
from tests.site.chromium import ROOT, barriers, chromium
from tools import live

OUT = ROOT / "build" / "live"
FIRST = live.EXAMPLES["en-de"][0]
OWN = "A woman is reading a newspaper on a bench."
WIDTHS = (360, 768, 1280, 1920)
SIDEWAYS = "document.documentElement.scrollWidth > innerWidth"


def main() -> int:
    if not (SITE / "live.html").exists():
        print("error: there is no live page in build/site: run make site")
        return 2
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir(parents=True)
    with chromium() as browser, served(SITE) as address:
        url = f"{address}/live.html"
        with watched(browser) as page:
            fetched = first_own_sentence(page, url)
            for use in (heads, words, steps, beam, maps, limits, links, keyboard):
                use(page)
            page.goto(url)
            other_directions(page)
            ideas(page)
            offline(page, url)
            damaged_cache(page, url)
        with watched(browser, java_script_enabled=False) as page:
            page.goto(url)
            table = page.locator(".nmt-live > table")
            assert FIRST in table.first.inner_text(), "no table where no script runs"
            assert table.nth(1).is_visible()
        with watched(browser) as page:
            doors(page, address)
        from_a_folder(browser)
        for width in WIDTHS:
            for scheme in ("light", "dark"):
                no_barriers(browser, url, width, scheme)
    size = f"{fetched / 1e6:.2f} MB until the first own translation"
    print(f"the live page works; {size}; screenshots: {OUT}")
    return 0


@contextmanager
def watched(
    browser: Any, width: int = 1280, scheme: str = "light", **options: Any
) -> Iterator[Any]:
    """A new page; at its end: no error, no request to another host."""
    size = {"width": width, "height": 900}
    context = browser.new_context(viewport=size, color_scheme=scheme, **options)
    page, found = context.new_page(), Counter[str]()
    page.set_default_timeout(120_000)
    page.on("pageerror", lambda error: found.update([f"script: {error.stack}"]))
    page.on("console", lambda said: found.update([said.text] * (said.type == "error")))
    own = ("http://127.0.0.1", "ws://127.0.0.1", "file:", "data:", "blob:")
    page.on(
        "request",
        lambda one: found.update([one.url] * (not one.url.startswith(own))),
    )
    yield page
    context.close()
    assert not found, found


def get_model(page: Any) -> None:
    page.get_by_role("button", name="Get the model").click()
    page.locator(".offer").wait_for(state="hidden")


def settled(page: Any) -> str:
    """The translation, once it is drawn."""
    page.wait_for_timeout(400)  # typing waits for the next letter
    page.locator(".nmt-live[aria-busy=false]").wait_for()
    return str(page.locator(".result").inner_text())


def write(page: Any, text: str) -> str:
    page.locator("#text").fill(text)
    return settled(page)


def expected(name: str, text: str, beam: int = 1) -> nmt.Translation:
    translator = nmt.Translator.load(f"multi30k-{name}", device="cpu")
    return translator.translate(text, beam_size=beam)


def odds(page: Any) -> list[str]:
    """The rows of the next words, with their probabilities."""
    return list(page.locator(".bars tbody tr").all_inner_texts())


def first_own_sentence(page: Any, url: str) -> int:
    """A stored translation at once; then the model, and an own sentence.

    Returns:
        The bytes that a server which compresses text sends until then.
    """
    sizes = []
    page.on("response", lambda answer: sizes.append(answer))
    page.goto(url, wait_until="networkidle")
    stored = expected("en-de", FIRST).text
    assert settled(page) == stored and len(odds(page)) == 8
    assert not [one.url for one in sizes if "/models/" in one.url]
    page.screenshot(path=OUT / "arrival.png", full_page=True)
    page.get_by_role("button", name="Get the model").click()
    page.locator("progress").wait_for()
    page.locator(".offer").wait_for(state="hidden")
    assert write(page, OWN) == expected("en-de", OWN).text
    assert page.locator(".result").get_attribute("role") == "status"
    models = {one.url for one in sizes if "/models/" in one.url}
    assert len(models) == 1, "more than one model was fetched"
    texts = {one.url: one for one in reversed(sizes) if one.url not in models}
    fetched = live.model_file("en-de").stat().st_size
    fetched += sum(len(gzip.compress(one.body())) for one in texts.values())
    assert 5.6e6 < fetched < 6e6, fetched
    return fetched


def heads(page: Any) -> None:
    """A closed head, layer and kind change probabilities, and at last the text."""
    before, were = settled(page), odds(page)
    head = page.get_by_role("switch", name="cross, layer 3, head 2")
    assert head.get_attribute("aria-checked") == "true"
    head.click()
    settled(page)
    assert head.get_attribute("aria-checked") == "false" and odds(page) != were
    assert page.locator(".versus").inner_text().endswith(before)
    page.get_by_role("button", name="close cross, layer 3").click()
    settled(page)
    page.get_by_role("button", name="close all of cross-attention").click()
    blind = settled(page)
    assert blind != before, "without cross-attention nothing changed"
    assert page.locator(".result mark").count()
    assert blind in page.locator(".echo").inner_text()
    page.screenshot(path=OUT / "closed.png", full_page=True)
    page.get_by_role("button", name="Open all (16 closed)").click()
    assert settled(page) == before and odds(page) == were
    page.get_by_role("button", name="Which one matters?").click()
    page.get_by_text("most of all").wait_for()
    assert "log P falls by" in (head.get_attribute("aria-label") or "")
    source = page.get_by_role("group", name="subwords").get_by_text("newspaper")
    source.click()
    assert settled(page) != before, "a hidden word changed nothing"
    source.click()
    assert settled(page) == before


def words(page: Any) -> None:
    """Another word is chosen, and the translation goes on from there."""
    before = settled(page)
    after = before
    for row in page.locator(".bars tbody tr").all()[1:]:
        word = row.locator("button").inner_text().strip("▁")
        row.click()
        after = settled(page)
        assert after.startswith(word), (word, after)
        if after != before:  # subwords may lead to the same text
            break
    assert after != before
    page.get_by_role("button", name="Let the model choose again").click()
    assert settled(page) == before


def steps(page: Any) -> None:
    """Forward and back through the loop; it also plays."""
    step = page.locator(".steps .at")
    page.get_by_role("button", name="first word").click()
    seen = [odds(page)]
    for _ in range(2):
        page.get_by_role("button", name="one word on").click()
        seen.append(odds(page))
    assert step.inner_text().startswith("word 3 of ")
    page.get_by_role("button", name="one word back").click()
    assert odds(page) == seen[1] and seen[0] != seen[1] != seen[2]
    held = page.locator(".viewer [aria-selected=true]").inner_text()
    assert held == page.locator(".words .now").inner_text(), held
    page.get_by_role("button", name="write it word by word").click()
    page.wait_for_function(f"""() => document.querySelector('.nmt-live').shadowRoot
        .querySelector('.steps .at').textContent > '{step.inner_text()}'""")
    page.get_by_role("button", name="last word").click()
    assert "<eos>" in odds(page)[0]
    page.get_by_role("button", name="first word").click()


def beam(page: Any) -> None:
    """The tree has the candidates of Python's search, and a table of them."""
    assert not page.locator(".tree svg").is_visible()
    page.get_by_role("radio", name="3", exact=True).click()
    assert settled(page) == expected("en-de", OWN, beam=3).text
    trace = live.answer(nmt.Translator.load("multi30k-en-de", device="cpu"), OWN, 3)
    shown = [c for c in trace["trace"] if c["step"] <= len(trace["ids"]) + 1]
    fates = Counter(one["fate"] for one in shown)
    # The tree ends one step after the translation.
    for fate, count in fates.items():
        for mark in ("g", "path"):  # a box, and a line to it
            found = page.locator(f".tree {mark}.{fate}").count()
            assert found == count, (mark, fate, found, count)
    page.get_by_text("The tree as a table").click()
    rows = page.get_by_role("region", name="the candidates").locator("tbody tr")
    assert rows.count() == sum(fates.values())
    page.screenshot(path=OUT / "beam.png", full_page=True)
    page.get_by_role("radio", name="1, greedy").click()
    settled(page)


def maps(page: Any) -> None:
    """The attention viewer shows the translation that is there, and a table of it."""
    translation = expected("en-de", OWN)
    rows = page.locator(".viewer .from bdi").all_inner_texts()
    assert rows == list(translation.tgt_labels), rows
    page.get_by_role("radio", name="layer 1, head 0").click()
    page.get_by_text("The chosen map as a table").click()
    numbers = page.get_by_role("region", name="the chosen map").locator("td")
    shown = [float(text or 0) for text in numbers.all_inner_texts()[1:]]
    weights = translation.attention.cross[1][0, 0].flatten().tolist()
    assert len(shown) == len(weights)
    assert max(abs(a - b) for a, b in zip(shown, weights, strict=True)) < 0.011


def limits(page: Any) -> None:
    """Unknown subwords are marked; a text that is too long, or none, is refused."""
    assert (
        write(page, "A man is riding a 🦄.")
        == expected("en-de", "A man is riding a 🦄.").text
    )
    assert page.locator(".chip.unknown").inner_text() == "🦄"
    note = page.locator(".note")
    assert "not in the vocabulary" in note.inner_text()
    before = settled(page)
    assert write(page, "dog " * 61) == before
    assert "61 subwords" in note.inner_text()
    write(page, " ")
    assert "Write a sentence" in note.inner_text()
    assert write(page, "dog " * 60).split(), "60 subwords are too many"
    write(page, OWN)


def links(page: Any) -> None:
    """The address holds the state, and a changed address changes the page."""
    page.get_by_role("switch", name="encoder, layer 0, head 3").click()
    page.get_by_role("radio", name="2", exact=True).click()
    page.get_by_role("radio", name="decoder").click()
    before, were = settled(page), odds(page)
    page.reload()
    page.locator(".offer").wait_for(state="hidden")  # the model is kept
    assert settled(page) == before and odds(page) == were
    assert page.locator("#text").input_value() == OWN
    assert page.get_by_role("radio", name="decoder").is_checked()
    assert page.get_by_role("radio", name="2", exact=True).is_checked()
    closed = page.get_by_role("switch", checked=False)
    assert closed.get_attribute("data-id") == "encoder-0-3"
    page.evaluate("location.hash = 'model=en-de&text=A+dog.&kind=cross&layer=2&head=1'")
    assert settled(page) == expected("en-de", "A dog.").text
    assert "layer 2, head 1" in page.locator(".viewer .caption").inner_text()
    page.evaluate(
        "location.hash = 'model=no&beam=99&layer=x&closed=y&prefix=z_1234567'"
    )
    assert settled(page), "an address that makes no sense"


def keyboard(page: Any) -> None:
    """Everything is reached and used by keys."""
    write(page, OWN)
    page.get_by_role("switch", name="encoder, layer 0, head 0").focus()
    for key in ("ArrowRight", "ArrowDown", " "):
        page.keyboard.press(key)
    settled(page)
    closed = page.get_by_role("switch", checked=False)
    assert closed.get_attribute("data-id") == "encoder-1-1"
    focused = "document.querySelector('.nmt-live').shadowRoot.activeElement.dataset.id"
    assert page.evaluate(focused) == "encoder-1-1", "the focus is lost"
    page.keyboard.press("Enter")
    settled(page)
    page.locator(".words .now").focus()
    page.keyboard.press("ArrowRight")
    assert page.locator(".steps .at").inner_text().startswith("word 2 of ")
    page.get_by_role("radio", name="1, greedy").focus()
    page.keyboard.press("ArrowRight")
    settled(page)
    assert page.get_by_role("radio", name="2", exact=True).is_checked()


def other_directions(page: Any) -> None:
    """Each direction begins with what is stored; its model gives the same as Python."""
    for name, title in (("de-en", "German → English"), ("en-fr", "English → French")):
        page.get_by_role("radio", name=title).click()
        text = live.EXAMPLES[name][0]
        stored, were = settled(page), odds(page)
        assert stored == expected(name, text).text
        get_model(page)
        wrong = live.EXAMPLES[name][-1]
        page.get_by_role("button", name=wrong).click()
        assert settled(page) == expected(name, wrong).text
        page.get_by_role("button", name=text).click()
        assert settled(page) == stored and odds(page) == were
        again = write(page, f"{text} {text}")
        assert again == expected(name, f"{text} {text}").text


def ideas(page: Any) -> None:
    """What the page invites to try does what it says."""
    for link, before, after in (
        ("feminine", "Une voiture rouge est garée", "Un voiture rouge est garé"),
        ("vegetables last", "Küche Gemüse.", "schneidet Gemüse"),
    ):
        page.get_by_role("link", name=link).click()
        assert after in settled(page)
        assert before in page.locator(".versus").inner_text()


def doors(page: Any, address: str) -> None:
    """The links of the chapters show what they speak of at once."""
    for number, (says, state) in live.DOORS.items():
        (chapter,) = SITE.glob(f"notebooks/{number}_*.html")
        page.goto(f"{address}/notebooks/{chapter.name}")
        page.get_by_role("link", name=says).click()
        beam = int(str(state.get("beam", 1)))
        page.locator(".words .now").wait_for()
        if "closed" not in state:
            wanted = expected(str(state["model"]), str(state["text"]), beam)
            assert settled(page) == wanted.text
        assert page.locator("#text").input_value() == state["text"]
        kind, layer = state.get("kind", "cross"), state.get("layer", 3)
        caption = page.locator(".viewer .caption").inner_text().lower()
        assert str(kind) in caption and f"layer {layer}, " in caption, caption
        assert page.locator(".tree svg").is_visible() == (beam > 1)
        closed = page.get_by_role("switch", checked=False)
        assert closed.count() == ("closed" in state)


def offline(page: Any, url: str) -> None:
    """Once a model is there, page and model come without a network."""
    page.wait_for_function(
        "navigator.serviceWorker.controller || "
        "navigator.serviceWorker.ready.then(() => true)"
    )
    page.wait_for_timeout(1000)
    page.context.set_offline(True)
    page.goto("about:blank")
    page.goto(url)
    page.locator(".offer").wait_for(state="hidden")
    assert write(page, OWN) == expected("en-de", OWN).text
    page.context.set_offline(False)


DAMAGE = """async () => {
    const store = await caches.open("nmt-live");
    for (const {url} of await store.keys()) if (url.includes("/models/")) {
        const bytes = new Uint8Array(await (await store.match(url)).arrayBuffer());
        bytes[bytes.length >> 1] ^= 1;
        await store.put(url, new Response(bytes));
    }
}"""


def damaged_cache(page: Any, url: str) -> None:
    """What this browser keeps is checked, too, and fetched again if it is damaged."""
    page.evaluate(DAMAGE)
    page.goto("about:blank")
    page.goto(url)
    page.get_by_text("its digest does not fit").wait_for()
    get_model(page)
    assert write(page, OWN) == expected("en-de", OWN).text


def from_a_folder(browser: Any) -> None:
    """Without a server: a model file is opened by hand, or inside the page."""
    page = browser.new_page()  # not watched: it may fail to fetch
    page.goto((SITE / "live.html").as_uri())
    stored, were = settled(page), odds(page)
    page.get_by_role("button", name="Get the model").click()
    page.get_by_text("open the model below").wait_for()
    page.get_by_text("A model of your own", exact=True).click()
    page.locator("#file").set_input_files(live.model_file("en-de"))
    page.locator(".offer").wait_for(state="hidden")
    assert settled(page) == stored and odds(page) == were
    assert write(page, OWN) == expected("en-de", OWN).text
    page.close()
    model = {"name": "inside", "title": "inside", "source": "en", "target": "de"}
    data = {"models": [model | {"examples": [OWN]}], "stored": [], "names": live.KINDS}
    html = live_page(data, model=live.model_file("en-de").read_bytes())
    file = OUT / "inside.html"
    file.write_text(f'<!doctype html><meta charset="utf-8">{html}', encoding="utf-8")
    with watched(browser) as page:
        page.goto(file.as_uri())
        page.locator(".words .now").wait_for()
        assert settled(page) == expected("en-de", OWN).text


def no_barriers(browser: Any, url: str, width: int, scheme: str) -> None:
    """On arrival, and with all open and something closed: no finding of axe-core."""
    with watched(browser, width, scheme) as page:
        page.goto(
            f"{url}#model=en-de&text=A+man+is+riding+a+🦄.&closed=cross-3-2&beam=3"
        )
        settled(page)
        check(page, f"{width}-{scheme}-arrival")
        get_model(page)
        settled(page)
        page.locator(".page summary").evaluate_all("all => all.map(one => one.click())")
        page.locator(".bars tbody tr").nth(1).click()
        settled(page)
        check(page, f"{width}-{scheme}")


def check(page: Any, name: str) -> None:
    page.wait_for_timeout(1000)  # colours that fade
    page.screenshot(path=OUT / f"{name}.png", full_page=True)
    found = barriers(page, ".nmt-live", ("minor", "moderate", "serious", "critical"))
    assert not found, (name, found)
    assert not page.evaluate(SIDEWAYS), f"{name} scrolls sideways"


if __name__ == "__main__":
    sys.exit(main())
