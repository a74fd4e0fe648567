"""Chapter 12 quotes stored measurements, which must be those of the tables, and counts what an update keeps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest
import torch

import nmt_lib as nmt

ROOT = Path(__file__).resolve().parents[2]
CELLS = nbformat.read(ROOT / "notebooks" / "12_scaling_up.ipynb", as_version=4).cells


def cell(start: str) -> str:
    (source,) = [cell.source for cell in CELLS if cell.source.startswith(start)]
    return str(source)


def rows(table: str) -> list[list[str]]:
    lines = (
        (ROOT / "benchmarks" / "results" / f"{table}.md")
        .read_text(encoding="utf-8")
        .splitlines()
    )
    return [
        [field.strip() for field in line.split("|")[1:-1]]
        for line in lines
        if line.startswith("|")
    ]


def test_speed_and_peak_are_those_of_the_table() -> None:
    found = {
        row[1]: row
        for row in rows("scaling")
        if row[0] == "d512 × 6 layers" and row[3] == "2048"
    }
    speed: dict[str, Any] = {}
    exec(cell("speed = ").splitlines()[0], speed)
    assert speed["speed"] == {
        precision: int(row[4]) for precision, row in found.items()
    }
    peaks = " ".join(cell("parts = flops_by_part(").split())
    assert all(
        f'"{name}": {float(row[8]) * 1000:g}e9' in peaks for name, row in found.items()
    )
    assert round(speed["speed"]["bf16"] / speed["speed"]["fp32"], 2) == 1.75


def test_memory_is_that_of_the_table() -> None:
    names: dict[str, Any] = {}
    exec(cell("pairs = [").rpartition("nmt.plot_lines")[0], names)
    stored = {(row[0], row[3]): row for row in rows("memory")}
    sizes = [f"{thousands * 1000:,}" for thousands in names["pairs"]]
    text, private, seconds = 1, -1, slice(4, 7)  # columns
    for label, megabytes in names["megabytes"].items():
        run = "second" if "second" in label else "first"
        column = text if "text" in label else private
        assert megabytes == [int(stored[size, run][column]) for size in sizes]
    first, second = (
        sum(map(float, stored[sizes[-1], run][seconds])) for run in ("first", "second")
    )
    assert round(first / 60) == 3 and round(second) == 2, (
        "the minutes and seconds that the text names"
    )


def test_decoding_is_that_of_the_table() -> None:
    (text,) = [cell.source for cell in CELLS if "| CTranslate2, int8 |" in cell.source]
    stored = {row[2]: row for row in rows("decoding") if row[:2] == ["greedy", "64"]}
    quoted = [
        [field.strip() for field in line.split("|")[1:-1]]
        for line in text.splitlines()
        if line.startswith("|")
    ]
    for name, per_second, same, bleu in quoted[2:]:
        row = stored[name]
        assert [per_second, same, bleu] == [row[3], row[5], row[6]]


@pytest.mark.skipif(
    torch.__version__ < (2, 5), reason="no fused attention with a mask on a processor"
)
def test_what_is_kept() -> None:
    names: dict[str, Any] = {"nmt": nmt, "torch": torch}
    exec(cell("def kept_bytes("), names)
    keep, shape = names["kept_mb"], nmt.load_config("tiny").model
    by_batch = [keep(shape, n, 16) for n in (8, 16, 32)]
    assert by_batch[2] - by_batch[1] == pytest.approx(
        2 * (by_batch[1] - by_batch[0]), rel=0.01
    )
    fused, written = (
        [keep(shape, 8, n, written=w) for n in (128, 256)] for w in (False, True)
    )
    assert fused[1] < 2.2 * fused[0] and written[1] > 2.9 * written[0]
    assert 0.6 < keep(shape, 8, 64, bf16=True) / keep(shape, 8, 64) < 0.95
