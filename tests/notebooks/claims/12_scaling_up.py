"""Chapter 12 quotes tables of benchmarks/results, and counts what an update keeps."""

from pathlib import Path
from typing import Any

import nbformat
import pytest
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

import nmt_lib as nmt
from nmt_book.chapter12 import costs
from nmt_book.chapter12.costs import kept_mb
from nmt_book.chapter12.lab import caption_lengths, padding_share

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
    assert 1.9 < speed["bf16"] / speed["fp32"] < 2.2, "twice as fast on one core"
    peaks = {precision: float(row[8]) for precision, row in table.items()}
    assert peaks["fp32"] == 0.165, "the peak of one core"
    model = nmt.Transformer(chapter.base, 10_000, 10_000)
    per_token = sum(costs.flops_by_part(model, 1, 32, 32, 32).values()) / 32
    mfu = {name: speed[name] * per_token / peaks[name] / 1e12 for name in speed}
    assert [round(100 * mfu[name]) for name in ("fp32", "bf16")] == [73, 19]
    narrow = [r[6] for r in stored("scaling") if r[:4:3] == ["d128 × 4 layers", "2048"]]
    assert narrow == ["44 %", "5 %"]
    assert max(row[6] for row in stored("gpu/scaling")[2:]) == "2 %"


def test_memory_of_a_corpus_is_that_of_the_table(chapter: Any) -> None:
    table = {row[0]: int(row[2]) for row in stored("memory")[2:]}
    per_pair = (table["1,000,000"] - table["200,000"]) / 0.8  # bytes
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
    (one, four, twelve), halves = chapter.kept["fp32"], chapter.kept["bf16"]
    assert halves[0] > 1.2 * one, "with one sentence, bf16 keeps more"
    fixed = [kept[0] - (kept[2] - kept[0]) / 11 for kept in chapter.kept.values()]
    assert round(fixed[1] - fixed[0], -1) == 90, "copies in bf16"
    assert 0.8 < halves[1] / four < 0.9 and 0.68 < halves[2] / twelve < 0.78
    slopes = [(kept[2] - kept[1]) / (kept[1] - kept[0]) for kept in (halves,)]
    assert slopes[0] == pytest.approx(8 / 3, rel=0.02), "a straight line"
    assert 0.62 < (halves[2] - halves[1]) / (twelve - four) < 0.7, "tends to a third"
    whole, parts, checkpointed = chapter.ways.values()
    assert whole == twelve and 3.5 < whole / parts < 4 and whole / checkpointed > 10


def test_checkpointing_costs_one_more_pass_and_changes_no_gradient(
    chapter: Any,
) -> None:
    found = []
    for checkpointed in (False, True):
        torch.manual_seed(0)
        model = nmt.Transformer(chapter.tiny.model, 200, 200)
        if checkpointed:
            costs.keep_inputs_only(model)
        objective, batch = nmt.Objective(model.eval()), costs.random_batch(4, 16)
        with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
            objective(batch).backward()
        gradients = [weight.grad.flatten() for weight in model.parameters()]
        found.append((torch.cat(gradients), counter.get_total_flops()))
    (plain, work), (again, more) = found
    torch.testing.assert_close(plain, again)
    parts = costs.flops_by_part(model, 4, 16, 16, batch.n_tokens)
    layers = parts["encoder"] + parts["decoder"]
    assert more - work == pytest.approx(layers / 3, rel=0.01), "a third more"


def test_the_mistake_points_nearly_the_right_way(chapter: Any) -> None:
    cosine = torch.cosine_similarity(chapter.whole, chapter.wrong, 0)
    assert 0.85 < cosine < 0.99, "the page names 0.90 to 0.97, of five seeds"


def test_padding_by_the_formula_is_padding_in_the_tensors(chapter: Any) -> None:
    lengths = caption_lengths()  # (29000, 2)
    pairs = [([5] * src, [5] * (tgt + 1)) for src, tgt in lengths.tolist()]
    for plan in (chapter.drawn, chapter.buckets):
        batches = [nmt.make_batch([pairs[i] for i in rows]) for rows in plan]
        n_all = sum(batch.src.numel() + batch.tgt_in.numel() for batch in batches)
        share = 1 - lengths.sum().item() / n_all
        assert abs(padding_share(lengths, plan) - share) < 1e-6
