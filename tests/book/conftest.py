"""A fixture that several files of tests share."""

from collections.abc import Callable

import pytest

Said = Callable[[], str]


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Said:
    """What was printed since the last call."""
    return lambda: capsys.readouterr().out
