"""Tests that draw their own cases do not depend on how fast the machine is."""

import time

import pytest
from hypothesis import errors, given, settings
from hypothesis import strategies as st


@pytest.mark.parametrize("slow", ["draw", "test"])
def test_what_is_slow_passes(slow: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a clock of its own, a draw or a test takes a minute; with the settings that
    hypothesis has by itself, either one fails."""
    minutes = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: 60 * minutes[0])

    def takes_a_minute(what: str, number: int) -> int:
        minutes[0] += what == slow
        return number

    draws = st.integers().map(lambda number: takes_a_minute("draw", number))

    def case(number: int) -> None:
        takes_a_minute("test", number)

    settings(database=None)(given(draws)(case))()
    strict = settings(database=None, deadline=200, suppress_health_check=[])
    with pytest.raises((errors.FailedHealthCheck, errors.DeadlineExceeded)):
        strict(given(draws)(case))()
