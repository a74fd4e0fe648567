"""The viewer's page holds the weights of the tensors, and any word stays text."""

import json
import re
import subprocess
import sys
from base64 import b64decode
from html import unescape
from pathlib import Path
from typing import Any

import pytest
import torch

import nmt_lib as nmt
from nmt_lib.pictures import live
from tests.lib.small import made_translation, small_translator

HOSTILE = ('"', "'", "<b>x</b>", "</script>", "<!--", "@DATA@", "&lt;", "🙂", "שלום")
HOSTILE += ("`${1}`", "\\1", "\u2028", "<img/src=x>")


@pytest.fixture(scope="module")
def translation() -> nmt.Translation:
    return small_translator(2, n_layers=1, n_decoder_layers=3)("ich sehe qwertz")


def data_of(viewer: Any) -> dict[str, Any]:
    (found,) = re.findall(r"const data = (\{.*\});\n", viewer._repr_html_())
    return json.loads(found)


def cells_of(viewer: Any) -> list[str]:
    """The caption of the table, and the texts of its cells."""
    cells = re.findall(r"<(caption|th|td).*?>(.*?)</\1>", viewer._repr_html_())
    return [unescape(re.sub("<.*?>", "", text)) for _, text in cells]


def test_each_kind_has_its_words_and_every_weight(translation: nmt.Translation) -> None:
    kinds = data_of(nmt.view_attention(translation))["kinds"]
    source, written = list(translation.src_labels), list(translation.tgt_labels)
    words = {
        "encoder": (source, source),
        "decoder": (written, ["<sos>", *translation.tokens]),
        "cross": (written, source),
    }
    assert list(kinds) == list(words)
    for name, kind in kinds.items():
        assert (kind["rows"], kind["columns"]) == words[name]
        for layer, weights in enumerate(getattr(translation.attention, name)):
            found = torch.tensor(kind["weights"][layer]).view_as(weights[0]) / 1000
            torch.testing.assert_close(found, weights[0], atol=0.00051, rtol=0)


def test_the_mean_of_the_last_layer_is_shown_first(
    translation: nmt.Translation,
) -> None:
    first = data_of(nmt.view_attention(translation))["start"]
    assert first == {"kind": "cross", "layer": 2, "head": -1}


@pytest.mark.parametrize("specials", [True, False])
def test_gold_links_are_where_their_words_are(specials: bool) -> None:
    translation = small_translator(4, src_specials=specials)("ich sehe qwertz")
    gold = data_of(nmt.view_attention(translation, gold=((0, 1), (2, 0))))["gold"]
    assert gold == [[1, 0 + specials], [0, 2 + specials]]


def test_without_scripts_there_is_a_table(
    translation: nmt.Translation,
) -> None:
    caption, *cells = cells_of(nmt.view_attention(translation))
    assert caption.startswith("cross attention, layer 2, mean of all heads")
    weights = translation.attention.cross[2][0].mean(0).tolist()
    expected = ["", *translation.src_labels]
    for word, row in zip(translation.tgt_labels, weights, strict=True):
        expected += [word]
        expected += [f"{w:.2f}" if w >= 0.05 or w == max(row) else "" for w in row]
    assert cells == expected


def test_words_stay_text() -> None:
    viewer = nmt.view_attention(made_translation(HOSTILE, HOSTILE))
    assert data_of(viewer)["kinds"]["encoder"]["rows"] == ["<sos>", *HOSTILE, "<eos>"]
    assert cells_of(viewer)[3 : len(HOSTILE) + 3] == list(HOSTILE)
    table, *script = viewer._repr_html_().split("<script>")
    assert "<img" not in table and len(script) == 1
    assert script[0].count("</script>") == 1 and "<!--" not in script[0]


def test_it_is_small_repeatable_and_needs_nothing_from_elsewhere() -> None:
    translation = made_translation("abcdefghijkl", "abcdefghijkl")
    first, again = (nmt.view_attention(translation)._repr_html_() for _ in range(2))
    assert first == again and len(first.encode()) < 150_000
    assert not re.search(r"https?://(?!www\.w3\.org)", first)


def test_it_can_be_saved_as_a_page(
    translation: nmt.Translation, tmp_path: Path
) -> None:
    file = tmp_path / "a.html"
    shown = nmt.view_attention(translation, file=file)._repr_html_()
    saved = file.read_text(encoding="utf-8")
    assert saved.startswith("<!doctype html>") and saved.endswith(shown)


def model_in(page: str, file: Path) -> nmt.Translator:
    (packed,) = re.findall(r'base64">(.*?)</script>', page)
    file.write_bytes(b64decode(packed))
    return nmt.Translator.load(file, device="cpu")


@pytest.mark.parametrize("half", [False, True])
def test_the_live_page_holds_the_model_exactly(half: bool, tmp_path: Path) -> None:
    translator, file = small_translator(2), tmp_path / "model.safetensors"
    for weight in translator.model.parameters():
        weight.data = weight.half().float() if half else weight.data
    page = nmt.explore(translator, ["ich sehe", "<b>"])._repr_html_()
    again = model_in(page, file)
    for name, weight in translator.model.named_parameters():
        assert torch.equal(weight, again.model.get_parameter(name))
    translator.save(tmp_path / "saved.safetensors", half)
    assert file.stat().st_size == (tmp_path / "saved.safetensors").stat().st_size
    table, *scripts = page.split("<script")
    assert f"<td>ich sehe</td><td>{translator('ich sehe')}</td>" in table
    assert "<td>&lt;b&gt;</td>" in table and len(scripts) == 2
    assert '"examples":["ich sehe","\\u003cb>"]' in page
    assert not re.search(r"(?m)^(import|export) |^@\w+@$", page)


def test_a_model_too_large_for_a_cell_is_halved_or_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    translator, file = small_translator(2), tmp_path / "model.safetensors"
    translator.save(file)
    monkeypatch.setattr(live, "LARGEST", file.stat().st_size - 1)
    again = model_in(nmt.explore(translator)._repr_html_(), file)
    weight = translator.model.output.weight
    assert torch.equal(again.model.output.weight, weight.half().float())
    monkeypatch.setattr(live, "LARGEST", file.stat().st_size - 1)
    with pytest.raises(ValueError, match=r"MB in half precision, and a cell's output"):
        nmt.explore(translator)


def test_source_and_viewer_need_no_ipython() -> None:
    code = """
        import sys; sys.modules["IPython"] = None
        import nmt_lib as nmt
        from tests.lib.small import made_translation
        nmt.view_attention(made_translation("ab", "cd"))._repr_html_()
        print(nmt.show_source(nmt.Encoder)._repr_html_())"""
    command = [sys.executable, "-c", re.sub(r"\n\s+", "\n", code)]
    html = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    text = re.sub("<[^>]+>", "", html)
    assert "class Encoder(nn.Module)" in text and "def forward" in text
    assert nmt.Encoder.__doc__ not in text, "the chapter explains it"
