"""What the proofs of the assignments share."""

from __future__ import annotations

from tests.course import kit
import pytest


@pytest.fixture(scope="session")
def marker() -> kit.Marker:
    """Its limits leave room for a machine that is ten times slower; those that stop a submission have tests of their
    own."""
    return kit.Marker(seconds=100)
