"""How well the config ``tiny`` learns, and how long it takes, for each target language.

Run: ``OMP_NUM_THREADS=1 python -m benchmarks.tiny [--seeds 0 1 2]``
"""

from __future__ import annotations

import itertools
import time

import nmt_lib as nmt
from nmt_book import benchmark


def main() -> None:
    rows = []
    for lang, seed in itertools.product(("fr", "de"), benchmark.seeds(0)):
        overrides = {"data.tgt_lang": lang, "train.seed": seed}
        folder = str(benchmark.scratch())
        config = benchmark.load_config("tiny", run_dir=folder, **overrides)
        wall, cpu = time.perf_counter(), time.process_time()
        run = nmt.train(config)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        result = nmt.evaluate(run.translator, nmt.load_corpus(config.data).test)
        row = [f"en-{lang}", seed, f"{wall:.0f}", f"{cpu:.0f}"]
        exact = f"{100 * result.exact:.1f} %"
        rows.append([*row, exact, f"{result.bleu:.2f}", f"{result.perplexity:.3f}"])
    benchmark.write_table(
        "tiny",
        "The config tiny: 500 held-out sentences",
        "direction | seed | training, s | of it CPU, s | exactly right | BLEU | "
        "perplexity",
        rows,
        "The time is that of `nmt.train`, corpus and tokenizers included. "
        f"{result.bleu_signature}.",
    )


if __name__ == "__main__":
    main()
