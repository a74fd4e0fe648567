"""What the page on recurrent translators says of its models, its tables and a GRU."""

import re
from functools import partial
from pathlib import Path
from typing import Any

import nbformat
import torch
from torch import nn

import nmt_lib as nmt
from nmt_book import benchmark

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
    short, _, long = (sum(group) / len(group) for group in chapter.groups.values())
    assert short > 0.85 and long < short - 0.2


def test_attention_with_half_the_updates_is_far_better(chapter: Any) -> None:
    assert chapter.right > 490 and chapter.right > 500 - len(chapter.wrong) + 20


def test_in_our_run_a_third_of_the_wrong_sentences_differ_in_one_word(
    chapter: Any,
) -> None:
    pairs = [(one.text.split(), pair.tgt.split()) for one, pair in chapter.wrong]
    off = [sum(map(str.__ne__, a, b)) for a, b in pairs if len(a) == len(b)]
    assert len(pairs) / 3 < off.count(1) < len(pairs) / 2


def test_the_gradient_falls_before_training(chapter: Any) -> None:
    random = chapter.untrained
    falls = random["one vector"][1:] / random["one vector"][:-1]
    assert 1.5 < falls.mean() < 1.75 and random["one vector"][0] < 1e-10
    assert random["Transformer"].min() > 0.2


def test_after_training_the_gradient_is_largest_at_the_first_words(
    chapter: Any,
) -> None:
    """Ten models: within the first three words; in one, the seventh is level."""
    for curve in chapter.trained.values():
        assert curve[1:4].max() > 0.95 and curve[9:14].mean() < 0.8 * curve[1:4].mean()


def test_both_layers_do_as_many_operations_at_n_equal_to_d(chapter: Any) -> None:
    shown = {row[0]: row for row in page() if row[0] in ("GRU", "self-attention")}
    gru, attention = nn.GRU(512, 512, batch_first=True), nmt.MultiHeadAttention(512, 8)
    for name, layer in ("GRU", gru), ("self-attention", lambda x: attention(x, x)):
        xs = [torch.randn(1, n, 512) for n in (8, 128, 512)]
        counts = [benchmark.flops(partial(layer, x)) / 1e6 for x in xs]
        assert shown[name][3:6] == [f"{count:,.1f}" for count in counts]
        assert shown[name][5] == "1,610.6"


def test_the_table_of_the_page_is_that_of_the_benchmark(chapter: Any) -> None:
    measured = {row[0]: row for row in table("recurrent")[2:]}
    found = [row for row in page() if row[0] in measured and len(row) == 6]
    assert len(found) == len(measured)
    for name, parameters, right, long, updates, seconds in found:
        row = measured[name]
        assert [parameters, right, long, updates, seconds] == [
            row[1],
            row[3],
            row[6],
            row[8],
            row[9],
        ]


def test_the_writing_of_the_page_is_that_of_the_benchmark(chapter: Any) -> None:
    measured = table("recurrent_writing")[2:]
    assert len(measured) == 2
    assert all(row in page() for row in measured)
    kept = chapter.both["Transformer"].config.model
    assert kept.n_layers * 2 * kept.d_model * 4 == 1024  # keys and values, float32
    assert chapter.translator.model.encoder.hidden_size * 4 == 600


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
