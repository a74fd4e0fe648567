"""A reader's functions as a whole translator. Chapter 08's claims: 500 of 500."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import Any

import pytest
import torch

import nmt_book as book
import nmt_lib as nmt
from nmt_book.chapter07 import check, lab
from nmt_book.chapter08.lab import by_hand
from nmt_book.exercise.exercise import Exercise
from nmt_book.exercise.saved import remember
from nmt_book.yours.translator import eleven
from nmt_book.yours.trials import captions
from nmt_book.yours.try_it import load_cached
from nmt_lib.errors import CheckpointError
from tests.book.answers_to import chapter07
from tests.book.conftest import Said
from tests.lib.small import small_translator

OTHER: dict[str, Any] = chapter07.RIGHT  # other right answers
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


def test_a_model_with_its_norms_before_is_refused() -> None:
    with pytest.raises(ValueError, match="pre-LN"):
        book.MyTransformer(load_cached("multi30k-en-fr"), ANSWERS)


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


def test_hers_are_taken_from_her_file(said: Said) -> None:
    source = next(one.source for one in ELEVEN if one.name == "my_greedy")
    wrong = source.replace("argmax", "argmin").replace("my_greedy", "my_embed")
    remember(written={"greedy": source + "# hers\n", "embed": wrong})
    own = book.your_functions()
    first, *unused = said().splitlines()
    assert first == "yours: my_greedy; printed answers: 10"
    assert len(unused) == 1 and "my_embed: not yet: " in unused[0]
    assert own["my_greedy"](lambda ids: torch.eye(4)[3], 5) == []


@pytest.mark.parametrize("answer", OTHER["my_loss"])
def test_a_loss_that_is_used_keeps_its_gradient(answer: Any) -> None:
    logits = torch.randn(2, 3, 5).requires_grad_()
    check.my_loss.use(answer)(logits, torch.tensor([[2, 3, 4], [1, 0, 0]])).backward()
    assert logits.grad is not None and logits.grad[0].abs().sum() > 0


@pytest.mark.parametrize("update", OTHER["my_adam"])
def test_an_update_by_hand_is_that_of_pytorch(update: Any) -> None:
    hers, theirs = (torch.ones(2, 3).requires_grad_() for _ in range(2))
    own = book.OwnUpdate([hers], check.my_adam.use(update), lr=0.1)
    for weight, optimizer in (
        (hers, own),
        (theirs, torch.optim.Adam([theirs], 0.1, (0.9, 0.98), 1e-9)),
    ):
        for k in range(3):
            optimizer.zero_grad()
            (weight * torch.arange(6).view(2, 3) * (k - 0.5)).sum().backward()
            optimizer.step()
    torch.testing.assert_close(hers, theirs, rtol=0, atol=1e-5)


def test_what_a_reader_trains_is_kept_for_chapter_08(
    said: Said,
) -> None:
    translator = load_cached("multi30k-en-de")
    stubs = (check.my_shift, check.my_shift.right), (check.my_loss, check.my_loss.right)
    lab.keep(translator, *stubs)
    assert "is not kept" in said()
    with pytest.raises(CheckpointError):
        nmt.Translator.load("by-hand")
    for other in (translator, small_translator()):
        lab.keep(other, (check.my_shift, lambda tgt: (tgt[:, :-1], tgt[:, 1:])))
    assert re.search("your my_shift\nnot kept, since .* move that away", said())
    assert nmt.Translator.load("by-hand")("A dog.").text == translator("A dog.").text


def test_the_weights_are_those_of_chapter_07_if_it_has_kept_some(
    tmp_path: Path, said: Said
) -> None:
    translator = load_cached("multi30k-en-de")
    assert by_hand(translator) is translator
    translator.save(tmp_path / "by-hand")
    assert by_hand(translator)("A dog.").text == translator("A dog.").text
    assert "the library" in said().splitlines()[0]
