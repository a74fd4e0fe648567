"""What chapters print about a reader's answer."""

from typing import Any

import pytest
import torch

import nmt_lib as nmt

TABLE = torch.tensor([[1.0, 2], [3, 4]])
LONG, LAST = torch.zeros(2, 40), torch.tensor([39])


@pytest.mark.parametrize(
    ("given", "expected", "said"),
    [
        (None, 1, "not written yet"),
        ((None, None), (1, 2), "not written yet"),
        (TABLE + 1e-6, TABLE, "right: the library gives the same"),
        (TABLE.tolist(), TABLE, "right: the library gives the same"),
        ([*TABLE], TABLE, "right: the library gives the same"),
        ([], TABLE, "not yet: expected the shape (2, 2), got (0,)"),
        (("Ein", 2), TABLE, "not yet: expected [[1, 2], [3, 4]], got ('Ein', 2)"),
        (("Ein", 2), torch.zeros(200), "not yet: expected a Tensor, got a tuple of 2"),
        (5.0, [0] * 300, "not yet: expected a list of 300, got a float"),
        (LONG.tolist(), LONG + 1, "not yet: expected 1 at [0, 0], got 0"),
        ([2, 3], (2, 3), "right: the library gives the same"),
        (torch.tensor(0.5), 0.5, "right: the library gives the same"),
        (TABLE.T, TABLE, "not yet: transposed"),
        (TABLE[:1], TABLE, "not yet: expected the shape (2, 2), got (1, 2)"),
        (TABLE > 2, TABLE > 3, "not yet: expected [[False, False], [False, True]], "),
        (TABLE, TABLE > 2, "not yet: expected torch.bool, got torch.float32"),
        (True, 1, "not yet: expected 1, got True"),
        ("1", 1, "not yet: expected 1, got '1'"),
        ((1, 1.364), (1, 30 / 22), "not yet: expected (1, 1.3636363636363635), got (1"),
        (TABLE.numpy(), [[1, 2], [3, 4]], "right: the library gives the same"),
        (TABLE[0].numpy(), "12", "not yet: expected 12, got array"),
        ("Ein", ["Ein"], "not yet: expected ['Ein'], got Ein"),
        ((1, 5.25), (1, 0.123456), "not yet: expected (1, 0.1235), got (1, 5.25)"),
        (LONG.index_fill(1, LAST, 5), LONG, "not yet: expected 0 at [0, 39], got 5"),
        (LONG + 2.0761, LONG + 2.0764, "not yet: expected 2.07640"),
        (TABLE[0] + 3e-4, TABLE[0], "not yet: expected tensor([1., 2.]), got tensor("),
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
