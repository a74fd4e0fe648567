"""BLEU of the same recipe with several seeds, in the middle of training and at its end.

Run: ``OMP_NUM_THREADS=1 python -m nmt_book.chapter10.tables [--seeds 0 1 2 3 4]``. A
seed takes about two minutes.
"""

from __future__ import annotations

import nmt_lib as nmt

from .. import benchmark
from . import lab


def main() -> None:
    seeds = benchmark.seeds(*range(5))
    rows = []
    for seed in seeds:
        config = benchmark.load_config("tiny", **{"train.seed": seed})
        corpus = nmt.load_corpus(config.data)
        trained = nmt.load_or_train(config)
        models = {
            **lab.train_students(trained, corpus),
            config.train.max_steps: trained,
        }
        scores = [nmt.evaluate(model, corpus.valid).bleu for model in models.values()]
        rows.append([seed, *(f"{score:.1f}" for score in scores)])
        print(*rows[-1], flush=True)
    benchmark.write_table(
        "seeds",
        "BLEU of one recipe with several seeds",
        "seed | " + " | ".join(f"{n} updates" for n in models),
        rows,
        "`tiny`, 500 validation sentences, greedy search.",
    )


if __name__ == "__main__":
    main()
