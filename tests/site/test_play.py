"""Things to touch: what a cell's output holds, and what ``book.play`` refuses."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import nmt_book as book
import nmt_lib as nmt
from nmt_book import web
from nmt_book.web.play import FOLDER, Thing
from nmt_book.web.things.beam import Beam

NAMES = sorted(path.stem for path in FOLDER.glob("*.js"))
FILES = [*FOLDER.glob("*.js"), *web.FILES.glob("*.js")]


@pytest.mark.parametrize("name", NAMES)
def test_an_output_is_small_and_the_same_each_time(name: str) -> None:
    """Without scripts, it has a table and what to do."""
    (page,) = {book.play(name).data for _ in range(2)}
    assert len(page.encode()) <= 60_000
    assert "import " not in re.sub("(?m)//.*", "", page), "a module that is not there"
    shown = re.sub(r"(?s)<(style|script)>.*?</\1>", "", page)
    assert "<td>" in shown and "run the cell" in shown


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_file_can_be_read_and_no_name_hides_one_that_it_imports(file: Path) -> None:
    """In a bundle, each file is a constant that the others import from."""
    names = r"(?m)^(?:export )?(?:async )?(?:function\*?|const|let|class) (\w+)"
    text = file.read_text(encoding="utf-8")
    imported = {module for _, module in web.IMPORT.findall(text)}
    assert not imported & {*re.findall(names, text)}
    assert len(text.splitlines()) <= (260 if file.stem == "train_ops" else 250)


@pytest.mark.parametrize("name", NAMES)
def test_a_state_that_is_not_known_is_named(name: str) -> None:
    thing: type[Thing] = import_module(f"nmt_book.web.things.{name}").THING
    first = next(iter(thing.model_fields))
    with pytest.raises(nmt.ConfigError, match=f"did you mean '{first}'"):
        book.play(name, **{f"{first}s": 1})


@pytest.mark.parametrize(
    ("name", "state", "message"),
    [
        ("beam", {"alpha": 0.5}, r"alpha: .* one of 0, 0\.2, .* 1\.4, got 0\.5$"),
        (
            "beam",
            {"temperature": 3},
            r"temperature: .* one of 0\.5, 1, 1\.5, 2, got 3$",
        ),
        ("mask", {"words": ["le", " "]}, r"words\.1: .* at least 1 character"),
        ("mask", {"words": ["\ud800"]}, r"words\.0: .* unicode"),
        ("scores", {"values": ["x" * 31, "a"]}, r"values\.0: .* at most 30 char"),
        ("prefix", {"text": "x" * 100}, "40 can be shown: give a shorter text$"),
        ("prefix", {"text": " "}, "the text is empty$"),
        ("clock", {"position": 301}, r"position: .* 300, got 301$"),
        ("scores", {"Q": [[1.0, 2.0]]}, r"Q must have the shape \(4, 2\)$"),
        ("scores", {"row": 4}, "row must be less than 4"),
        ("merges", {"subwords": ["abc"]}, "'abc' is not made of two of the"),
        ("merges", {"subwords": ["ab"], "n_merges": 2}, "n_merges must be at most 1"),
        ("train", {"warmups": 0}, "did you mean 'warmup'"),
        ("train", {"norm": "middle"}, "norm"),
        ("clok", {}, "did you mean 'clock'"),
    ],
)
def test_what_cannot_be_shown_is_named(
    name: str, state: dict[str, Any], message: str
) -> None:
    with pytest.raises(nmt.ConfigError, match=f"(play|no) '{name}'.*{message}"):
        book.play(name, **state)


def test_a_number_may_be_nearly_one_that_can_be_chosen() -> None:
    assert Beam(alpha=0.2 * 3) == Beam(alpha=0.6)
