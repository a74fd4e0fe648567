"""How ``multi30k-en-de`` was trained: three rounds of a post-LN model.

1. 8,000 updates of the config ``multi30k``; the mean of the last 10 checkpoints.
2. 3,000 updates from there, with BPE dropout and back-translations by the model
   ``multi30k-de-en`` added to the pairs; the mean of the last 20 checkpoints, with 0.3
   of the first round's weights (chosen on the validation set).
3. 1,400 updates from there on the same pairs, distilled from two teachers: the second
   round's model, and a pre-LN model that began as ``multi30k-en-fr`` (with two of its
   four rounds then) and was trained for 2,200 updates on the pairs; the mean of the
   last 20 checkpoints, with 0.3 of the second round's weights (chosen on the validation
   set).

Run: ``NMT_DATA=… python -m benchmarks.recipes.en_de`` (some 9 hours of one CPU core)
"""

from __future__ import annotations

import nmt_lib as nmt
from benchmarks.recipes import rounds
from nmt_book import benchmark

SECOND = f"""{rounds.LATER}
train.lr=0.0015 train.max_steps=3000 train.validate_every=250 train.checkpoint_every=50
"""
TEACHER = f"""{rounds.PRE_LN}
data.bpe_dropout=0.1 train.seed=2 train.warmup=300
train.max_steps=2200 train.validate_every=200 train.checkpoint_every=50
"""
THIRD = f"""{rounds.LATER}
model.dropout=0.2 train.lr=0.001
train.max_steps=1400 train.validate_every=200 train.checkpoint_every=25
"""


def main() -> None:
    benchmark.parse()
    config = rounds.load_config("en-de", "first")
    corpus = nmt.load_corpus(config.data)
    first = rounds.train(config, corpus)

    more = rounds.back_translated(corpus, "multi30k-de-en")
    config = rounds.load_config("en-de", "second", SECOND)
    second = rounds.train(config, more, start=first)
    second = rounds.best_mixture(second, first, corpus.valid)

    config = rounds.load_config("en-de", "teacher", TEACHER)
    teacher = rounds.transferred(config, corpus, "multi30k-en-fr", second)
    config = rounds.load_config("en-de", "third", THIRD)
    teachers = {second: 0.7, teacher: 0.3}
    third = rounds.train(config, more, start=second, teachers=teachers)
    third = rounds.best_mixture(third, second, corpus.valid)
    rounds.finish("multi30k-en-de", third, config)


if __name__ == "__main__":
    main()
