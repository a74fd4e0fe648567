"""A reader's functions as a whole translator. Chapter 08's claims: 500 of 500."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest
import torch

import nmt_book as book
from nmt_book.chapter08 import lab
from nmt_book.exercise.exercise import Exercise
from nmt_book.exercise.saved import remember
from nmt_book.yours.translator import eleven
from nmt_book.yours.trials import captions
from nmt_book.yours.try_it import load_cached

ELEVEN = eleven()
ANSWERS = {one.name: one.right for one in ELEVEN}
MULTI_HEAD = next(one for one in ELEVEN if one.name == "MultiHead")


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is read or written beside the runs."""
    monkeypatch.setenv("NMT_RUNS", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))


def as_the_library(own: dict[str, Any], texts: list[str]) -> bool:
    translator = load_cached("multi30k-en-de")
    if own["MultiHead"] is ANSWERS["MultiHead"]:  # it calls these two
        names = {"torch": torch, **own}
        exec(MULTI_HEAD.source, names)
        own = {**own, "MultiHead": names["MultiHead"]}
    mine = book.MyTransformer(translator, own)
    return [mine(text) for text in texts] == [
        found.text for found in translator.translate(texts, beam_size=1)
    ]


def test_it_translates_as_the_library() -> None:
    assert as_the_library(ANSWERS, captions()[:8])


@pytest.mark.filterwarnings("ignore")  # of answers with NumPy
@pytest.mark.parametrize("one", ELEVEN, ids=lambda one: one.name)
def test_every_right_answer_translates(one: Exercise) -> None:
    """Lists, NumPy and float64, too."""
    table = importlib.import_module(f"tests.book.answers_to.{one.module}")
    for answer in table.RIGHT[one.name]:
        found = one.outcomes(answer)[0]
        plain = isinstance(found, torch.Tensor) and found.dtype == torch.float32
        if one.name in ("attention", "split_heads") and not plain:
            continue  # MultiHead, which calls it, cannot use it
        assert as_the_library({**ANSWERS, one.name: answer}, captions()[:1])


@pytest.mark.parametrize("one", ELEVEN, ids=lambda one: one.name)
def test_mistakes_are_felt(one: Exercise) -> None:
    """Each of her functions is used: not all of its mistakes translate as well."""

    def felt(mistake: object) -> bool:
        try:
            return not as_the_library({**ANSWERS, one.name: mistake}, captions()[:1])
        except Exception:  # it does not even run
            return True

    assert any(felt(mistake) for found in one.mistakes.values() for mistake in found)


def test_a_mistake_in_place_leaves_the_translator_as_it_was() -> None:
    weight = load_cached("multi30k-en-de").model.src_embedding.lookup.weight
    before = weight.clone()

    def embed(ids: Any, E: torch.Tensor, P: Any) -> Any:
        E.zero_()
        return ANSWERS["my_embed"](ids, E, P)

    assert not as_the_library({**ANSWERS, "my_embed": embed}, captions()[:1])
    assert torch.equal(weight, before)


def test_hers_are_taken_from_her_file(capsys: pytest.CaptureFixture[str]) -> None:
    source = next(one.source for one in ELEVEN if one.name == "my_greedy")
    wrong = source.replace("argmax", "argmin").replace("my_greedy", "my_embed")
    remember(written={"greedy": source + "# hers\n", "embed": wrong})
    own = book.your_functions()
    said, *unused = capsys.readouterr().out.splitlines()
    assert said == "yours: my_greedy; printed answers: 10"
    assert len(unused) == 1 and "my_embed: not yet: " in unused[0]
    assert own["my_greedy"](lambda ids: torch.eye(4)[3], 5) == []


def test_the_weights_are_those_of_chapter_07_if_it_has_kept_some(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    translator = load_cached("multi30k-en-de")
    assert lab.by_hand(translator) is translator
    translator.save(tmp_path / "by-hand")
    assert lab.by_hand(translator)("A dog.").text == translator("A dog.").text
    assert "the library" in capsys.readouterr().out.splitlines()[0]
