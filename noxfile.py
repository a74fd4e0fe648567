"""The checks with other versions than ``constraints.txt`` has: ``nox -s lowest``.

Each session has an environment of its own under ``.nox`` and keeps it. ``nox -l`` lists
them, and ``make other`` runs them.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import nox

nox.options.default_venv_backend = "venv"
nox.options.reuse_venv = "yes"
nox.options.error_on_missing_interpreters = True

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("NMT_RUNS", str(Path("runs").resolve()))
os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"
if "NMT_DATA" in os.environ:
    os.environ["NMT_DATA"] = str(Path(os.environ["NMT_DATA"]).resolve())

# Old packages warn, and other processes would not find tests/ beside a wheel.
PYTEST = ["python", "-m", "pytest", "-q", "-W", "default", "-n", "0"]
NBVAL = ["-p", "tests.notebooks.chapters", "-p", "no:cacheprovider", "--nbval"]
NBVAL += ["--nbval-kernel-startup-timeout=300", "--nbval-cell-timeout=900"]


def install(session: nox.Session, versions: str, *packages: str) -> None:
    """torch by its exact version first, which is found where others are not."""
    torch = re.search(r"(?m)^torch==\S+", Path(versions).read_text(encoding="utf-8"))
    assert torch, f"{versions} has no version of torch"
    session.install(torch[0])
    session.install("-c", versions, "setuptools", "wheel")
    session.install("-c", versions, "--no-build-isolation", *packages)


@nox.session(python="3.10")
def lowest(session: nox.Session) -> None:
    """The tests of the library with the lowest versions that pyproject.toml allows."""
    file = f"{session.create_tmp()}/lowest.txt"
    session.install("uv")
    uv = f"uv pip compile -q --python {session.bin}/python --resolution lowest-direct"
    extras = "--extra", "notebooks", "--extra", "dev"
    session.run(*uv.split(), *extras, "pyproject.toml", "-o", file)
    install(session, file, "-e", ".[notebooks,dev]")
    session.run("python", "-m", "nmt_lib", "train", "tiny")
    session.run(*PYTEST, "tests/lib")


@nox.session(python="3.13")
def colab(session: nox.Session) -> None:
    """The chapters with Colab's versions, and the library as a wheel."""
    tools = "ipykernel", "ipython", "ipywidgets", "nbval", "pytest", "pytest-xdist"
    install(session, "constraints-colab.txt", ".", *tools)
    chapters = sorted(map(str, Path("notebooks").glob("[0-9]*.ipynb")))
    session.run(*PYTEST, *NBVAL, *chapters)


@nox.session
def lens(session: nox.Session) -> None:
    """Exported models in TransformerLens, and the page about it."""
    install(session, "constraints.txt", "-e", ".[notebooks,dev,lens]")
    session.run("python", "-m", "nmt_lib", "train", "tiny")
    session.run(*PYTEST, "tests/lib/test_lens.py")
    page = "notebooks/deeper/09_inside_with_transformer_lens.ipynb"
    session.run(*PYTEST, *NBVAL, page)


@nox.session(python="3.11")
def torchtext(session: nox.Session) -> None:
    """The real torchtext (with torch 2.3) gives the ids that unit tests compare."""
    session.install("-r", "requirements-torchtext.txt")
    session.run("python", "-m", "tests.lib.torchtext_ids")
