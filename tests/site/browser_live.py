"""Uses the live page of build/site as a reader would, and looks for barriers.

Part of ``make browser``. Screenshots go to build/live. Some of the walks are part of
``make test``, too: see test_browser.py.
"""

from __future__ import annotations

import gzip
import json
import shutil
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import nmt_lib as nmt
from tests.site.browser_site import SITE, listen, served
from tests.site.chromium import ROOT, barriers, chromium
from tools import live

OUT = ROOT / "build" / "live"
FIRST = live.GENDER["text"]
FIRST_OFF = "Un voiture rouge est garé devant une maison blanche."
GERMAN = "#model=en-de&text=Two+dogs+are+playing+in+the+snow."
TYPED = "A little boy in a blue jacket is playing with a red ball on the beach."
OWN = "A woman is reading a newspaper on a bench."
WIDTHS = (360, 768, 1280, 1920)
CHANGED = """old => [...document.querySelector('.nmt-live').shadowRoot
    .querySelectorAll('#numbers tbody')].map(one => one.innerText).join() !== `${old}`
"""
SLOW_MEMORY = """
    const open = caches.open.bind(caches)
    caches.open = name => new Promise(go => setTimeout(() => go(open(name)), 2000))
"""
LONGEST = 50  # ms of processor time, for any task of the page while it arrives
SIDEWAYS = "document.documentElement.scrollWidth > innerWidth"


def main() -> int:
    if not (SITE / "live.html").exists():
        print("error: there is no live page in build/site: run make site")
        return 2
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir(parents=True)
    with chromium() as browser, served(SITE) as address:
        url = f"{address}/live.html"
        for width in (1280, 390):
            quick_arrival(browser, url, width)
        with watched(browser) as page:
            page.add_init_script(SLOW_MEMORY)
            page.goto(url)
            get_model(page)  # before the browser has said that it has none
        with watched(browser) as page:
            fetched = first_own_sentence(page, url)
            page.goto(url)
            other_directions(page)
            ideas(page)
            for slowed in (1, 4):
                typing(page, url, slowed)
            offline(page, url)
            damaged_cache(page, url)
        for width, scheme in ((1280, "light"), (390, "dark")):
            machine(browser, url, width, scheme)
        with watched(browser, java_script_enabled=False) as page:
            page.goto(url)
            table = page.locator(".nmt-live > table")
            assert FIRST in table.first.inner_text(), "no table where no script runs"
            assert table.nth(1).is_visible()
        from_a_folder(browser)
        without_models(browser, url)
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
    listen(page, found)
    yield page
    context.close()
    assert not found, found


def quick_arrival(browser: Any, url: str, width: int) -> None:
    """Nothing holds the page's own thread for long, measured without waiting times."""
    with watched(browser, width) as page:
        traced = ["toplevel", "devtools.timeline"]
        browser.start_tracing(page=page, categories=traced)
        page.goto(url)
        settled(page)
        page.wait_for_timeout(1000)
        events = json.loads(browser.stop_tracing())["traceEvents"]
    threads = {
        (one["pid"], one["tid"])
        for one in events
        if one["name"] == "ParseHTML" and url in json.dumps(one["args"])
    }
    tasks = [
        one["tdur"] / 1000
        for one in events
        if one["name"].endswith("RunTask") and (one["pid"], one["tid"]) in threads
        if "tdur" in one
    ]
    assert len(tasks) > 20, "nothing was traced"
    assert max(tasks) <= LONGEST, f"a task of {max(tasks):.0f} ms at {width} px"


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


def first_state(page: Any, url: str) -> None:
    """The red car loses its gender before anything is fetched; Back undoes it."""
    asked: list[str] = []
    page.on("request", lambda one: asked.append(one.url))
    page.goto(url, wait_until="networkidle")
    assert settled(page) == expected("en-fr", FIRST).text
    page.get_by_role("button", name="Switch off the head that makes").click()
    assert settled(page) == FIRST_OFF
    assert page.locator(".result mark").all_inner_texts() == ["Un", "garé"]
    page.go_back()
    assert settled(page) == expected("en-fr", FIRST).text
    assert not [one for one in asked if "/models/" in one]


def shared_address(page: Any, url: str) -> None:
    """A stranger sees the sentence and the search of an address, not others."""
    text = live.BEAM  # two searches, two translations, and this one is not stored
    wide, greedy = expected("en-de", text, 2).text, expected("en-de", text).text
    page.goto(f"{url}#{urlencode({'model': 'en-de', 'text': text, 'beam': 2})}")
    page.locator(".offer").wait_for(state="hidden")
    assert settled(page) == wide != greedy


def typing(page: Any, url: str, slowed: int) -> None:
    """Every letter stays, at any speed, in the middle of a text as well."""
    page.goto("about:blank")
    page.goto(url + GERMAN)
    page.locator(".offer").wait_for(state="hidden")
    session = page.context.new_cdp_session(page)
    session.send("Emulation.setCPUThrottlingRate", {"rate": slowed})
    field = page.locator("#text")
    for delay in (80, 230, 330):
        field.fill("")
        field.press_sequentially(TYPED, delay=delay)
        assert field.input_value() == TYPED, (slowed, delay, field.input_value())
    for _ in range(len(TYPED) - len("A ")):
        field.press("ArrowLeft")
    field.press_sequentially("very ", delay=330)
    assert field.input_value() == TYPED.replace("A ", "A very ", 1)
    assert settled(page) == expected("en-de", field.input_value()).text
    session.send("Emulation.setCPUThrottlingRate", {"rate": 1})


def no_stale_answers(page: Any) -> None:
    """Of no text, or of too long a one, nothing is shown that belongs to another."""
    for text in ("", "  ", "the dog and " * 30):
        assert write(page, text) == "" and not page.locator(".two").is_visible()
    assert "90 tokens" in page.locator(".note").inner_text()
    assert write(page, OWN) == expected("en-de", OWN).text


def sampling_and_tree(page: Any) -> None:
    """A drawn translation can be drawn again; a box of the tree can be pressed."""
    page.get_by_role("radio", name="1.5", exact=True).first.click()
    drawn = {settled(page)}
    for _ in range(5):
        page.get_by_role("button", name="Draw again").click()
        drawn.add(settled(page))
    assert len(drawn) > 2, drawn
    page.get_by_role("radio", name="3", exact=True).click()
    assert settled(page) == expected("en-de", OWN, 3).text
    page.locator(".tree g.dropped").first.click()
    settled(page)
    assert page.locator(".chip.mine").count() >= 1
    page.get_by_role("button", name="Let the model choose again").click()
    page.get_by_role("radio", name="1, greedy search").click()
    assert settled(page) == expected("en-de", OWN).text


def first_own_sentence(page: Any, url: str) -> int:
    """A stored translation at once; with the first key, the model: an own sentence.

    Returns:
        The bytes that a server which compresses text sends until then.
    """
    sizes = []
    page.on("response", lambda answer: sizes.append(answer))
    page.goto(url + GERMAN, wait_until="networkidle")
    first = live.EXAMPLES["en-de"][0]
    assert settled(page) == expected("en-de", first).text and len(odds(page)) == 8
    assert not [one.url for one in sizes if "/models/" in one.url]
    page.locator("#text").press("End")
    page.locator("#text").press("Space")
    page.locator(".offer").wait_for(state="hidden")
    assert write(page, OWN) == expected("en-de", OWN).text
    models = {one.url for one in sizes if "/models/" in one.url}
    assert len(models) == 1, "more than one model was fetched"
    texts = {one.url: one for one in reversed(sizes) if one.url not in models}
    fetched = live.model_path("en-de").stat().st_size
    fetched += sum(len(gzip.compress(one.body())) for one in texts.values())
    assert fetched < 6.2e6, fetched
    return fetched


def heads(page: Any) -> None:
    """A head that is switched off changes probabilities, and the state comes back."""
    before, were = settled(page), odds(page)
    page.get_by_role("switch", name="cross, layer 3, head 2").click()
    settled(page)
    assert odds(page) != were
    page.reload()
    page.locator(".offer").wait_for(state="hidden")  # the model is kept
    settled(page)
    page.locator(".switch[aria-checked=false]").click()
    assert settled(page) == before and odds(page) == were


def other_directions(page: Any) -> None:
    """Each direction begins with what is stored; its model gives the same as Python."""
    for name, title in (("de-en", "German → English"), ("en-fr", "English → French")):
        page.get_by_role("radio", name=title).click()
        text = live.EXAMPLES[name][0]
        stored, were = settled(page), odds(page)
        assert stored == expected(name, text).text
        get_model(page)
        again = write(page, f"{text} {text}")
        assert again == expected(name, f"{text} {text}").text
        assert write(page, text) == stored and odds(page) == were


def machine(browser: Any, url: str, width: int, scheme: str) -> None:
    """Each station unfolds into numbers; the word that is chosen changes them."""
    with watched(browser, width, scheme) as page:
        page.goto(url + GERMAN)
        settled(page)
        stations, panel = page.locator(".station"), page.locator("#numbers")
        read, written = page.get_by_label("word to read"), page.get_by_label("to write")
        stations.nth(0).click()
        ids = nmt.Translator.load("multi30k-en-de").encode(live.EXAMPLES["en-de"][0])
        assert panel.locator("td").all_inner_texts() == [str(i) for i in ids]
        stations.nth(1).focus()
        page.keyboard.press("Enter")
        panel.get_by_role("button", name="Fetch it").click()
        panel.locator("table").wait_for()
        assert panel.locator("h3").inner_text() == "Embedding + position (encoder)"
        for i in range(1, stations.count()):
            one = stations.nth(i)
            if one.get_attribute("aria-expanded") == "false":
                one.click()
            title = panel.locator("h3").filter(has_text=one.inner_text())
            title.filter(has_text="encoder" if i < 5 else "decoder").wait_for()
            assert page.locator(".station[aria-expanded=true]").count() == 1
            link = panel.get_by_role("link").get_attribute("href")
            assert (SITE / link).exists(), link
            before = panel.locator("tbody").all_inner_texts()
            if i != 4:  # the memory is that of all words
                chosen = read if i < 4 else written
                chosen.select_option(index=3)
                page.wait_for_function(CHANGED, arg=before)
                chosen.select_option(index=1)
                page.wait_for_timeout(200)
            if i in (2, 7, 9):
                check(page, OUT / f"{width}-{scheme}-station-{i}.png")
        rows = panel.locator("tbody tr").all_inner_texts()
        assert len(rows) == 8 and "Hunde" in rows[0]
        stations.nth(9).click()
        assert not panel.is_visible()


def ideas(page: Any) -> None:
    """What the page invites to try does what it says."""
    for link, before, after in (
        ("feminine", "Une voiture rouge est garée", "Un voiture rouge est garé"),
        ("vegetables last", "Küche Gemüse.", "schneidet Gemüse"),
    ):
        page.get_by_role("link", name=link).click()
        assert after in settled(page)
        assert before in page.locator(".versus").inner_text()


def offline(page: Any, url: str) -> None:
    """Once a model is there, page and model come without a network."""
    page.wait_for_function(
        "navigator.serviceWorker.controller || "
        "navigator.serviceWorker.ready.then(() => true)"
    )
    page.wait_for_timeout(1000)
    page.context.set_offline(True)
    page.goto("about:blank")
    page.goto(url + GERMAN)
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
    page.goto(url + GERMAN)
    page.get_by_text("its digest does not fit").wait_for()
    get_model(page)
    assert write(page, OWN) == expected("en-de", OWN).text


def from_a_folder(browser: Any) -> None:
    """Without a server: a model file is opened by hand, or inside the page."""
    page = browser.new_page()  # not watched: it may fail to fetch
    page.goto((SITE / "live.html").as_uri())
    page.get_by_role("button", name="Get the model").click()
    page.get_by_text("open the model below").wait_for()
    page.get_by_text("A model of your own", exact=True).click()
    page.locator("#file").set_input_files(live.model_path("en-de"))
    page.locator(".offer").wait_for(state="hidden")
    assert write(page, OWN) == expected("en-de", OWN).text
    page.close()


def without_models(browser: Any, url: str) -> None:
    """A shared address fetches a model once; then the reader may try again."""
    page, tried = browser.new_page(), []  # not watched: it fails to fetch

    def refuse(route: Any) -> None:
        tried.append(route.request.url)
        route.abort()

    page.route("**/models/*", refuse)
    page.goto(f"{url}#model=en-de&text={OWN}")
    page.get_by_text("The model could not be fetched").wait_for()
    page.wait_for_timeout(2000)
    assert len(tried) == 1, tried
    page.get_by_role("button", name="Get the model").click()
    page.wait_for_timeout(1000)
    assert len(tried) == 2, tried
    page.close()


def no_barriers(browser: Any, url: str, width: int, scheme: str) -> None:
    """On arrival, and with all open and something closed: no finding of axe-core."""
    with watched(browser, width, scheme) as page:
        page.goto(
            f"{url}#model=en-de&text=A+man+is+riding+a+🦄.&closed=cross-3-2&beam=3"
        )
        page.locator(".offer").wait_for(state="hidden")  # an address is worth a model
        settled(page)
        check(page, OUT / f"{width}-{scheme}-arrival.png")
        page.locator(".page summary").evaluate_all("all => all.map(one => one.click())")
        page.locator(".bars tbody tr").nth(1).click()
        settled(page)
        check(page, OUT / f"{width}-{scheme}.png")


def check(page: Any, picture: Path) -> None:
    """Nothing that axe-core finds, and nothing sideways, in what is pictured."""
    page.wait_for_timeout(1000)  # colours that fade
    page.screenshot(path=picture, full_page=True)
    impacts = "minor", "moderate", "serious", "critical"
    found = barriers(page, ".nmt-attention", impacts)
    assert not found, (picture, found)
    assert not page.evaluate(SIDEWAYS), f"{picture} scrolls sideways"


if __name__ == "__main__":
    sys.exit(main())
