"""What chapters print about a reader's answer and guess, and what they measure."""

from typing import Any

import pytest
import torch

import nmt_book as book
from nmt_book.chapter07.lab import note_differences
from nmt_book.exercise.values import difference, same
from tests.book.conftest import Said

TABLE = torch.tensor([[1.0, 2], [3, 4]])
LONG = torch.zeros(2, 40)


@pytest.mark.parametrize(
    ("given", "expected", "said"),
    [
        ([], TABLE, "expected the shape (2, 2), got (0,)"),
        (("Ein", 2), TABLE, "expected [[1, 2], [3, 4]], got ('Ein', 2)"),
        (5.0, [0] * 300, "expected a list of 300, got a float"),
        (LONG.tolist(), LONG + 1, "expected 1 at [0, 0], got 0"),
        (TABLE > 2, TABLE > 3, "expected [[False, False], [False, True]], "),
        (TABLE, TABLE > 2, "expected torch.bool, got torch.float32"),
        (True, 1, "expected 1, got True"),
        (55_522_645, 55_522_638, "expected 55522638, got 55522645"),
        ((1, 1.364), (1, 30 / 22), "expected (1, 1.3636363636363635), got (1"),
        (TABLE[0].numpy(), "12", "expected 12, got array"),
        (LONG + 2.0761, LONG + 2.0764, "expected 2.07640"),
        ((LONG, [2] * 50), (LONG, [2] * 49 + [3]), "expected 3, got 2"),
    ],
)
def test_expected_and_got_in_one_line(given: Any, expected: Any, said: str) -> None:
    assert not same(given, expected)
    assert difference(given, expected).startswith(said)


def test_whole_numbers_of_any_size_are_exact() -> None:
    assert same(10.0, 10) and not same(10**400, 10) and not same(10**17 + 1, 10**17)
    ids = torch.tensor([1_000_000])
    assert same(ids.double(), ids) and not same(ids + 1, ids)


def test_numpy_and_lists_are_accepted() -> None:
    assert same(TABLE.numpy(), [[1, 2], [3, 4]]) and same(TABLE.tolist(), TABLE)


def test_the_guess_comes_before_what_was_measured(said: Said) -> None:
    book.compare_guess(None, 99.6, " %")
    assert "99.6" not in said()
    book.compare_guess(80, 99.6, " %")
    assert said() == "measured: 99.6 %   your guess: 80 %\n"


def test_what_differs_between_words_is_noted_at_each_pass() -> None:
    encoder = torch.nn.Identity()
    noted = note_differences(encoder)
    words = torch.tensor([[3.0, 4], [-3, -4]])
    for x in (torch.ones(2, 3, 4), words[None], words[:, None]):  # (B, S, D)
        encoder(x)
    assert noted == pytest.approx([0, 1, 1])
