"""What back-translation brings, with the updates of the comparison counted.

Run: ``NMT_DATA=… OMP_NUM_THREADS=1 python -m nmt_book.deeper_13.tables WORK``, where
WORK holds the runs of ``nmt_book.chapter13.tables``: its German-to-English models write
the synthetic sources. A run that was cut off resumes, and a finished one is loaded.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import nmt_lib as nmt

from .. import benchmark

N_REAL, N_SYNTHETIC = 3000, 10_000
SMALL = {
    "model.d_model": 64,
    "model.d_ff": 128,
    "model.n_layers": 2,
    "data.vocab_size": 2000,
    "train.lr": 0.003,
}
STARTS = {  # changes to pair.yaml, updates of the longer runs
    "scratch": (SMALL, 1000),
    "multi30k-en-fr": ({"train.init_from": "multi30k-en-fr"}, 400),
}
SEEDS = (0, 1, 2)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("work", nargs="?", default=benchmark.scratch(), type=Path)
    parser.add_argument("--seeds", type=int, nargs="+", default=SEEDS)
    options = benchmark.parse(parser)
    captions = nmt.load_corpus(benchmark.load_config("multi30k").data).train
    test = captions[28_000:] or captions
    corpora = {start: corpora_of(start, captions, options.work) for start in STARTS}
    runs: dict[tuple[str, ...], list[nmt.Run]] = {}
    for share in (1, 2):  # the runs that the honest comparison needs come first
        for seed in options.seeds:
            for start, (changes, updates) in STARTS.items():
                for kind, folder in corpora[start].items():
                    if share == 2 and kind != "real":
                        continue
                    key = start, kind, str(updates // share)
                    run = trained(folder, changes, updates // share, seed)
                    runs.setdefault(key, []).append(run)
                    print(*key, seed, run.history[-1]["valid_loss"], flush=True)
    rows = [
        [*key, some[0].history[-1]["epoch"], len(some), *scores(some, test)]
        for key, some in runs.items()
    ]
    benchmark.write_table(
        "back_translation",
        f"Back-translation: {N_REAL:,} captions, English to German, and "
        f"{N_SYNTHETIC:,} German ones whose English a model wrote",
        "start | trained on | updates | epochs | seeds | BLEU | chrF | length ratio",
        rows,
        "pair.yaml; from scratch with 2 + 2 layers of width 64, 2,000 subwords and a "
        "learning rate of 0.003. Batches of 1,024 tokens, greedy, the best checkpoint "
        "by the loss on 300 real pairs. The model that wrote the English had the same "
        "real pairs and the same start. Scored on 1,000 other captions of the training "
        "file; ± is the standard deviation over the seeds.",
        "sacrebleu",
    )


def corpora_of(start: str, captions: Sequence[nmt.Pair], work: Path) -> dict[str, Path]:
    """Folders with the real pairs alone, and with back-translated pairs beside them."""
    folders = {kind: work / f"back_{start}_{kind}" for kind in ("real", "mixed")}
    if folders["mixed"].exists():
        return folders
    backward = work / f"worth_de-en_{N_REAL}_{start}"
    writer = nmt.Translator.load("multi30k-de-en" if benchmark.DRY else backward)
    targets = [pair.tgt for pair in captions[N_REAL : N_REAL + N_SYNTHETIC]]
    texts = [output.text for output in writer.translate(targets, beam_size=1)]
    synthetic = list(map(nmt.Pair, texts, targets))
    for kind, more in (("real", []), ("mixed", synthetic)):
        folders[kind].mkdir(parents=True)
        parts = {
            "train": [*captions[:N_REAL], *more],
            "valid": captions[27_000:27_300] or captions,
            "test": captions[28_000:] or captions,
        }
        for name, pairs in parts.items():
            for lang, side in (("en", "src"), ("de", "tgt")):
                lines = "".join(f"{getattr(pair, side)}\n" for pair in pairs)
                (folders[kind] / f"{name}.{lang}").write_text(lines, "utf-8")
    return folders


def trained(folder: Path, changes: dict[str, Any], updates: int, seed: int) -> nmt.Run:
    changes = changes | {"train.max_steps": updates, "train.seed": seed}
    if benchmark.DRY:
        changes = {"train.seed": seed}
    else:
        changes["data.corpus"] = str(folder)
        changes["data.tgt_lang"] = "de"
    config = benchmark.load_config("pair", **changes)
    return nmt.train(config, run_dir=str(folder / f"{updates}_{seed}"))


def scores(runs: Sequence[nmt.Run], test: Sequence[nmt.Pair]) -> list[str]:
    """BLEU, chrF and length ratio, each the mean ± standard deviation of the runs."""
    values = []
    for run in runs:
        result = nmt.evaluate(run.translator, test)
        words = sum(len(output.text.split()) for output in result.translations)
        ratio = words / sum(len(pair.tgt.split()) for pair in test)
        values.append((result.bleu, result.chrf, ratio))
    cells = []
    for column, digits in zip(zip(*values, strict=True), (1, 1, 2), strict=True):
        cell = f"{statistics.mean(column):.{digits}f}"
        if len(column) > 1:
            cell += f" ± {statistics.stdev(column):.{digits}f}"
        cells.append(cell)
    return cells


if __name__ == "__main__":
    main()
