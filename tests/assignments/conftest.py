"""The course's scripts are no package: their folder is where they are found."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "notebooks/assignments"))
from marking import Marker


@pytest.fixture(scope="session")
def marker() -> Iterator[Marker]:
    """One process that all students' processes are copies of: it takes seconds to start."""
    marker = Marker()
    yield marker
    marker.close()
