"""What the proofs of the assignments share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from nmt_course.limits import Limits
from nmt_course.marking import Marker


@pytest.fixture(scope="session")
def marker() -> Iterator[Marker]:
    """One process that all students' processes are copies of: it takes seconds to start.

    Its limits leave room for a machine that is ten times slower; those that stop a submission have tests of their own.
    """
    marker = Marker(Limits(cell=100, part=100, all=600, processor=900))
    yield marker
    marker.close()
