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
STARTS: dict[
    str, tuple[dict[str, Any], int]
] = {  # changes to pair.yaml, updates of the longer runs
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
    test, rows = captions[28_000:] or captions, []
    for kind, share in (("real", 1), ("mixed", 1), ("real", 2)):
        for start, (changes, updates) in STARTS.items():
            folder = options.work / f"back_{start}_{kind}"
            if not folder.exists():
                write_pairs(
                    folder, options.work / f"worth_de-en_{N_REAL}_{start}", captions
                )
            changes = changes | {"data.corpus": str(folder), "data.tgt_lang": "de"}
            changes["train.precision"] = "fp32"
            if benchmark.DRY:  # its corpus and its model are other ones
                changes = {}
            n, results = updates // share, []
            for seed in options.seeds:
                numbers = {"train.max_steps": n, "train.seed": seed}
                config = benchmark.load_config("pair", **changes | numbers)
                run = nmt.train(config, run_dir=str(folder / f"{n}_{seed}"))
                results.append(nmt.evaluate(run.translator, test))
                print(folder, n, seed, results[-1].bleu, flush=True)
            epochs = run.history[-1]["epoch"]
            columns = zip(*(scores(result, test) for result in results), strict=True)
            rows.append([start, kind, n, epochs, len(results), *map(spread, columns)])
    benchmark.write_table(
        "back_translation",
        f"Back-translation: {N_REAL:,} captions, English to German, and "
        f"{N_SYNTHETIC:,} German ones whose English a model wrote",
        "start | trained on | updates | epochs | seeds | BLEU | chrF | length, %",
        rows,
        "pair.yaml; from scratch with 2 + 2 layers of width 64, 2,000 subwords and a "
        "learning rate of 0.003. Batches of 1,024 tokens, greedy, the best checkpoint "
        "by the loss on 300 real pairs. The model that wrote the English had the same "
        "real pairs and the same start. Scored on 1,000 other captions of the training "
        "file; ± is the standard deviation over the seeds.",
        "sacrebleu",
    )


def write_pairs(folder: Path, backward: Path, captions: Sequence[nmt.Pair]) -> None:
    """A corpus of real pairs; in a mixed one, the other model writes more sources."""
    train = captions[:N_REAL]
    if folder.name.endswith("mixed"):
        writer = nmt.Translator.load("multi30k-de-en" if benchmark.DRY else backward)
        targets = [pair.tgt for pair in captions[N_REAL : N_REAL + N_SYNTHETIC]]
        outputs = writer.translate(targets, beam_size=1)
        train = [*train, *map(nmt.Pair, [out.text for out in outputs], targets)]
    valid, test = captions[27_000:27_300], captions[28_000:]
    benchmark.write_corpus(folder, ("en", "de"), train=train, valid=valid, test=test)


def scores(result: nmt.Evaluation, test: Sequence[nmt.Pair]) -> list[float]:
    """BLEU, chrF, and the length of the translations in percent of the references'."""
    texts = (
        [translation.text for translation in result.translations],
        [p.tgt for p in test],
    )
    n, n_references = (len(" ".join(side).split()) for side in texts)
    return [result.bleu, result.chrf, 100 * n / n_references]


def spread(values: Sequence[float]) -> str:
    if len(values) == 1:
        return f"{values[0]:.1f}"
    return f"{statistics.mean(values):.1f} ± {statistics.stdev(values):.1f}"


if __name__ == "__main__":
    main()
