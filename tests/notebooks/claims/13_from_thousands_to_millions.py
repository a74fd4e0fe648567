"""What the page on more pairs says of its runs, and the tables that it quotes."""

import re
from importlib.util import find_spec
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import nbformat

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "notebooks/deeper/13_from_thousands_to_millions.ipynb"
CELLS = nbformat.read(PAGE, as_version=4).cells
TEXT = "\n".join(cell.source for cell in CELLS)


def rows(table: str) -> list[list[str]]:
    """The rows of a table of the benchmarks, without its head."""
    path = ROOT / "benchmarks/results" / f"{table}.md"
    lines = [line for line in path.read_text("utf-8").splitlines() if line[:2] == "| "]
    return [line.strip("| ").split(" | ") for line in lines[2:]]


def test_a_rate_that_has_ended_makes_a_run_look_finished(chapter: Any) -> None:
    short, long = (losses for _, losses in chapter.curves.values())
    assert short[-2] - short[-1] < 0.1 < short[-1] - long[-1]
    assert long[-1] < 0.65 * short[-1]


def test_the_library_stops_where_the_exercise_does(chapter: Any) -> None:
    best, last = chapter.check.my_stop.right(chapter.losses, 3)
    assert last < len(chapter.losses) - 1  # early
    assert chapter.patient.history[-1]["step"] == 10 * last + 10
    assert chapter.patient.best_step == 10 * best + 10
    assert (chapter.best, chapter.last) == (best, last)
    training = [row["train_loss"] for row in chapter.patient.history]
    assert training[-1] < training[best]  # it goes on falling


def test_what_is_too_small_for_fp16_is_scaled(chapter: Any) -> None:
    assert chapter.gradient.half() == 0 != chapter.gradient.bfloat16()
    assert chapter.gradient > 0 and chapter.torch.tensor(6e-8).half() > 0


def test_the_points_of_the_curve_are_those_of_the_benchmark(chapter: Any) -> None:
    for direction, n, start, *_, bleu, _ in rows("own_pair_worth"):
        written = f"{int(n):_}" if int(n) > 9999 else n
        (cell,) = [cell.source for cell in CELLS if "moved = " in cell.source]
        points = cell.split(direction.replace("-", "–"))[-1]
        if start != "scratch":
            assert written in points and bleu in points, (direction, n)
        elif direction == "en-de":
            assert f"({written}, {bleu})" in cell
    assert "| 3,000 | `pair.yaml` | 1,180 × 1,024 |" in TEXT


def test_the_rows_of_europarl_are_those_of_the_benchmark(chapter: Any) -> None:
    for start in ("scratch", "multi30k-en-fr"):
        some = [row for row in rows("own_pair_starts") if row[0] == start]
        cells = [
            f"{min(column, key=float)} to {max(column, key=float)}"
            for column in (list(zip(*some, strict=True))[i] for i in (2, 4, 5))
        ]
        assert f"| from {start} | {' | '.join(cells)} |" in TEXT


def test_the_rows_of_back_translation_are_those_of_the_benchmark(chapter: Any) -> None:
    for start, kind, *cells in rows("back_translation"):
        name = {"real": "3,000", "mixed": "3,000 + 10,000"}[kind]
        updates = f"{int(cells[0]):,} ({cells[1]})"
        row = [start, name, updates, *cells[3:]]
        assert f"| {' | '.join(row)} |" in TEXT, row


def test_the_code_for_a_pretrained_model_runs(chapter: Any) -> None:
    """With a small one of our own in place of one from the hub."""
    if not find_spec("transformers"):
        return
    nmt, torch, folder = chapter.nmt, chapter.torch, mkdtemp()
    pairs = nmt.load_corpus(nmt.load_config("tiny").data).train[:400]
    config = nmt.load_config(
        "pair",
        **{"data.vocab_size": 300, "model.norm": "post", "model.d_model": 64},
    )
    source, target = nmt.build_tokenizers(config.data, pairs)
    torch.manual_seed(0)
    model = nmt.Transformer(config.model, len(source), len(target))
    small = nmt.Translator(model, source, target, config)
    nmt.export_hugging_face(small, f"{folder}/small")
    code = next(
        block
        for block in re.findall(r"(?s)```python\n(.*?)```", TEXT)
        if "opus-mt" in block
    )
    code = code.replace("Helsinki-NLP/opus-mt-en-de", f"{folder}/small")
    code = code.replace("5e-5", "2e-3").replace("= random.Random(0), 300", "= draw, 60")
    names = {"random": chapter.random, "torch": torch, "draw": chapter.random.Random(0)}
    names["corpus"] = nmt.Corpus(pairs[:300], pairs[300:350], pairs[350:], "")
    before, _, after = code.partition("draw, updates")
    exec(before, names)
    with torch.no_grad():
        untrained = names["loss_of"](pairs[300:350]).item()
    exec(f"draw, updates{after}", names)
    with torch.no_grad():
        assert names["loss_of"](pairs[300:350]).item() < untrained - 1
    assert len(names["translations"](["A dog runs.", "The cat sleeps."])) == 2
