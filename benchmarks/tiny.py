"""How well the config ``tiny`` learns, and how long that takes, for each target language.

Run: ``OMP_NUM_THREADS=1 python benchmarks/tiny.py [--seeds 0 1 2]``
"""

from __future__ import annotations

import argparse
import tempfile
import time

from common import machine, write_table

import nmt_lib as nmt


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--directions", nargs="+", default=["en-fr", "en-de"])
    options = parser.parse_args()
    rows = []
    for direction in options.directions:
        src_lang, tgt_lang = direction.split("-")
        for seed in options.seeds:
            with tempfile.TemporaryDirectory() as folder:
                languages = {"data.src_lang": src_lang, "data.tgt_lang": tgt_lang}
                config = nmt.load_config(
                    "tiny", run_dir=folder, **languages, **{"train.seed": seed}
                )
                wall, cpu = time.perf_counter(), time.process_time()
                run = nmt.train(config)
                wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
                result = nmt.evaluate(run.translator, nmt.load_corpus(config.data).test)
            scores = [
                f"{100 * result.exact:.1f} %",
                f"{result.bleu:.2f}",
                f"{result.perplexity:.3f}",
            ]
            rows.append([direction, seed, f"{wall:.0f}", f"{cpu:.0f}", *scores])
    write_table(
        "tiny",
        "The config tiny: 500 held-out sentences",
        [
            "direction",
            "seed",
            "training, s",
            "of it CPU, s",
            "exactly right",
            "BLEU",
            "perplexity",
        ],
        rows,
        f"The time is that of `nmt.train`, corpus and tokenizers included. {result.bleu_signature}. "
        f"{machine(gpu=True)}.",
    )


if __name__ == "__main__":
    main()
