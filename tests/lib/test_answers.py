"""What chapters print about a reader's answer, and measure."""

from typing import Any

import pytest
import torch

import nmt_lib as nmt

TABLE = torch.tensor([[1.0, 2], [3, 4]])
LONG = torch.zeros(2, 40)


@pytest.mark.parametrize(
    ("given", "expected", "said"),
    [
        (None, 1, "not written yet"),
        ([], TABLE, "not yet: expected the shape (2, 2), got (0,)"),
        (("Ein", 2), TABLE, "not yet: expected [[1, 2], [3, 4]], got ('Ein', 2)"),
        (5.0, [0] * 300, "not yet: expected a list of 300, got a float"),
        (LONG.tolist(), LONG + 1, "not yet: expected 1 at [0, 0], got 0"),
        (TABLE.T, TABLE, "not yet: transposed"),
        (TABLE > 2, TABLE > 3, "not yet: expected [[False, False], [False, True]], "),
        (TABLE, TABLE > 2, "not yet: expected torch.bool, got torch.float32"),
        (True, 1, "not yet: expected 1, got True"),
        ((1, 1.364), (1, 30 / 22), "not yet: expected (1, 1.3636363636363635), got (1"),
        (TABLE.numpy(), [[1, 2], [3, 4]], "right: the library gives the same"),
        (TABLE[0].numpy(), "12", "not yet: expected 12, got array"),
        (LONG + 2.0761, LONG + 2.0764, "not yet: expected 2.07640"),
        ((LONG, [2] * 50), (LONG, [2] * 49 + [3]), "not yet: expected 3, got 2"),
    ],
)
def test_one_line(given: Any, expected: Any, said: str, capsys: Any) -> None:
    nmt.check_answer(lambda: given, expected, {"transposed": TABLE.T})
    assert capsys.readouterr().out.startswith(said)


def test_a_mistake_is_named_only_if_all_cases_fit(capsys: Any) -> None:
    mistakes = {"doubled": (2, 4)}
    nmt.check_answer(lambda: (2, 4), (1, 2), mistakes)
    nmt.check_answer(lambda: (2, 5), (1, 2), mistakes)
    nmt.check_answer(lambda: 1 / 0, (1, 2), mistakes)
    assert capsys.readouterr().out.splitlines() == [
        "not yet: doubled",
        "not yet: expected (1, 2), got (2, 5)",
        "not yet: it raises ZeroDivisionError: division by zero",
    ]


def test_guesses(capsys: Any) -> None:
    nmt.compare_guess(None, 99.6, " %")
    nmt.compare_guess(80, 99.6, " %")
    out = capsys.readouterr().out.splitlines()
    assert out == ["measured: 99.6 %", "measured: 99.6 %   your guess: 80 %"]


def test_what_differs_between_words_is_noted_at_each_pass() -> None:
    encoder = torch.nn.Identity()
    noted = nmt.note_differences(encoder)
    words = torch.tensor([[3.0, 4], [-3, -4]])
    for x in (torch.ones(2, 3, 4), words[None], words[:, None]):  # (B, S, D)
        encoder(x)
    assert noted == pytest.approx([0, 1, 1])
