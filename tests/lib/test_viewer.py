import json
import re
from html.parser import HTMLParser
from typing import Any

import pytest
import torch
from tests.lib.small import made_translation, small_translator

import nmt_lib as nmt
from nmt_lib.pictures.viewer import TEMPLATE

HOSTILE = (
    '"',
    "'",
    "<b>x</b>",
    "</script>",
    "<!--",
    "@DATA@",
    "&lt;",
    "🙂",
    "שלום",
    "`${1}`",
    "\u2028",
    "<img/src=x>",
)


@pytest.fixture(scope="module")
def translation() -> nmt.Translation:
    return small_translator(2, n_layers=1, n_decoder_layers=3)("ich sehe qwertz")


def data_of(viewer: Any) -> dict[str, Any]:
    (found,) = re.findall(r"const data = (\{.*\});\n", viewer.data)
    return json.loads(found)


class Page(HTMLParser):
    """The tags of a page, and the text of its table's cells."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.cells: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)
        if tag in ("th", "td", "caption"):
            self.cells.append("")

    def handle_data(self, data: str) -> None:
        if self.cells and "script" not in self.tags:
            self.cells[-1] += data.strip("\n")


def test_it_holds_every_weight_as_whole_thousandths(
    translation: nmt.Translation,
) -> None:
    kinds = data_of(nmt.view_attention(translation))["kinds"]
    assert list(kinds) == ["encoder", "decoder", "cross"]
    for name, kind in kinds.items():
        layers = getattr(translation.attention, name)
        assert len(kind["weights"]) == len(layers) == (1 if name == "encoder" else 3)
        for shown, layer in zip(kind["weights"], layers, strict=True):
            assert all(isinstance(weight, int) for head in shown for weight in head)
            table = (
                torch.tensor(shown).view(
                    len(shown), len(kind["rows"]), len(kind["columns"])
                )
                / 1000
            )
            torch.testing.assert_close(table, layer[0], atol=0.0005001, rtol=0)


def test_each_kind_has_its_words(translation: nmt.Translation) -> None:
    kinds = data_of(nmt.view_attention(translation))["kinds"]
    source, written = (
        ["<sos>", "ich", "sehe", "qwertz", "<eos>"],
        [*translation.tokens, "<eos>"],
    )
    assert (kinds["encoder"]["rows"], kinds["encoder"]["columns"]) == (source, source)
    assert (kinds["decoder"]["rows"], kinds["decoder"]["columns"]) == (
        written,
        ["<sos>", *written[:-1]],
    )
    assert (kinds["cross"]["rows"], kinds["cross"]["columns"]) == (written, source)


def test_what_is_shown_first_can_be_chosen(translation: nmt.Translation) -> None:
    assert data_of(nmt.view_attention(translation))["start"] == {
        "kind": "cross",
        "layer": 2,
        "head": -1,
    }
    chosen = nmt.view_attention(translation, "decoder", 1, head=-2)
    assert data_of(chosen)["start"] == {"kind": "decoder", "layer": 1, "head": 2}


@pytest.mark.parametrize(("specials", "shift"), [(True, 1), (False, 0)])
def test_gold_links_stand_where_their_words_stand(specials: bool, shift: int) -> None:
    translation = small_translator(4, src_specials=specials)("ich sehe qwertz")
    gold = data_of(nmt.view_attention(translation, gold=((0, 1), (2, 0))))["gold"]
    assert gold == [[1, 0 + shift], [0, 2 + shift]]
    assert data_of(nmt.view_attention(translation))["gold"] == []


def test_without_scripts_a_table_of_the_chosen_head_stands(
    translation: nmt.Translation,
) -> None:
    caption, *cells = Page(nmt.view_attention(translation, layer=1, head=3).data).cells
    assert caption.startswith("cross attention, layer 1, head 3")
    source, width = list(translation.src_labels), len(translation.src_labels) + 1
    assert cells[:width] == ["", *source]
    for row, word in enumerate(translation.tgt_labels):
        shown = cells[width * (row + 1) : width * (row + 2)]
        weights = translation.attention.cross[1][0, 3, row].tolist()
        assert shown[0] == word
        assert shown[1:] == [
            f"{w:.2f}" if w >= 0.05 or w == max(weights) else "" for w in weights
        ]


def test_the_mean_over_heads_stands_in_the_table() -> None:
    translation = made_translation("abc", "xyz")
    caption, *cells = Page(nmt.view_attention(translation, "encoder", 0).data).cells
    assert caption.startswith("encoder attention, layer 0, mean of all heads")
    assert f"{translation.attention.encoder[0][0].mean(0).max():.2f}" in cells


def test_words_stay_text() -> None:
    viewer = nmt.view_attention(made_translation(HOSTILE, HOSTILE))
    page = Page(viewer.data)
    assert sorted(set(page.tags)) == [
        "b",
        "caption",
        "div",
        "script",
        "style",
        "table",
        "td",
        "th",
        "tr",
    ]
    assert (
        page.tags.count("script") == page.tags.count("div") == 1
        and page.tags.count("b") == len(HOSTILE) + 1
    )
    assert data_of(viewer)["kinds"]["encoder"]["rows"] == ["<sos>", *HOSTILE, "<eos>"]
    assert page.cells[3 : len(HOSTILE) + 3] == list(HOSTILE)
    script = viewer.data.split("<script>")[1]
    assert script.count("</script>") == 1 and "<!--" not in script


def test_it_is_small_and_needs_nothing_from_elsewhere() -> None:
    assert TEMPLATE.stat().st_size <= 40_000
    html = nmt.view_attention(made_translation("abcdefghijkl", "abcdefghijkl")).data
    assert len(html.encode()) < 150_000
    template = TEMPLATE.read_text(encoding="utf-8")
    assert set(re.findall(r"https?://[^\s\"'`]+", template)) == {
        "http://www.w3.org/1999/xhtml",
        "http://www.w3.org/2000/svg",
    }
    assert not re.search(
        r"\bimport\b|\bfetch\b|XMLHttp|url\(|innerHTML|window\.|Math\.random|Date",
        template,
    )


def test_the_same_translation_gives_the_same_page(translation: nmt.Translation) -> None:
    first, again, other = (
        nmt.view_attention(translation, head=head) for head in (1, 1, 2)
    )
    assert first.data == again.data != other.data
    keys = [
        re.findall('data-key="([0-9a-f]{12})"', viewer.data)[0]
        for viewer in (first, other)
    ]
    assert keys[0] != keys[1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "self"}, "kind 'self': choose one of encoder, decoder, cross"),
        ({"layer": 3}, "layer 3: the cross attention has layers 0 to 2"),
        ({"head": 4}, "head 4: this layer has heads 0 to 3"),
        ({"head": -5}, "head -5: this layer has heads 0 to 3"),
        (
            {"gold": [(3, 0)]},
            r"gold link \(3, 0\): there are 3 source words and \d+ target words, from 0",
        ),
        ({"gold": [(0, 99)]}, r"gold link \(0, 99\): there are 3 source words"),
        ({"gold": [(-1, 0)]}, r"gold link \(-1, 0\)"),
    ],
)
def test_a_bad_choice_is_one_sentence(
    translation: nmt.Translation, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=f"^{message}"):
        nmt.view_attention(translation, **options)


def test_an_empty_translation_is_one_sentence() -> None:
    with pytest.raises(
        ValueError, match="an empty translation has no attention to draw"
    ):
        nmt.view_attention(small_translator()(""))
