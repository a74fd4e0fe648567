"""Fixtures that several files of tests share."""

import os
from pathlib import Path

import pytest

# The tests' tensors are small, and more threads slow them down. Torch reads this when
# it is loaded.
os.environ["OMP_NUM_THREADS"] = "1"


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder with the published corpora, or a skip where there is none."""
    folder = os.environ.get("NMT_DATA")
    if not folder:
        pytest.skip(
            "NMT_DATA is not set: it names the folder with the published corpora"
        )
    return Path(folder)
