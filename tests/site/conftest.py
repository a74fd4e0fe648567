"""Fixtures of the tests in a browser."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.site.chromium import ROOT, SITE, barriers, chromium, served, watched
from tests.site.jupyterlab import jupyterlab

SCREENS = ROOT / "build/screens"
SIDEWAYS = "document.documentElement.scrollWidth > innerWidth"
EVERY = "minor", "moderate", "serious", "critical"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as browser:
        yield browser


@pytest.fixture
def page(browser: Any, request: pytest.FixtureRequest) -> Iterator[Any]:
    """A new page, of which a test may say more, as ``in_views`` does: at its end, no
    error and no request to another host."""
    with watched(browser, **getattr(request, "param", {})) as page:
        yield page


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    """The address of build/site."""
    assert (SITE / "index.html").exists(), "there is no site in build/site: make site"
    with served(SITE) as address:
        yield address


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[str]:
    """A JupyterLab of ``tmp_path/notebooks``; named before the page, it ends later."""
    (tmp_path / "notebooks").mkdir()
    with jupyterlab(tmp_path, PYTHONPATH=str(ROOT)) as address:
        yield address


@pytest.fixture
def check(page: Any, request: pytest.FixtureRequest) -> Callable[[], None]:
    """Nothing that axe-core finds, and nothing sideways, in what is pictured."""
    pictures = iter(range(100))

    def look() -> None:
        page.wait_for_timeout(1000)  # colours that fade
        SCREENS.mkdir(parents=True, exist_ok=True)
        picture = SCREENS / f"{request.node.name}-{next(pictures)}.png"
        page.screenshot(path=picture, full_page=True)
        found = barriers(page, ".nmt-attention", EVERY)
        assert not found, picture
        assert not page.evaluate(SIDEWAYS), f"{picture} scrolls sideways"

    return look
