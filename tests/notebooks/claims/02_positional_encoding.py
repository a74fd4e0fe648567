"""Chapter 02: a look one word back, and the models whose positions were moved."""

import re
from typing import Any

import torch

import nmt_lib as nmt
from nmt_book import benchmark
from nmt_book.deeper_04.positions import UPSIDE_DOWN
from nmt_book.deeper_04.tables import fault
from tools.pages import ROOT

TEXT = (ROOT / "notebooks/02_positional_encoding.ipynb").read_text(encoding="utf-8")


def test_each_word_looks_at_the_word_before(chapter: Any) -> None:
    assert chapter.scores.argmax(-1).tolist() == [0, 0, 1, 2, 3, 4]
    assert ((5 * chapter.scores).softmax(-1).amax(-1) > 0.9).all()


def test_the_figures_are_those_of_the_table_of_moved_positions(chapter: Any) -> None:
    table = (benchmark.RESULTS / "positions.md").read_text(encoding="utf-8")
    ranges = {}
    for name, start, counts in re.findall(r"\| (.+?) \| (\d) \| .+? \| (.+) \|", table):
        numbers = sorted(map(int, counts.split(", ")))
        assert len(numbers) == 5
        ranges[name, int(start)] = numbers[0], numbers[-1]
    for key, sentence in {
        ("none", 0): "{} to {}. We had not expected",
        ("none", 1): "still translate {} to {} of 500",
        ("none", 5): "translated {} to {} of 500",
        ("upside down", 0): "models translate {} or {} of 500",
        ("upside down", 1): "only {} to {} ([table]",
    }.items():
        assert sentence.format(*ranges[key]) in TEXT


def test_neighbouring_positions_are_alike_but_not_in_the_divided_table(
    chapter: Any,
) -> None:
    with fault(UPSIDE_DOWN):
        wrong = nmt.sinusoids(50, 64)
    torch.testing.assert_close(chapter.divided(50, 64), wrong, atol=0.05, rtol=0)
    for table, low, high in (
        (nmt.sinusoids(100, 128), 0.965, 0.975),
        (wrong, -0.2, 0.2),
    ):
        assert low < torch.cosine_similarity(table[1:], table[:-1]).mean() < high
