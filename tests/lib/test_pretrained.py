"""The models that come with the library: small, whole, found by name, and able to translate."""

from pathlib import Path

import pytest
import torch
from safetensors import safe_open

import nmt_lib as nmt
from nmt_lib.translator import PRETRAINED

NAMES = nmt.Translator.pretrained()
CAPTIONS = {  # a caption, and what its translation must hold
    "multi30k-en-de": {
        "Two dogs are playing in the snow.": ["Hunde", "Schnee"],
        "A man is riding a bike.": ["Mann", "Fahrrad"],
    },
    "multi30k-de-en": {
        "Zwei Hunde spielen im Schnee.": ["dogs", "snow"],
        "Ein Mann fährt Fahrrad.": ["man", "bi"],
    },
    "multi30k-en-fr": {
        "Two dogs are playing in the snow.": ["chiens", "neige"],
        "A man is riding a bike.": ["homme", "vélo"],
    },
}


def test_there_is_one() -> None:
    assert "multi30k-en-de" in NAMES


@pytest.mark.parametrize("name", NAMES)
def test_it_is_small_and_has_a_card(name: str) -> None:
    files = {file.name: file for file in (PRETRAINED / name).iterdir()}
    assert set(files) == {
        "README.md",
        "config.yaml",
        "model.safetensors",
        "src_tokenizer.json",
        "tgt_tokenizer.json",
    }
    assert sum(file.stat().st_size for file in files.values()) <= 6_000_000
    card = files["README.md"].read_text(encoding="utf-8")
    for needed in (
        name,
        "BLEU",
        "chrF",
        "nrefs:1|",
        "Multi30k",
        "updates",
        "Limits",
        "terms",
        "torch",
    ):
        assert needed in card, needed
    assert "run_dir: ''\n" in files["config.yaml"].read_text(encoding="utf-8"), (
        "no folder of where it was made"
    )
    with safe_open(str(files["model.safetensors"]), framework="pt") as weights:
        assert {str(weights.get_tensor(key).dtype) for key in weights.keys()} == {
            "torch.float16"
        }  # noqa: SIM118


@pytest.mark.parametrize("name", NAMES)
def test_it_is_found_by_name_from_any_folder_and_translates(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("NMT_DATA", "NMT_RUNS"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.chdir(tmp_path)
    captions = CAPTIONS[name]
    for found, words in zip(
        nmt.Translator.load(name)(list(captions)), captions.values(), strict=True
    ):
        assert all(word in found.text for word in words), found
    assert not list(tmp_path.iterdir())


def test_a_folder_of_the_same_name_comes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / NAMES[0]).mkdir()
    with pytest.raises(nmt.CheckpointError, match="no trained model"):
        nmt.Translator.load(NAMES[0])


@pytest.mark.parametrize("name", NAMES)
def test_its_score_on_real_captions(name: str, real_data: Path) -> None:
    """Fifty validation sentences, greedy: far above what chance or a broken file gives."""
    translator = nmt.Translator.load(name, device="cpu")
    pairs = nmt.load_corpus(translator.config.data).valid[:50]
    assert nmt.evaluate(translator, pairs, beam_size=1).bleu > 25


@pytest.mark.parametrize("text", ["\ufffd", "\u2581"])
def test_what_the_pieces_do_not_hold_is_nothing_to_translate(text: str) -> None:
    translator = nmt.Translator.load("multi30k-en-fr")
    assert translator(text).text == ""
    assert (
        translator.tgt_tokenizer.decode(
            torch.tensor(translator.tgt_tokenizer.encode("Un chien."))
        )
        == "Un chien."
    )
