"""The benchmarks run: each at tiny sizes, without data, writing nothing. And what their
figures rest on is right: the rules for contrasts, the scores, the goal of distillation."""

from __future__ import annotations

import importlib
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

import nmt_lib as nmt
from benchmarks import common, contrasts, multi30k

ROOT = Path(__file__).resolve().parents[2]
GPU = subprocess.run(
    ["bash", ROOT / "benchmarks/gpu.sh"],
    env={**os.environ, "DRY": "1", "PYTHON": "echo"},
    capture_output=True,
    text=True,
    check=True,
).stdout
COMMANDS = [
    *(line for line in GPU.splitlines() if line.startswith("-m benchmarks.")),
    *(
        f"-m benchmarks.{name} --dry"
        for name in ("contrasts", "decoding", "lean", "memory", "tiny", "training")
    ),
    "-m benchmarks.writeups --dry",
    *(f"-m benchmarks.recipes.{name} --dry" for name in ("de_en", "en_de", "en_fr")),
]


def files(folder: Path) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*.*")}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_dry_run_prints_a_table_and_writes_nothing(
    command: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    _, module, *options = shlex.split(command)
    before = files(common.RESULTS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NMT_DATA", raising=False)
    monkeypatch.setattr(sys, "argv", [module, *options])
    monkeypatch.setattr(common, "DRY", False)
    importlib.import_module(module).main()
    plt.close("all")
    out = capsys.readouterr().out
    assert "| --- |" in out and "Made by `" in out
    assert files(common.RESULTS) == before and not any(tmp_path.iterdir())
