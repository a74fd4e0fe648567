"""The viewer's page holds the weights of the tensors, and any word stays text."""

import json
import re
import sys
from base64 import b64decode
from html import unescape
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
import torch

import nmt_book as book
import nmt_lib as nmt
from nmt_book import web
from nmt_book.pictures import explore
from nmt_lib.translate.search import Hypothesis
from tests.lib.small import made_translation, small_translator

HOSTILE = ['"', "'", "<b>x</b>", "</script>", "<!--", "@DATA@", "&lt;", "🙂", "שלום"]
HOSTILE += ["`${1}`", "\\1", "\u2028", "<img/src=x>"]


def data_of(viewer: web.Html) -> dict[str, Any]:
    (found,) = re.findall(r"const data = (\{.*\});\n", viewer.data)
    return json.loads(found)


def cells_of(viewer: web.Html) -> list[str]:
    """The caption of the table, and the texts of its cells."""
    cells = re.findall(r"<(caption|th|td).*?>(.*?)</\1>", viewer.data)
    return [unescape(re.sub("<.*?>", "", text)) for _, text in cells]


@pytest.mark.parametrize("specials", [True, False])
def test_each_kind_has_its_words_its_weights_and_gold_links(
    specials: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options: Any = {"n_layers": 1, "n_decoder_layers": 3, "src_specials": specials}
    translation = small_translator(4, **options)("ich sehe qwertz")
    file, links = tmp_path / "a.html", ((0, 1), (2, 0))
    viewer = book.view_attention(translation, links, file)
    source, written = list(translation.src_labels), list(translation.tgt_labels)
    words = {
        "encoder": (source, source),
        "decoder": (written, ["<sos>", *translation.tokens]),
        "cross": (written, source),
    }
    data = data_of(viewer)
    assert list(data["kinds"]) == list(words)
    for name, kind in data["kinds"].items():
        assert (kind["rows"], kind["columns"]) == words[name]
        for layer, weights in enumerate(getattr(translation.attention, name)):
            found = torch.tensor(kind["weights"][layer]).view_as(weights[0]) / 1000
            torch.testing.assert_close(found, weights[0], atol=0.00051, rtol=0)
    assert data["gold"] == [[1, 0 + specials], [0, 2 + specials]]
    monkeypatch.setattr("os.fsync", Mock(side_effect=OSError))  # the disk is full
    with pytest.raises(nmt.CheckpointError):
        book.view_attention(translation, (), file)
    assert file.read_text(encoding="utf-8").endswith(viewer.data)

    caption, *cells = cells_of(viewer)  # where no script runs
    assert caption.startswith("cross attention, layer 2, mean of all heads")
    expected = ["", *source]
    mean = translation.attention.cross[2][0].mean(0).tolist()
    for word, row in zip(written, mean, strict=True):
        expected += [word]
        expected += [f"{w:.2f}" if w >= 0.05 or w == max(row) else "" for w in row]
    assert cells == expected
    bold = re.findall("<b>(.*?)</b></td>", viewer.data)
    assert bold == [f"{max(row):.2f}" for row in mean]


def test_words_stay_text() -> None:
    viewer = book.view_attention(made_translation(HOSTILE, HOSTILE))
    assert data_of(viewer)["kinds"]["encoder"]["rows"] == ["<sos>", *HOSTILE, "<eos>"]
    assert cells_of(viewer)[3 : len(HOSTILE) + 3] == HOSTILE
    table, *script = viewer.data.split("<script>")
    assert "<img" not in table and len(script) == 1
    assert script[0].count("</script>") == 1 and "<!--" not in script[0]


def test_of_a_long_text_the_mean_of_the_heads_is_shown() -> None:
    translation = made_translation(149 * ["a"], ["b"])
    with pytest.warns(UserWarning, match="^151 tokens .* 150 tokens at most$"):
        viewer = book.view_attention(translation)
    (shown,) = data_of(viewer)["kinds"]["encoder"]["weights"][1]  # (S · S,)
    mean = translation.attention.encoder[1][0].mean(0).flatten()
    torch.testing.assert_close(torch.tensor(shown) / 1000, mean, atol=6e-4, rtol=0)


def test_half_a_character_is_a_question_mark_where_no_script_runs() -> None:
    page = book.view_attention(made_translation(["\ud800"], ["b"])).data
    assert "<th>?</th>" in page and r"\ud800" in page and page.encode()


def test_the_live_page_holds_the_model_exactly_or_halved_where_it_is_too_large(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    translator, file = small_translator(2), tmp_path / "model.safetensors"

    def model_in(page: str) -> nmt.Translator:
        file.write_bytes(b64decode(re.findall(r'base64">(.*?)</script>', page)[0]))
        return nmt.Translator.load(file, device="cpu")

    page = book.explore(translator, ["ich sehe", "<b>"]).data
    for half in (False, True):
        again = model_in(book.explore(translator).data if half else page)
        for name, weight in translator.model.named_parameters():
            wanted = weight.half().float() if half else weight
            assert torch.equal(wanted, again.model.get_parameter(name))
        monkeypatch.setattr(
            "nmt_book.pictures.explore.LARGEST", file.stat().st_size - 1
        )
    with pytest.raises(ValueError, match=r"MB in half precision, and a cell's output"):
        book.explore(translator)
    table, *scripts = page.split("<script")
    assert f"<td>ich sehe</td><td>{translator('ich sehe')}</td>" in table
    assert "<td>&lt;b&gt;</td>" in table and len(scripts) == 2
    assert '"examples":["ich sehe","\\u003cb>"]' in page
    assert not re.search(r"(?m)^(import|export) |^@\w+@$", page)


def test_in_a_notebook_the_model_is_a_file_beside_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    translator = small_translator(2)
    monkeypatch.setattr("nmt_book.pictures.explore.reads_files", lambda: True)
    monkeypatch.chdir(tmp_path)
    page = book.explore(translator).data
    assert len(page.encode()) <= 60_000 and 'class="model"' not in page
    (file,) = (tmp_path / "explore").iterdir()
    data = data_of(book.explore(translator))
    assert data["file"] == f"explore/{file.name}"
    assert data["bytes"] == file.stat().st_size
    again = nmt.Translator.load(file, device="cpu")
    for name, weight in translator.model.named_parameters():
        assert torch.equal(weight, again.model.get_parameter(name))
    file.unlink()
    file.parent.rmdir()
    file.parent.touch()  # a folder of this name cannot be made
    assert 'class="model"' in book.explore(translator).data


def test_where_a_page_cannot_read_files(monkeypatch: pytest.MonkeyPatch) -> None:
    class Shell:
        kernel, user_ns = None, dict[str, str]()

    class IPython:
        get_ipython = Shell

    assert not explore.reads_files()  # no notebook
    monkeypatch.setitem(sys.modules, "IPython", IPython)
    assert explore.reads_files()
    monkeypatch.setitem(sys.modules, "google.colab", IPython)
    assert not explore.reads_files()
    monkeypatch.delitem(sys.modules, "google.colab")
    monkeypatch.setattr(Shell, "user_ns", {"__vsc_ipynb_file__": "a.ipynb"})
    assert not explore.reads_files()


def test_a_model_that_writes_nothing_can_be_looked_at() -> None:
    """What it has produced is ``<eos>``: one row; of an empty text there is none."""
    translator, nothing = small_translator(), Hypothesis((), -1.0, -1.0)
    ids = translator.encode("ich sehe")
    found = translator._translation("ich sehe", ids, [nothing])
    assert found.text == "" and found.tgt_labels == ("<eos>",)
    assert data_of(book.view_attention(found))["kinds"]["cross"]["rows"] == ["<eos>"]
    with pytest.raises(ValueError, match="an empty text has no attention"):
        nmt.plot_attention(translator(""))
