"""Fixtures that several files of tests share."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# The tests' tensors are small, and more threads slow them down. Torch reads this when
# it is loaded.
os.environ["OMP_NUM_THREADS"] = "1"

# How long a draw or a test takes is the machine's affair, and others may use it, too.
settings.register_profile(
    "any-machine", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("any-machine")


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder with the published corpora, or a skip where there is none."""
    folder = os.environ.get("NMT_DATA")
    if not folder:
        pytest.skip(
            "NMT_DATA is not set: it names the folder with the published corpora"
        )
    return Path(folder)
