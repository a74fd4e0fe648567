"""Importing the library is cheap, and editors, type checkers and people find every public name."""

import re
import subprocess
import sys
from pathlib import Path

import jedi
import pytest

import nmt_lib as nmt

ROOT = Path(__file__).resolve().parents[2]
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
DRAWING = ("pictures",)


def run(code: str, **options: object) -> str:
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        **options,
    ).stdout  # type: ignore[call-overload]


@pytest.mark.parametrize(
    "code",
    [
        "import nmt_lib",
        "import nmt_lib; nmt_lib.load_config('tiny')",
        "import nmt_lib; dir(nmt_lib); nmt_lib.Vocab",
    ],
)
def test_nothing_heavy_is_imported_before_it_is_used(code: str) -> None:
    assert (
        run(
            f"{code}\nimport sys\nprint([name for name in {HEAVY} if name in sys.modules])"
        ).strip()
        == "[]"
    )


def test_the_whole_library_imports_only_torch_of_the_heavy_ones() -> None:
    modules = [
        ".".join(file.relative_to(ROOT).with_suffix("").parts)
        for file in (ROOT / "nmt_lib").rglob("*.py")
    ]
    files = [
        name
        for name in modules
        if not name.endswith("__main__") and not any(part in name for part in DRAWING)
    ]
    code = f"import {', '.join(files)}\nimport sys\nprint([name for name in {HEAVY} if name in sys.modules])"
    assert run(code).strip() == "['torch']"


@pytest.mark.parametrize("name", nmt.__all__)
def test_every_public_name_resolves_and_is_explained(name: str) -> None:
    value = getattr(nmt, name)
    if not isinstance(value, (int, tuple)):
        doc = (value.__doc__ or "").strip()
        assert len(doc) > 15
        assert not doc.startswith(f"{name}("), (
            "a dataclass without a docstring shows its signature"
        )
        assert value.__name__ == name


def test_public_names_are_listed_once_and_shown_by_dir() -> None:
    assert len(set(nmt.__all__)) == len(nmt.__all__) > 80
    assert set(nmt.__all__) <= set(dir(nmt))


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="attribute load_corpora"):
        nmt.load_corpora  # noqa: B018


# ------------------------------------------------------------------------------------------------ editors
def mypy(code: str, tmp_path: Path) -> list[str]:
    """What mypy says about a user's file, without the file's name. Its settings are the project's: with others, what
    ``make lint`` keeps in mypy's cache would be of no use, and half a minute of work done twice.
    """
    (tmp_path / "user.py").write_text(f"import nmt_lib as nmt\n{code}")
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--no-error-summary",
        str(tmp_path / "user.py"),
    ]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout
    return [
        line.partition("user.py:")[2]
        for line in said.splitlines()
        if "user.py:" in line
    ]


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
    assert [
        line for line in revealed if re.search(r'"Any"|overloaded function"?$', line)
    ] == []
    errors = [int(line.partition(":")[0]) for line in said if "error:" in line]
    assert errors == list(range(len(known) + 2, len(known) + len(wrong) + 2))


@pytest.mark.parametrize("name", nmt.__all__)
def test_go_to_definition_finds_the_file(name: str) -> None:
    code = f"import nmt_lib as nmt\nnmt.{name}"
    (found,) = jedi.Script(
        code, path=ROOT / "user.py", project=jedi.Project(ROOT)
    ).goto(2, 6, follow_imports=True)
    value = getattr(nmt, name)
    home = value.__module__ if hasattr(value, "__module__") else "nmt_lib.special"
    assert Path(found.module_path).relative_to(ROOT).with_suffix(
        ""
    ).as_posix() == home.replace(".", "/")
    assert re.search(
        rf"\b{name}\b", Path(found.module_path).read_text().splitlines()[found.line - 1]
    )
