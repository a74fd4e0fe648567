"""How ``multi30k-en-fr`` was trained: four rounds of a pre-LN model.

1. 3,080 updates without BPE dropout; the mean of the last 5 checkpoints.
2. 4,200 updates from there, with BPE dropout; the mean of the last 20.
3. 3,800 updates from there, likewise, with other batches and a restarted schedule.
4. 1,500 updates from there, likewise, with a lower learning rate.

Run: ``NMT_DATA=… python -m benchmarks.recipes.en_fr`` (5 hours of one CPU core)
"""

from __future__ import annotations

import nmt_lib as nmt
from benchmarks.recipes import rounds
from nmt_book import benchmark

BOTH = f"{rounds.PRE_LN} train.validate_every=140 train.checkpoint_every=70"
FIRST = f"{BOTH} train.max_steps=3080 train.keep_checkpoints=5"
SECOND = f"{BOTH} {rounds.LATER} train.lr=0.002 train.max_steps=4200"
THIRD = f"""{SECOND} train.seed=4
train.max_steps=3800 train.validate_every=350 train.checkpoint_every=35
"""
FOURTH = f"""{THIRD} train.seed=5 train.lr=0.0015
train.max_steps=1500 train.validate_every=250 train.checkpoint_every=20
"""
ROUNDS = {"first": FIRST, "second": SECOND, "third": THIRD, "fourth": FOURTH}


def main() -> None:
    benchmark.parse()
    model = None
    for name, changes in ROUNDS.items():
        config = rounds.load_config("en-fr", name, changes)
        model = rounds.train(config, nmt.load_corpus(config.data), start=model)
    assert model
    rounds.finish("multi30k-en-fr", model, config)


if __name__ == "__main__":
    main()
