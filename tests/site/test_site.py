"""The site's pages before Sphinx renders them."""

import json
import math
import re
from html import unescape
from pathlib import Path
from urllib.parse import parse_qs

import nbformat
import pytest
import torch

import nmt_lib as nmt
from tests.lib.small import small_translator
from tests.site.node import needs_node
from tools import finish, live, names, pages, train


@pytest.mark.parametrize(
    ("link", "target"),
    [
        ("../README.md", "../site/index.md"),
        ("../nmt_lib/configs/tiny.yaml", "../nmt_lib/configs/tiny.yaml"),
        ("../benchmarks/results/tiny.md", "../benchmarks/results/tiny.md"),
        ("05_encoder.ipynb#1-·-A-Question", "05_encoder.ipynb#1--a-question"),
        ("#Summary", "#summary"),
        ("../Makefile#L9", f"{pages.REPOSITORY}/blob/main/Makefile#L9"),
        ("https://x.org/y#Z", "https://x.org/y#Z"),
        ("99_nowhere.ipynb", "99_nowhere.ipynb"),  # Sphinx complains
    ],
)
def test_links_lead_to_pages_or_to_the_repository(
    link: str, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "PUBLISHED", True)
    text = f'[a]({link}) <a href="{link}">'
    expected = f'[a]({target}) <a href="{target}">'
    assert pages.with_links(text, "notebooks/04_attention.ipynb") == expected


def test_relative_links_of_the_texts_lead_to_files() -> None:
    texts = pages.found("*.md", "site/*.md", "notebooks/**/*.md", "benchmarks/**/*.md")
    texts += pages.found("nmt_lib/**/*.md")
    dead = [
        (path, match[2])
        for path in texts
        for match in pages.LINK.finditer(pages.read(path))
        if match[2].endswith((".md", ".ipynb", ".py", ".yaml", ".png"))
        and not (pages.ROOT / path).parent.joinpath(match[2]).exists()
    ]
    assert len(texts) > 20 and not dead


def test_each_section_of_one_page_has_its_chapter() -> None:
    listing = pages.own("site/one_page.md")
    code = "\n".join(re.findall(r"```python\n(.*?)\n```", listing, re.S))
    source = re.sub(r"(?m)^# -+ .* -+\n", "", pages.read("nmt_lib/one_page.py"))
    assert code.split() == source.split()
    headings = re.findall(r"## \d+ · (\w+).*\n\n\[Chapter (\d+)\]", listing)
    assert ("Masks", "03") in headings and len(headings) == 11


def test_before_the_repository_has_an_address_no_link_leads_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pages, "PUBLISHED", False)
    text = "[the rules](../Makefile), [attention.py](../nmt_lib/model/attention.py)"
    said = pages.with_links(text, "notebooks/04_attention.ipynb")
    assert said == "the rules (`Makefile`), attention.py"
    start = pages.own("site/api.md")
    assert "attention.py" in start and pages.REPOSITORY not in start


def test_a_chapter_has_buttons_and_its_sources_as_code() -> None:
    for path in pages.found(pages.CHAPTERS):
        notebook = nbformat.reads(pages.chapter(path), as_version=4)
        first = notebook.cells[0].source
        assert "colab-badge.svg" not in first and 'class="doors"' in first
        assert ("Open in Colab" in first) == pages.PUBLISHED
        texts = {text for texts in live.EXAMPLES.values() for text in texts}
        door = re.search(r'href="\.\./live\.html#(.*?)"', first)
        assert bool(door) == (path[10:12] in live.DOORS)
        assert not door or {*parse_qs(unescape(door[1]))["text"]} <= texts
        code = "\n".join(c.source for c in notebook.cells if c.cell_type == "code")
        assert code.startswith("import nmt_lib as nmt\n")
        assert "(config, **nmt.parse_overrides" not in code
        assert (
            first.count('<aside class="machine">') == 1 and "book.machine" not in code
        )
        assert "**Time:**" not in first, "the time stands above"
        assert "not written yet" not in str([c.get("outputs") for c in notebook.cells])
        for cell in notebook.cells:
            if "show_source(" in cell.source:
                assert "text/html" not in str(cell.get("outputs"))


def test_the_code_of_a_chapter_runs_as_it_is_copied() -> None:
    """Its first lines, which load what the others use; nothing is left out."""
    path = pages.found(pages.CHAPTERS)[4]
    notebook = nbformat.reads(pages.chapter(path), as_version=4)
    code = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    names: dict[str, object] = {}
    with torch.enable_grad():  # a chapter may switch gradients off
        for source in code[:3]:
            exec(source, names)
    assert {"nmt", "check", "config"} <= {*names}


def test_the_text_of_a_chapter_has_outputs_and_no_answer() -> None:
    for path in pages.found(pages.CHAPTERS):
        notebook = nbformat.reads(pages.chapter(path), as_version=4)
        text = finish.notebook_text(notebook)
        assert text.startswith("# ") and 'class="doors"' not in text
        assert "<summary>Answer" not in text
        folded = sum(c.source.count("<summary>Answer") for c in notebook.cells)
        assert text.count("*The answer is folded on the page.*") == folded > 0
        assert "```text\n" in text and "base64" not in text


def test_what_belongs_together_stays_on_one_line() -> None:
    formula = '<span class="math">\\(x\\)</span>'
    code = '<code class="docutils literal">{}</code>'
    assert finish.typeset(f"{formula}, 34 %") == (
        f'<span class="kept">{formula},</span> 34\N{NO-BREAK SPACE}%'
    )
    assert finish.typeset("With α = 0 a row = query") == (
        "With α\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}0 a row = query"
    )
    short, long = (
        code.format("a = 1 &lt;pad&gt;"),
        code.format("a_long_name_of_a_thing"),
    )
    assert finish.typeset(short) == short.replace("literal", "literal kept")
    assert finish.typeset(long) == long


def test_symbols_are_set_in_headings_and_left_in_code() -> None:
    formula = '<span class="math">\\(d_k\\)</span>'
    assert finish.typeset(formula) == formula
    page = "<h2>by √d_k</h2><code>d_k</code><pre>a d_model</pre><a>√d_model</a>"
    assert finish.typeset(page) == (
        "<h2>by √<span><i>d</i><sub>k</sub></span></h2>"
        "<code>d_k</code><pre>a d_model</pre>"
        "<a>√<span><i>d</i><sub>model</sub></span></a>"
    )


def test_the_page_of_the_library_has_each_name_once_and_links_to_chapters() -> None:
    page = names.page("…")
    directive = r"(?m)^\.\. (?:auto\w+|py:data):: nmt_lib\.(\w+)$"
    assert sorted(re.findall(directive, page)) == sorted(nmt.__all__)
    headings = re.findall(r"(?m)^## (.*)$", page)
    assert len(headings) == len({*headings}) > 25
    attention = page.split("## model.attention\n")[1].split("\n## ")[0]
    assert (
        "taught in chapter [04 · Attention](/notebooks/04_attention.ipynb" in attention
    )


@needs_node
def test_the_start_page_has_a_sentence_two_ways_and_a_card_for_each_chapter() -> None:
    page, chapters = pages.own("site/index.md"), pages.found(pages.CHAPTERS)
    head, _, below = page.partition('slot="ways"')
    assert live.CAR["text"] in head and below.index("live.html") < below.index("train.")
    assert page.count(
        '<svg xmlns="http://www.w3.org/2000/svg" class="nmt-machine'
    ) == len(chapters)
    assert "\\sqrt" not in page.partition("## Chapters")[2], "a card shows LaTeX"
    assert "make links" not in page, "a visitor cannot run it"


@needs_node
def test_the_live_page_brings_all_that_it_shows_first() -> None:
    page = live.site_page()
    (line,) = re.findall(r"(?m)^const data = (.*);$", page)
    data = json.loads(line)
    kinds = live.EXAMPLES, live.FAILURES
    texts = [text for kind in kinds for texts in kind.values() for text in texts]
    answers = [json.loads(one["json"]) for one in data["stored"]]
    for one, found in zip(data["stored"], answers, strict=True):
        assert one == {name: found[name] for name in one if name != "json"} | {
            "json": one["json"]
        }
    plain = [one for one in answers if not (one["closed"] or one["prefix"])]
    stored = {(one["asked"], one["beam"]): one for one in plain}
    assert {*stored} == {(text, 1) for text in texts} | {(live.BEAM, 3)}
    for name in live.EXAMPLES:  # what JavaScript answers is what Python says
        translator = nmt.Translator.load(f"multi30k-{name}", device="cpu")
        for one in (one for one in plain if one["model"] == name):
            expected = translator(one["asked"], beam_size=one["beam"])
            assert one["text"] == expected.text
    off = [one for one in answers if one["closed"]]
    assert [one["text"].split()[0] for one in off] == ["Un", "Der"]
    for one in answers:
        for index, log_prob, choices in zip(
            one["ids"], one["logProbs"], one["steps"], strict=True
        ):
            found = [choice["p"] for choice in choices if choice["id"] == index]
            assert found in ([], [pytest.approx(math.exp(log_prob), abs=1e-5)])
    table, script = page.split("<script>")
    assert texts[0] in table and stored[texts[0], 1]["text"] in table
    assert script.count("</script>") == 1, "a word ends the script"


def test_models_of_explored_pages_are_on_the_site(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = Path("notebooks/explore")
    folder.mkdir(parents=True)
    (folder / "tiny-01234567.safetensors").write_bytes(b"x")
    bundled = "explore/multi30k-en-fr-01234567.safetensors"
    trained, other = (
        f"explore/{name}-76543210.safetensors" for name in ("tiny", "other")
    )
    left = "explore/tiny-01234567.safetensors"
    said = " ".join((left, bundled, trained, other))
    monkeypatch.setattr(nmt, "load_or_train", lambda name: small_translator())
    Path("notebooks/00.ipynb").write_text(said, encoding="utf-8")
    live.copy_explored(Path("notebooks"), Path("out"))
    found = {path.name for path in Path("out/notebooks/explore").iterdir()}
    assert found == {Path(one).name for one in (left, bundled, trained)}
    translator = nmt.Translator.load(Path("out/notebooks") / bundled, device="cpu")
    assert translator.config.data.tgt_lang == "fr"


def test_the_training_page_brings_all_that_it_shows_first() -> None:
    film, page = train.site_page().split("<script>")
    assert film.count("<svg") == film.count('<td lang="fr">') == len(train.FRAMES)
    assert "L&#x27;enfant lit la vieille lettre." in film
    (line,) = re.findall(r"(?m)^const data = (.*);$", page)
    for example in json.loads(line)["examples"]:
        assert example["reference"] and example["gold"]
    assert page.count("</script>") == 1, "a word ends the script"
    assert len(page) < 600_000
