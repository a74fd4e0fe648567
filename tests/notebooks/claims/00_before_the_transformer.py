"""What the page on recurrent translators says of its models, its tables and a GRU."""

import re
from pathlib import Path
from typing import Any

import nbformat
import torch
from torch import nn

import nmt_lib as nmt

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "notebooks/deeper/00_before_the_transformer.ipynb"
RESULTS = ROOT / "benchmarks/results"


def rows(text: str) -> list[list[str]]:
    """The cells of all tables in a text."""
    lines = re.findall(r"(?m)^\|(.*)\|$", text)
    return [[re.sub(r"\*\*", "", c).strip() for c in one.split("|")] for one in lines]


def page() -> list[list[str]]:
    cells = nbformat.read(PAGE, as_version=4).cells
    return rows("\n".join(c.source for c in cells if c.cell_type == "markdown"))


def table(name: str) -> list[list[str]]:
    return rows((RESULTS / f"{name}.md").read_text(encoding="utf-8"))


def test_in_our_run_long_sentences_suffer_most_with_one_vector(chapter: Any) -> None:
    share = chapter.lab.right_by_length(
        chapter.translator, chapter.said, chapter.corpus.test
    )
    short, _, long = share.values()
    assert short > 85 and long < short - 20


def test_attention_with_half_the_updates_is_far_better(chapter: Any) -> None:
    assert chapter.right > 490 and chapter.right > 500 - len(chapter.wrong) + 50


def test_in_our_run_most_wrong_sentences_have_the_right_number_of_words(
    chapter: Any,
) -> None:
    same = [
        len(one.text.split()) == len(pair.tgt.split()) for one, pair in chapter.wrong
    ]
    assert sum(same) > len(same) / 2


def test_the_gradient_falls_before_training(chapter: Any) -> None:
    random, _ = chapter.curves.values()
    falls = random["one vector"][1:] / random["one vector"][:-1]
    assert 1.5 < falls.mean() < 1.75 and random["one vector"][0] < 1e-10
    assert random["Transformer"].min() > 0.3


def test_in_our_run_the_gradient_does_not_fall_after_training(chapter: Any) -> None:
    _, trained = chapter.curves.values()
    assert trained["one vector"][1:].min() > 0.005


def test_both_layers_do_as_many_operations_at_n_equal_to_d(chapter: Any) -> None:
    cells = {row[0]: row for row in table("recurrent_layers") if "MFLOP" in row[1]}
    shown = {row[0]: row for row in page() if row[0] in ("GRU", "self-attention")}
    names = {"nn.GRU": "GRU", "nmt.MultiHeadAttention": "self-attention"}
    for theirs, ours in names.items():
        measured = [f"{float(cells[theirs][i]):,.1f}" for i in (2, 6, 8)]
        assert shown[ours][3:6] == measured and measured[-1] == "1,610.6"


def test_the_table_of_the_page_is_that_of_the_benchmark(chapter: Any) -> None:
    measured = {row[0]: row for row in table("recurrent")[2:]}
    found = [row for row in page() if row[0] in measured]
    assert len(found) == len(measured)
    for name, parameters, right, long, updates, seconds in found:
        row = measured[name]
        assert [parameters, right, long, updates, seconds] == [
            row[1],
            row[3],
            row[6],
            row[9],
            row[10],
        ]


def test_the_writing_of_the_page_is_that_of_the_benchmark(chapter: Any) -> None:
    measured = {tuple(row[:2]): row for row in table("recurrent_writing")[2:]}
    found = [row for row in page() if row[0] == "1"]
    assert len(found) == 3
    for row in found:
        theirs = measured[row[0], row[1]]
        assert row[2:] == [*theirs[2:5], theirs[5]]


def test_without_tanh_the_answer_is_always_the_same(chapter: Any) -> None:
    exercise = chapter.check.additive
    (without,) = (
        found[0] for why, found in exercise.mistakes.items() if "drops out" in why
    )
    arguments = next(iter(exercise.cases.values()))
    other = [torch.randn_like(arguments[0]), *arguments[1:]]
    torch.testing.assert_close(without(*arguments), without(*other))


def test_a_gru_keeps_what_its_gate_says(chapter: Any) -> None:
    cell = nn.GRUCell(3, 4)
    with torch.no_grad():
        cell.bias_ih[4:8] = 100.0  # z = 1
    state = torch.randn(2, 4)
    torch.testing.assert_close(cell(torch.randn(2, 3), state), state)
    assert nmt.PAD == 0
