"""What the page on more pairs says of its runs, and the tables that it quotes."""

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
    gained, left = chapter.losses[0] - chapter.losses[6], chapter.losses[6]
    assert left - min(chapter.losses) < gained / 10  # 20 seeds: 0 to 0.09 of 1.4 to 1.7
    assert last < len(chapter.losses) - 1 or chapter.config.train.seed  # ours: early
    assert chapter.patient.history[-1]["step"] == 10 * last + 10
    assert chapter.patient.best_step == 10 * best + 10
    assert (chapter.best, chapter.last) == (best, last)
    training = [row["train_loss"] for row in chapter.patient.history]
    assert training[-1] < training[6]  # it goes on falling


def test_the_points_of_the_curve_are_those_of_the_benchmark(chapter: Any) -> None:
    (cell,) = [cell.source for cell in CELLS if "moved = " in cell.source]
    for *_, bleu, _ in rows("own_pair_worth"):
        assert bleu in cell or bleu == "16.2"  # German to English, from scratch


def test_the_rows_of_back_translation_are_those_of_the_benchmark(chapter: Any) -> None:
    for row in rows("back_translation"):
        assert f"| {' | '.join(row)} |" in TEXT, row
    mean = {(row[0], row[1], row[2]): row[5:7] for row in rows("back_translation")}
    gains = [
        float(mixed.split()[0]) - float(real.split()[0])
        for start, few, n in (
            *(("scratch", "1000", "1000"), ("multi30k-en-fr", "400", "400")),
            *(("scratch", "500", "1000"), ("multi30k-en-fr", "200", "400")),
        )
        for real, mixed in zip(
            mean[start, "real", few], mean[start, "mixed", n], strict=True
        )
    ]
    assert [round(gain, 1) for gain in gains[:4]] == [2.0, -1.3, 2.1, 1.2]
    assert [round(gain) for gain in gains[4:]] == [5, 7, 8, 10]  # as it says


def test_the_code_for_a_pretrained_model_runs(chapter: Any) -> None:
    """With a small one of our own in place of one from the hub."""
    if not find_spec("transformers"):
        return
    nmt, torch, folder = chapter.nmt, chapter.torch, mkdtemp()
    nmt.export_hugging_face(chapter.nmt.Translator.load("multi30k-en-fr"), folder)
    pairs = nmt.load_corpus(nmt.load_config("tiny").data).train[:400]
    code = TEXT.partition("```python\nfrom transformers")[2].partition("```")[0]
    code = code.replace("Helsinki-NLP/opus-mt-en-de", folder).replace("5e-5", "1e-3")
    before, loop, after = code.partition("draw, updates = random.Random(0), 300")
    names = vars(chapter) | {"corpus": nmt.Corpus(pairs[:300], [], pairs[300:], "")}
    exec(f"from transformers{before}", names)
    with torch.no_grad():
        untrained = names["loss_of"](pairs[300:]).item()
    exec(loop.replace("300", "40") + after, names)
    with torch.no_grad():
        assert names["loss_of"](pairs[300:]).item() < untrained - 0.5
