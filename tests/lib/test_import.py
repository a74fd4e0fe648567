"""Importing is cheap, and type checkers know every public name."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import nmt_lib as nmt

ROOT = Path(__file__).resolve().parents[2]
HEAVY = "torch spacy datasets matplotlib transformers sentencepiece sacrebleu"


def heavy_imports(code: str) -> list[str]:
    """Which heavy packages are loaded after some code."""
    code += f"\nimport sys\nprint(*set({HEAVY.split()}) & set(sys.modules))"
    command = [sys.executable, "-c", code]
    return subprocess.run(command, stdout=-1, text=True, check=True).stdout.split()


@pytest.mark.parametrize(
    "code",
    [
        "import nmt_lib",
        "import nmt_lib; nmt_lib.load_config('tiny')",
        "import nmt_lib; dir(nmt_lib); nmt_lib.Vocab",
    ],
)
def test_nothing_heavy_is_imported_before_it_is_used(code: str) -> None:
    assert heavy_imports(code) == []


def test_the_whole_library_imports_only_torch_of_the_heavy_ones() -> None:
    files = [file.relative_to(ROOT) for file in (ROOT / "nmt_lib").rglob("*.py")]
    modules = [
        ".".join(file.with_suffix("").parts)
        for file in files
        if file.stem != "__main__" and "pictures" not in file.parts
    ]
    assert heavy_imports(f"import {', '.join(modules)}") == ["torch"]


def test_progress_bars_without_ipywidgets_come_without_a_warning() -> None:
    code = "import sys, ipykernel.zmqshell; sys.modules['ipywidgets'] = None; "
    command = [sys.executable, "-c", code + "import nmt_lib, tqdm.auto"]
    assert subprocess.run(command, stderr=-1, check=True).stderr == b""


@pytest.mark.parametrize("name", nmt.__all__)
def test_every_public_name_resolves_and_is_explained(name: str) -> None:
    value = getattr(nmt, name)
    if not isinstance(value, (int, tuple)):
        doc = (value.__doc__ or "").strip()
        assert len(doc) > 15, f"nmt_lib.{name} has no docstring"
        # A dataclass without a docstring of its own has its signature as docstring.
        generated = doc.startswith(f"{name}(")
        assert not generated, f"the dataclass nmt_lib.{name} has no docstring"
        assert value.__name__ == name


def mypy(code: str, tmp_path: Path) -> list[str]:
    """What mypy says about a user's file, with the project's settings.

    So it uses the cache that ``make lint`` has filled, which saves half a minute.
    """
    (tmp_path / "user.py").write_text(f"import nmt_lib as nmt\n{code}")
    command = [sys.executable, "-m", "mypy", "--no-error-summary"]
    said = subprocess.run(
        [*command, tmp_path / "user.py"], cwd=ROOT, stdout=-1, text=True
    ).stdout
    return re.findall(r"(?m)^.*user\.py:(.*)$", said)


def test_mypy_knows_the_type_of_every_public_name_and_refuses_wrong_uses(
    tmp_path: Path,
) -> None:
    known = [f"reveal_type(nmt.{name})" for name in nmt.__all__]
    wrong = [
        'nmt.load_config("tiny").no_such_section',
        'nmt.load_config("tiny").train.no_such_key',
        "nmt.causal_mask([3])",
        "nmt.no_such_name",
        'nmt.Translator.load("tiny")("one text").no_such_field',
    ]
    said = mypy("\n".join([*known, *wrong]), tmp_path)
    revealed = [line for line in said if "Revealed type" in line]
    assert len(revealed) == len(known)
    unknown = re.compile(r'"Any"|overloaded function"?$')
    assert [line for line in revealed if unknown.search(line)] == []
    errors = [int(line.partition(":")[0]) for line in said if "error:" in line]
    assert errors == list(range(len(known) + 2, len(known) + len(wrong) + 2))
