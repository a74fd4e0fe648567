"""Chapter 02: a look one word back, and the models whose positions were moved."""

import re
from typing import Any

from nmt_book import benchmark


def test_each_word_looks_at_the_word_before(chapter: Any) -> None:
    assert chapter.scores.argmax(-1).tolist() == [0, 0, 1, 2, 3, 4]


def test_the_figures_are_those_of_the_table_of_moved_positions(chapter: Any) -> None:
    table, text = (
        (benchmark.RESULTS / path).read_text(encoding="utf-8")
        for path in ("positions.md", "../../notebooks/02_positional_encoding.ipynb")
    )
    sentences = {
        "none . 0": "{} to {}. We had not expected",
        "none . 1": "still translate {} to {} of 500",
        "none . 5": "translated {} to {} of 500",
        "upside down . 0": "models translate {} or {} of 500",
        "upside down . 1": "only {} to {} ([table]",
    }
    for start, sentence in sentences.items():
        (row,) = re.findall(rf"{start} \| .* \| (.*) \|", table)
        numbers = sorted(map(int, row.split(", ")))
        assert sentence.format(numbers[0], numbers[-1]) in text
