"""How ``multi30k-de-en`` was trained: one round of the config ``multi30k``, cut off
after 5,040 of 8,000 updates; the mean of the last ten checkpoints.

Run: ``NMT_DATA=… python -m benchmarks.recipes.de_en`` (4 hours of one CPU core)
"""

from __future__ import annotations

import nmt_lib as nmt
from benchmarks.recipes import rounds
from nmt_book import benchmark


def main() -> None:
    benchmark.parse()
    config = rounds.load_config("de-en", "only", "train.max_steps=5040")
    translator = rounds.train(config, nmt.load_corpus(config.data))
    rounds.finish("multi30k-de-en", translator, config)


if __name__ == "__main__":
    main()
