"""Fixtures that several files of tests share."""

import os
from pathlib import Path

import pytest

# Tensors as small as those of the tests are slowed down by more threads. Torch reads this when it is loaded, and the
# process that only hands out the tests, or starts notebooks, never loads it.
os.environ["OMP_NUM_THREADS"] = "1"


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder with the published corpora; tests that need it are skipped where ``NMT_DATA`` is not set."""
    folder = os.environ.get("NMT_DATA")
    if not folder:
        pytest.skip(
            "NMT_DATA is not set: it names the folder with the published corpora"
        )
    return Path(folder)
