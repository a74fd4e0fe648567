"""Uses the live page of build/site as a reader would, and looks for barriers.

Part of ``make browser``. Screenshots go to build/screens. What needs no network and no
site is in test_browser.py.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

import nmt_lib as nmt
from tests.site.chromium import SITE, needs_chromium, watched
from tools import live

pytestmark = needs_chromium
GERMAN = "#model=en-de&text=Two+dogs+are+playing+in+the+snow."
TYPED = "A little boy in a blue jacket is playing with a red ball on the beach."
OWN = "A woman is reading a newspaper on a bench."
CHANGED = """old => [...document.querySelector('.nmt-live').shadowRoot
    .querySelectorAll('#numbers tbody')].map(one => one.innerText).join() !== `${old}`
"""
SLOW_MEMORY = """
    const open = caches.open.bind(caches)
    caches.open = name => new Promise(go => setTimeout(() => go(open(name)), 2000))
"""
PHONE = 500  # px: what is narrower
LONGEST = 50  # ms of processor time, for any task of the page while it arrives


def in_views(*widths: int, phone: Mapping[str, Any] = {}) -> pytest.MarkDecorator:
    """The page of a test in these widths, light and dark; more options on a phone."""
    pages = [
        {"width": width, "scheme": scheme, **(phone if width < PHONE else {})}
        for width in widths
        for scheme in ("light", "dark")
    ]
    names = ["{width}-{scheme}".format(**one) for one in pages]
    return pytest.mark.parametrize("page", pages, ids=names, indirect=True)


def arrive(page: Any, address: str) -> None:
    """To a model that is kept, or that a sentence is worth which is not stored."""
    page.goto("about:blank")
    page.goto(address)
    page.locator(".offer").wait_for(state="hidden")


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


def open_file(page: Any, file: Any) -> None:
    """Opens a model of one's own."""
    if not page.locator("#file").is_visible():
        page.get_by_text("A model of your own", exact=True).click()
    page.locator("#file").set_input_files(file)


def expected(name: str, text: str, beam: int = 1) -> str:
    """Python's translation."""
    translator = nmt.Translator.load(f"multi30k-{name}", device="cpu")
    return translator.translate(text, beam_size=beam).text


def odds(page: Any) -> list[str]:
    """The rows of the next words, with their probabilities."""
    return list(page.locator(".bars tbody tr").all_inner_texts())


@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_holds_the_thread_for_long_on_arrival(
    width: int, browser: Any, site: str
) -> None:
    """Measured without waiting times."""
    with watched(browser, width, reduced_motion=None) as page:
        traced = ["toplevel", "devtools.timeline"]
        browser.start_tracing(page=page, categories=traced)
        page.goto(f"{site}/live.html")
        settled(page)
        page.wait_for_timeout(1000)
        events = json.loads(browser.stop_tracing())["traceEvents"]
    threads = {
        (one["pid"], one["tid"])
        for one in events
        if one["name"] == "ParseHTML" and site in json.dumps(one["args"])
    }
    tasks = [
        one["tdur"] / 1000
        for one in events
        if one["name"].endswith("RunTask") and (one["pid"], one["tid"]) in threads
        if "tdur" in one
    ]
    assert len(tasks) > 20, "nothing was traced"
    assert max(tasks) <= LONGEST, f"a task of {max(tasks):.0f} ms at {width} px"


def test_a_model_is_fetched_before_the_browser_says_it_has_none(
    page: Any, site: str
) -> None:
    page.add_init_script(SLOW_MEMORY)
    page.goto(f"{site}/live.html")
    get_model(page)


def test_a_first_own_sentence_costs_one_model(page: Any, site: str) -> None:
    """A stored translation at once; with the first key, the model: an own sentence.

    Counted are the bytes that a server which compresses text sends until then.
    """
    answers: list[Any] = []
    page.on("response", lambda one: answers.append(one))
    page.goto(f"{site}/live.html{GERMAN}", wait_until="networkidle")
    first = live.EXAMPLES["en-de"][0]
    assert settled(page) == expected("en-de", first) and len(odds(page)) == 8
    assert not [one.url for one in answers if "/models/" in one.url]
    page.locator("#text").press("End")
    page.locator("#text").press("Space")
    page.locator(".offer").wait_for(state="hidden")
    assert write(page, OWN) == expected("en-de", OWN)
    models = {one.url for one in answers if "/models/" in one.url}
    assert len(models) == 1, "more than one model was fetched"
    texts = {one.url: one for one in reversed(answers) if one.url not in models}
    fetched = live.model_path("en-de").stat().st_size
    fetched += sum(len(gzip.compress(one.body())) for one in texts.values())
    assert fetched < 6.2e6


@pytest.mark.parametrize(
    ("name", "title"), [("de-en", "German → English"), ("en-fr", "English → French")]
)
def test_a_direction_begins_with_what_is_stored(
    name: str, title: str, page: Any, site: str
) -> None:
    """Its model gives the same, and what Python gives."""
    page.goto(f"{site}/live.html#model=en-de")
    page.get_by_role("radio", name=title).click()
    text = live.EXAMPLES[name][0]
    stored, were = settled(page), odds(page)
    get_model(page)
    assert write(page, f"{text} {text}") == expected(name, f"{text} {text}")
    assert write(page, text) == stored and odds(page) == were


@pytest.mark.parametrize(
    ("link", "before", "after"),
    [
        ("feminine", "Une voiture rouge est garée", "Un voiture rouge est garé"),
        ("vegetables last", "Küche Gemüse.", "schneidet Gemüse"),
    ],
)
def test_what_the_page_invites_to_try_does_what_it_says(
    link: str, before: str, after: str, page: Any, site: str
) -> None:
    page.goto(f"{site}/live.html")
    page.get_by_role("link", name=link).click()
    assert after in settled(page)
    assert before in page.locator(".versus").inner_text()


@pytest.mark.parametrize("slowed", [1, 4])
def test_every_letter_stays_at_any_speed(slowed: int, page: Any, site: str) -> None:
    """In the middle of a text as well."""
    page.goto(f"{site}/live.html{GERMAN}")
    get_model(page)
    session = page.context.new_cdp_session(page)
    session.send("Emulation.setCPUThrottlingRate", {"rate": slowed})
    field = page.locator("#text")
    for delay in (80, 230, 330):
        field.fill("")
        field.press_sequentially(TYPED, delay=delay)
        assert field.input_value() == TYPED, delay
    for _ in range(len(TYPED) - len("A ")):
        field.press("ArrowLeft")
    field.press_sequentially("very ", delay=330)
    assert field.input_value() == TYPED.replace("A ", "A very ", 1)
    assert settled(page) == expected("en-de", field.input_value())


DAMAGE = """async () => {
    const store = await caches.open("nmt-live");
    for (const {url} of await store.keys()) if (url.includes("/models/")) {
        const bytes = new Uint8Array(await (await store.match(url)).arrayBuffer());
        bytes[bytes.length >> 1] ^= 1;
        await store.put(url, new Response(bytes));
    }
}"""


def test_what_is_kept_works_offline_and_is_checked(page: Any, site: str) -> None:
    """Page and model come without a network; a damaged model is fetched again."""
    address = f"{site}/live.html{GERMAN}"
    page.goto(address)
    get_model(page)
    page.wait_for_function("navigator.serviceWorker.ready.then(() => true)")
    page.wait_for_timeout(1000)
    page.context.set_offline(True)
    arrive(page, address)
    assert write(page, OWN) == expected("en-de", OWN)
    page.context.set_offline(False)
    page.evaluate(DAMAGE)
    page.goto("about:blank")
    page.goto(address)
    page.get_by_text("its digest does not fit").wait_for()
    get_model(page)
    assert write(page, OWN) == expected("en-de", OWN)


@in_views(1280, 390)
def test_each_station_unfolds_into_numbers(
    page: Any, site: str, check: Callable[[], None]
) -> None:
    """The word that is chosen changes them."""
    page.goto(f"{site}/live.html{GERMAN}")
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
            check()
    rows = panel.locator("tbody tr").all_inner_texts()
    assert len(rows) == 8 and "Hunde" in rows[0]
    stations.nth(9).click()
    assert not panel.is_visible()


def test_without_a_server_a_model_is_opened_by_hand(browser: Any) -> None:
    page = browser.new_page()  # not watched: it may fail to fetch
    page.goto((SITE / "live.html").as_uri())
    page.get_by_role("button", name="Get the model").click()
    page.get_by_text("open the model below").wait_for()
    open_file(page, live.model_path("en-de"))
    page.locator(".offer").wait_for(state="hidden")
    assert write(page, OWN) == expected("en-de", OWN)
    page.close()


def test_a_shared_address_fetches_once_and_then_waits(browser: Any, site: str) -> None:
    page, tried = browser.new_page(), []  # not watched: it fails to fetch

    def refuse(route: Any) -> None:
        tried.append(route.request.url)
        route.abort()

    page.route("**/models/*", refuse)
    page.goto(f"{site}/live.html#model=en-de&text={OWN}")
    page.get_by_text("The model could not be fetched").wait_for()
    page.wait_for_timeout(2000)
    assert len(tried) == 1
    page.get_by_role("button", name="Get the model").click()
    page.wait_for_timeout(1000)
    assert len(tried) == 2
    page.close()


@in_views(360, 768, 1280, 1920)
def test_no_barriers(page: Any, site: str, check: Callable[[], None]) -> None:
    """On arrival, and with all open and something closed."""
    asked = "#model=en-de&text=A+man+is+riding+a+🦄.&closed=cross-3-2&beam=3"
    arrive(page, f"{site}/live.html{asked}")
    settled(page)
    check()
    page.locator(".page summary").evaluate_all("all => all.map(one => one.click())")
    page.locator(".bars tbody tr").nth(1).click()
    settled(page)
    check()
