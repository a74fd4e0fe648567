"""How ``multi30k-en-fr`` was trained: two rounds of a pre-LN model.

1. 3,080 updates without BPE dropout; the mean of the last 5 checkpoints.
2. 4,200 updates from there, with BPE dropout; the mean of the last 20.

Run: ``NMT_DATA=… python -m benchmarks.recipes.en_fr`` (3 hours of one CPU core)
"""

from __future__ import annotations

import nmt_lib as nmt
from benchmarks import common
from benchmarks.recipes import rounds

BOTH = rounds.PRE_LN | {"train.validate_every": 140, "train.checkpoint_every": 70}
FIRST = BOTH | {"train.max_steps": 3080, "train.keep_checkpoints": 5}
SECOND = BOTH | rounds.LATER | {"train.lr": 0.002, "train.max_steps": 4200}


def main() -> None:
    common.parse()
    config = rounds.load_config("en-fr", "first", **FIRST)
    corpus = nmt.load_corpus(config.data)
    first = rounds.train(config, corpus)
    config = rounds.load_config("en-fr", "second", **SECOND)
    second = rounds.train(config, corpus, start=first)
    rounds.finish("multi30k-en-fr", second, config)


if __name__ == "__main__":
    main()
