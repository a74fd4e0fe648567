"""Importing is cheap, and every public name is explained."""

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


def test_nothing_heavy_is_imported_before_it_is_used() -> None:
    code = "import nmt_lib as nmt; nmt.load_config('tiny'); dir(nmt); nmt.Vocab"
    assert heavy_imports(code) == []


def test_the_whole_library_imports_only_torch_of_the_heavy_ones() -> None:
    files = [file.relative_to(ROOT) for file in (ROOT / "nmt_lib").rglob("*.py")]
    modules = [
        ".".join(file.with_suffix("").parts)
        for file in files
        if file.stem not in ("__main__", "heatmap", "fonts")
    ]
    assert heavy_imports(f"import {', '.join(modules)}") == ["torch"]


def test_progress_bars_without_ipywidgets_come_without_a_warning() -> None:
    code = "import sys, ipykernel.zmqshell; sys.modules['ipywidgets'] = None; "
    command = [sys.executable, "-c", code + "import nmt_lib, tqdm.auto"]
    assert subprocess.run(command, stderr=-1, check=True).stderr == b""


def test_a_run_shows_its_bar_while_it_prepares_and_hides_it_on_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("TQDM_DISABLE", raising=False)
    monkeypatch.setenv("NMT_RUNS", str(tmp_path))
    short = {"train.max_steps": 2, "train.validate_every": 1}
    nmt.train("toy", **short)
    shown = capsys.readouterr().err
    for name in ("toy: tokenizers:   0%", "toy: model:   0%", "toy: 100%"):
        assert name in shown
        shown = shown.partition(name)[2]
    with pytest.raises(nmt.ConfigError):
        nmt.train("toy", **short | {"train.init_from": "y", "train.seed": 1})
    shown = capsys.readouterr().err
    assert "tokenizers" in shown
    assert not shown.rpartition("\r")[0].rpartition("\r")[2].strip()


@pytest.mark.parametrize("name", nmt.__all__)
def test_every_public_name_resolves_and_is_explained(name: str) -> None:
    value = getattr(nmt, name)
    if not isinstance(value, (int, tuple)):
        doc = (value.__doc__ or "").strip()
        assert len(doc) > 15, f"nmt_lib.{name} has no docstring"
        # A dataclass without a docstring of its own has its signature as docstring.
        generated = doc.startswith(f"{name}(")
        assert not generated, f"the dataclass nmt_lib.{name} has no docstring"
        assert value.__name__ == name or name == "build_model"
