"""What the proofs of the assignments share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from nmt_course.marking import Marker


@pytest.fixture(scope="session")
def marker() -> Iterator[Marker]:
    """One process that all students' processes are copies of: it takes seconds to start."""
    marker = Marker()
    yield marker
    marker.close()
