"""Chapter 12 quotes tables of benchmarks/results, and counts what an update keeps."""

from pathlib import Path
from typing import Any

import nbformat
import pytest

from nmt_lib.costs import kept_mb

ROOT = Path(__file__).resolve().parents[3]


def rows(text: str) -> list[list[str]]:
    """The rows of the tables in a text of Markdown."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[field.strip() for field in line.split("|")[1:-1]] for line in lines]


def stored(table: str) -> list[list[str]]:
    path = ROOT / "benchmarks/results" / f"{table}.md"
    return rows(path.read_text(encoding="utf-8"))


def test_speed_is_that_of_the_table(chapter: Any) -> None:
    wanted = ["d512 × 6 layers", "2048"]
    table = {row[1]: row for row in stored("scaling") if row[:4:3] == wanted}
    speed = {precision: int(row[4]) for precision, row in table.items()}
    assert chapter.speed == speed
    assert round(speed["bf16"] / speed["fp32"], 2) == 2.08
    peaks = {precision: float(row[8]) for precision, row in table.items()}
    assert {name: peak / 1e12 for name, peak in chapter.peaks.items()} == peaks


def test_memory_is_that_of_the_table(chapter: Any) -> None:
    table = {row[0]: int(row[2]) for row in stored("memory")[2:]}
    sizes = [f"{thousands * 1000:,}" for thousands in chapter.pairs]
    (megabytes,) = chapter.megabytes.values()
    assert megabytes == [table[size] for size in sizes]
    per_pair = (megabytes[2] - megabytes[1]) / 0.8  # bytes
    assert 1000 < per_pair < 1200
    assert 4.7e9 < 4.5e6 * per_pair + 250e6 < 5.4e9


def test_decoding_is_that_of_the_table(chapter: Any) -> None:
    path = ROOT / "notebooks/12_scaling_up.ipynb"
    cells = nbformat.read(path, as_version=4).cells
    (text,) = [cell.source for cell in cells if "| CTranslate2, int8 |" in cell.source]
    table = {row[2]: row for row in stored("decoding") if row[:2] == ["greedy", "64"]}
    for name, per_second, same, bleu in rows(text)[2:]:
        row = table[name]
        assert [per_second, same, bleu] == [row[3], row[5], row[6]]


def test_what_is_kept(chapter: Any) -> None:
    def keep(*shape: int, **options: bool) -> float:
        return float(kept_mb(chapter.tiny.model, *shape, **options))

    one, two, four = (keep(n, 16) for n in (8, 16, 32))
    assert four - two == pytest.approx(2 * (two - one), rel=0.01)
    assert keep(8, 256) < 2.2 * keep(8, 128)
    assert keep(8, 256, written=True) > 2.9 * keep(8, 128, written=True)
    fp32, bf16, written = chapter.memory.values()
    assert 0.8 < bf16 / fp32 < 0.9 and 1.6 < written / fp32 < 1.7
    copies = 2 * 18 * 4 * 4 * 8 * 256**2 / 1e6  # two of each attention's weights
    assert written - fp32 == pytest.approx(copies, rel=0.02)
    assert 0.6 < keep(8, 64, bf16=True) / keep(8, 64) < 0.95
