"""Importing the library is cheap, and every public name is there and explained."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import nmt_lib as nmt

STUB = Path(nmt.__file__).with_suffix(".pyi").read_text(encoding="utf-8")

HEAVY = (
    "torch",
    "spacy",
    "datasets",
    "matplotlib",
    "accelerate",
    "transformers",
    "sentencepiece",
    "sacrebleu",
    "ctranslate2",
)


@pytest.mark.parametrize(
    "code",
    ["import nmt_lib", "import nmt_lib; nmt_lib.load_config('tiny')", "import nmt_lib; dir(nmt_lib); nmt_lib.Vocab"],
)
def test_nothing_heavy_is_imported_before_it_is_used(code: str) -> None:
    program = f"{code}\nimport sys\nprint([name for name in {HEAVY} if name in sys.modules])"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_the_whole_library_imports_only_torch_of_the_heavy_ones() -> None:
    homes = {f"nmt_lib.{file}" for file in re.findall(r"^from \.(\S+) import", STUB, re.MULTILINE)}
    files = sorted(homes - {"nmt_lib.plotting"})
    assert len(files) > 20
    program = f"import {', '.join(files)}\nimport sys\nprint([name for name in {HEAVY} if name in sys.modules])"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "['torch']"


@pytest.mark.parametrize("name", nmt.__all__)
def test_every_public_name_resolves_and_is_explained(name: str) -> None:
    value = getattr(nmt, name)
    if callable(value):
        doc = (value.__doc__ or "").strip()
        assert len(doc) > 15
        assert not doc.startswith(f"{name}("), "a dataclass without a docstring shows its signature"
        assert value.__name__ == name


def test_public_names_are_listed_once_and_shown_by_dir() -> None:
    listed = re.findall(r"(\w+) as (\w+)", STUB)
    assert sorted(name for name, _ in listed) == sorted(set(nmt.__all__) - {"__version__"})
    assert all(name == other for name, other in listed), 'without "as" a type checker takes it for a private one'
    assert len(set(nmt.__all__)) == len(nmt.__all__)
    assert set(nmt.__all__) <= set(dir(nmt))


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match=r"attribute '?load_corpora"):
        nmt.load_corpora  # noqa: B018
