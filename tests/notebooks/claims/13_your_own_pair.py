"""What chapter 13 says of its stand-in, and the tables that it quotes."""

import re
from pathlib import Path
from typing import Any

import nbformat
import pytest

ROOT = Path(__file__).resolve().parents[3]


def column(table: str, which: str, i: int) -> list[float]:
    """The numbers of a column, in the rows that begin with a word."""
    text = (ROOT / "benchmarks/results" / f"{table}.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1:-1] for line in text.splitlines() if line[:2] == "| "]
    fields = [row[i].strip(" %") for row in rows if row[0].strip() == which]
    return [float(field) for field in fields]


def test_each_seed_gains_from_the_bundled_model(chapter: Any) -> None:
    seeds = [run.config.train.seed for run in chapter.runs["from scratch"]]
    assert seeds == [chapter.config.train.seed + i for i in range(3)]
    scratch, moved = chapter.curves.values()
    assert (scratch[:, -1].min() - moved[:, -1].max()).item() > 0.3
    first, second = chapter.chrf.values()
    assert min(second) > max(first) + 20 and chapter.low > 20
    spread = max(max(some) - min(some) for some in (first, second))
    assert min(second) - max(first) > 3 * spread


def test_the_random_split_leaks(chapter: Any) -> None:
    nmt, pairs, n = chapter.nmt, chapter.pairs, chapter.n
    for seed in range(5):
        drawn = chapter.random.Random(seed).sample(pairs, len(pairs))
        assert nmt.seen_share(drawn[:n], drawn[n:]) > 0.45
        split = nmt.grouped_split(pairs, n, seed)
        assert nmt.seen_share(split.test, split.train) == 0


def test_the_shift_is_seen_and_mended(chapter: Any) -> None:
    lab, lines = chapter.lab, chapter.lines
    middle = len(lines) // 200  # the block in which the line was lost
    before, after = chapter.shifts["0"], chapter.shifts["-1"]
    assert min(before[:middle]) > 0.6 and max(before[middle + 1 :]) < 0.35
    assert min(after[middle + 1 :]) > 0.6 and max(after[:middle]) < 0.35
    moved = chapter.report.mended["shifted by a lost or an added line"]
    assert abs(moved - len(lines) / 2) < 5
    assert lab.is_stand_in(chapter.config)


def test_the_table_of_pairs_is_that_of_the_benchmark(chapter: Any) -> None:
    path = ROOT / "notebooks/13_your_own_pair.ipynb"
    text = "\n".join(cell.source for cell in nbformat.read(path, as_version=4).cells)
    table = (ROOT / "benchmarks/results/own_pair_worth.md").read_text("utf-8")
    rows = re.findall(r"(?m)^\| (en-de \|.*) \|$", table)
    assert len(rows) == 4
    for row in rows:
        direction, n, start, updates, epochs, minutes, *quality = row.split(" | ")
        said = [direction.replace("-", "–"), f"{int(n):,}", start]
        said += [f"{int(updates):,} ({epochs})", minutes, *quality]
        assert f"| {' | '.join(said)} |" in text, said


def test_what_is_said_of_damage_is_in_the_tables(chapter: Any) -> None:
    losses, chrf, bleu = (
        [
            column("own_pair_lost_line", title, i)[0]
            for title in ("as they are", "one line lost")
        ]
        for i in (1, 3, 4)
    )
    assert (losses, chrf, bleu) == ([4.35, 4.60], [34.4, 24.7], [10.9, 4.8])
    table = (ROOT / "benchmarks/results/own_pair_mended.md").read_text("utf-8")
    rows = [line.strip("| ").split(" | ") for line in table.splitlines()[4:15]]
    assert len(rows) == 11 and {row[2] for row in rows} == {"0"}
    repaired, before, after, lost = (
        [float(row[i].strip(" %")) for row in rows] for i in (5, 6, 7, 8)
    )
    assert min(repaired) == 99.8
    captions, europarl = 1, 3
    assert [round(before[i]) for i in (captions, europarl)] == [41, 33]
    assert [round(after[i]) for i in (captions, europarl)] == [95, 95]
    assert [lost[i] for i in (captions, europarl)] == [0.1, 0.3]
    assert (round(min(after[4:])), round(max(after[4:]))) == (88, 94)
    assert (round(min(lost[4:])), round(max(lost[4:]))) == (1, 6)


def test_what_is_no_file_of_pairs_is_no_stand_in(chapter: Any) -> None:
    own_pair, folder = chapter.lab.own_pair, chapter.data.corpus.rpartition("/")[0]
    for overrides in ("", f"data.corpus={folder}", "data.corpus=no.tsv"):
        with pytest.raises(chapter.nmt.CorpusError):
            own_pair("pair", overrides)
    own = own_pair("tiny", f"data.corpus={chapter.data.corpus}")
    assert own.data == chapter.data.model_copy(update={"vocab_size": 4000})
    assert own_pair("tiny", "train.max_steps=7").train.max_steps == 7


def test_settings_and_a_mended_file_have_runs_of_their_own(chapter: Any) -> None:
    file = Path(chapter.data.corpus).with_name("own.tsv")
    file.write_text("A cat.\tUn chat.\n", "utf-8")
    where = [
        chapter.lab.own_pair("pair", f"data.corpus={file} {more}").run_dir
        for more in ("", "", "train.max_steps=7")
    ]
    file.write_text("A cat.\tUne chatte.\n", "utf-8")
    where.append(chapter.lab.own_pair("pair", f"data.corpus={file}").run_dir)
    assert where[0] == where[1] and len({*where}) == 3


def test_a_sheet_that_somebody_filled_in_stays(chapter: Any) -> None:
    given = chapter.best.path, chapter.corpus.test, chapter.systems
    chapter.lab.write_sheet(*given)
    with pytest.raises(FileExistsError, match="somebody's choices"):
        chapter.lab.write_sheet(*given)


def test_the_right_draw_holds_and_the_wrong_one_does_not(chapter: Any) -> None:
    coverage = chapter.lab.coverage
    shares = coverage(False), coverage(True), coverage(True, n_groups=20)
    assert [round(100 * share) for share in shares] == [81, 93, 91]
    with pytest.warns(UserWarning, match="of 1 groups .* 20 are needed"):
        chapter.lab.groups_of(chapter.corpus.test[:1])
    assert 60 < chapter.lab.bleu_of_second(chapter.corpus.test) < 85


def test_the_tables_are_those_of_the_benchmark(chapter: Any) -> None:
    pages = sorted(ROOT.glob("notebooks/**/13_*.ipynb"))
    cells = [c for page in pages for c in nbformat.read(page, as_version=4).cells]
    text = "\n".join(cell.source for cell in cells)
    for first, table, name, columns in (
        ("random", "own_pair_leaks", "random", [3, 5, 6, 7]),
        ("by group", "own_pair_leaks", "grouped", [5, 6, 7]),
        ("from scratch", "own_pair_starts", "scratch", [2, 4, 5]),
        ("from multi30k-en-fr", "own_pair_starts", "multi30k-en-fr", [2, 4, 5]),
    ):
        row = re.search(rf"(?m)^\| {first} \|(.*)\|$", text)
        assert row, first
        said = [re.findall(r"[\d.]+", field) for field in row[1].split("|")]
        ranges = [list(map(float, some)) for some in said][-len(columns) :]
        for found, i in zip(ranges, columns, strict=True):
            numbers = column(table, name, i)
            assert found == [min(numbers), max(numbers)], (first, i)
    exact = column("own_pair_leaks", "random", 2)
    assert len(exact) == 3 and all(40 < share < 60 for share in exact)
    leaking, honest = (column("own_pair_leaks", k, 5) for k in ("random", "grouped"))
    assert max(leaking) < min(honest)
