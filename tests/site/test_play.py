"""Things to touch, run in Node, compute what the library computes."""

from __future__ import annotations

import random
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import torch

import nmt_book as book
import nmt_lib as nmt
from nmt_book import web
from nmt_book.chapter01.check import my_cut
from nmt_book.web.play import FOLDER, Thing
from nmt_book.web.things import mask, merges
from nmt_book.web.things.beam import Beam
from tests.site.node import Case, agree, in_node, needs_node

NAMES = sorted(path.stem for path in FOLDER.glob("*.js"))
FILES = [*FOLDER.glob("*.js"), *web.FILES.glob("*.js")]
STATES = 20


@pytest.mark.parametrize("name", NAMES)
def test_an_output_is_small_and_the_same_each_time(name: str) -> None:
    """Without scripts, it has a table and what to do."""
    page = book.play(name)._repr_html_()
    assert page == book.play(name)._repr_html_()
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


# Each thing against the library, in twenty states.


@needs_node
def test_clock() -> None:
    draw = random.Random(1)
    cases = []
    for i in range(STATES):
        # A base of 10000^(1/n) has the rates of a clock n times as wide.
        base, wide = draw.choice([(10, 4), (100, 2), (10000, 1)])
        position, distance, d_model = (
            draw.randrange(301),
            draw.randrange(21),
            2 + i % 4 * 2,
        )
        state = {"position": position, "distance": distance}
        state |= {"base": base, "d_model": d_model}
        table = nmt.sinusoids(position + distance + 1, wide * d_model)[:, :d_model]
        first, second = table[position], table[position + distance]  # (D,), (D,)
        cases += [(["encoding", state], first), (["product", state], first @ second)]
    agree("things/clock", cases)


@needs_node
def test_mask() -> None:
    """Random masks; some sentences say a word twice, some queries see nothing."""
    draw = random.Random(2)
    cases: list[Case] = [(["causal", 5], nmt.causal_mask(5)[0, 0])]
    for i in range(STATES):
        words = ["<sos>", *draw.choices("abcde", k=1 + i % 9)]
        seen = [[draw.random() < 0.6 for _ in words] for _ in words]
        wanted = mask.attend(words, torch.tensor(seen))
        names = ("weights", "probabilities")
        cases.append((["attend", words, seen], dict(zip(names, wanted, strict=True))))
    agree("things/mask", cases)


def test_the_answer_is_a_guess_until_the_future_is_let_in() -> None:
    words = ["<sos>", *mask.Mask().words]
    causal = nmt.causal_mask(len(words))[0, 0]
    assert mask.attend(words, causal)[1].max() < 0.2
    assert mask.attend(words, causal | True)[1][:-1].min() > 0.9


@needs_node
def test_scores() -> None:
    generator = torch.Generator().manual_seed(3)
    cases = []
    for i in range(STATES):
        T, d_v, factor = 1 + i % 6, 1 + i % 3, (0.0, 0.5, 2**-0.5, 10.0)[i % 4]
        query, key = torch.randn(2, T, 2, generator=generator)  # (T, d_k) each
        value = torch.randn(T, d_v, generator=generator)  # (T, d_v)
        call = ["attend", query.tolist(), key.tolist(), value.tolist(), factor]
        q = factor * 2**0.5 * query  # the library divides by √d_k
        output, weights = nmt.scaled_dot_product_attention(q, key, value)
        cases.append((call, {"output": output, "weights": weights}))
    agree("things/scores", cases)


@needs_node
def test_merges() -> None:
    """Each number of merges cuts as SentencePiece does that has learnt so many."""
    corpus = nmt.load_corpus(nmt.load_config("tiny", **{"data.tgt_lang": "de"}).data)
    lines = [pair.tgt for pair in corpus.train]
    size = 4 + len({*"".join(lines)})
    all_merges = merges.pairs(merges.learnt())
    calls, expected = [], []
    for i in range(STATES):
        n = 16 * i if i < STATES - 1 else 300
        tokenizer = nmt.SentencePieceTokenizer.train("bpe", lines, size + n, 1.0, False)
        words = [*corpus.test[i].tgt.split(), "Kaffeetasse"]
        calls += [["cut", word, all_merges[:n]] for word in words]
        by_chapter = [list(my_cut.right(word, all_merges[:n])) for word in words]
        found = [subword for one in by_chapter for subword in one]
        assert found == tokenizer.tokenize(" ".join(words))
        expected += by_chapter
    assert in_node("things/merges", calls) == expected
