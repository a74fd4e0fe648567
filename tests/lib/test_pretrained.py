"""The bundled models: small, found by name, and able to translate."""

import re
from itertools import combinations
from pathlib import Path

import pytest

import nmt_lib as nmt
from nmt_lib.training import run_folder
from nmt_lib.training.run_folder import PRETRAINED

NAMES = nmt.Translator.pretrained()
CAPTIONS = {  # a caption, and what its translation must hold
    "multi30k-en-de": ("Two dogs are playing in the snow.", ["Hunde", "Schnee"]),
    "multi30k-de-en": ("Zwei Hunde spielen im Schnee.", ["dogs", "snow"]),
    "multi30k-en-fr": ("Two dogs are playing in the snow.", ["chiens", "neige"]),
}


@pytest.mark.parametrize("name", NAMES)
def test_it_is_small_has_a_card_and_translates_from_any_folder(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (PRETRAINED / name / "model.safetensors").stat().st_size <= 6_000_000
    card = (PRETRAINED / name / "README.md").read_text(encoding="utf-8")
    assert name in card and "nrefs:1|" in card, "its scores, with their signature"
    for script in re.findall(r"benchmarks/[\w/]+\.py", card):
        assert Path(script).exists(), script
    for variable in ("NMT_DATA", "NMT_RUNS"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.chdir(tmp_path)
    translator, (caption, words) = nmt.Translator.load(name), CAPTIONS[name]
    assert translator.config.run_dir == ""
    found = translator(caption).text
    assert all(word in found for word in words), found
    assert not list(tmp_path.iterdir())


PLACES = ("pretrained", "here", "runs")  # the first that has the name is taken


@pytest.mark.parametrize(
    "places", [places for n in range(4) for places in combinations(PLACES, n)], ids=str
)
def test_nothing_stands_in_for_a_model_of_the_same_name_in_silence(
    places: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [tmp_path / place / "name" / "model.safetensors" for place in places]
    for file in files:
        file.parent.mkdir(parents=True)
        file.touch()
    (tmp_path / "here").mkdir(exist_ok=True)
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("NMT_RUNS", str(tmp_path / "runs"))
    monkeypatch.setattr(run_folder, "PRETRAINED", tmp_path / "pretrained")
    if files[1:] and places[0] == "pretrained":
        other = files[1].parent
        with pytest.warns(UserWarning, match=f"is the bundled model, not {other}:"):
            assert run_folder.find_model("name") == files[0]
        assert run_folder.find_model(other) == files[1]
    elif files:
        assert run_folder.find_model("name").resolve() == files[0]
    for path, is_there in (("name", files), ("./name", "here" in places)):
        if not is_there:
            with pytest.raises(nmt.CheckpointError, match="no trained model in"):
                run_folder.find_model(path)


@pytest.mark.parametrize("name", NAMES)
def test_its_score_on_real_captions(name: str, real_data: Path) -> None:
    """Greedy: far above what chance or a broken file gives."""
    translator = nmt.Translator.load(name, device="cpu")
    pairs = nmt.load_corpus(translator.config.data).valid[:25]
    assert nmt.evaluate(translator, pairs, beam_size=1).bleu > 25
