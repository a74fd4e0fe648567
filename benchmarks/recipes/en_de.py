"""How ``multi30k-en-de`` was trained: three rounds of a post-LN model.

1. 8,000 updates of the config ``multi30k``; the mean of the last 10 checkpoints.
2. 3,000 updates from there, with BPE dropout and back-translations by the model
   ``multi30k-de-en`` beside the pairs; the mean of the last 20 checkpoints, with 0.3 of
   the first round's weights (chosen on the validation set).
3. 3,000 updates from there on the same pairs, distilled from two teachers: the second
   round's model and a pre-LN model, trained for 6,000 updates with the same tokenizers.

The second round ran in fp32, the rest of the later training in bf16. Loss, dropout and
attention of the third round ran through faster kernels of the same formulas, which are
not part of this project: expect other random numbers and a somewhat different BLEU.
Run: ``NMT_DATA=… python -m benchmarks.recipes.en_de`` (a day of one CPU core)
"""

from __future__ import annotations

import nmt_lib as nmt
from benchmarks import common
from benchmarks.recipes import rounds

LATER = rounds.LATER | {
    "train.lr": 0.0015,
    "train.max_steps": 3000,
    "train.validate_every": 250,
    "train.checkpoint_every": 50,
}
THIRD = LATER | {"model.dropout": 0.2, "train.precision": "bf16"}
TEACHER = rounds.PRE_LN | {
    "data.bpe_dropout": 0.1,
    "train.seed": 1,
    "train.max_steps": 6000,
    "train.checkpoint_every": 100,
    "train.precision": "bf16",
}


def main() -> None:
    common.parse()
    config = rounds.load_config("en-de", "first")
    corpus = nmt.load_corpus(config.data)
    first = rounds.train(config, corpus)

    more = rounds.back_translated(corpus, "multi30k-de-en")
    config = rounds.load_config("en-de", "second", **LATER)
    second = rounds.train(config, more, start=first)
    shares = {share: rounds.mixed(second, first, share) for share in (0.0, 0.3, 0.5)}
    second = rounds.best(shares, corpus.valid)

    config = rounds.load_config("en-de", "teacher", **TEACHER)
    teacher = rounds.train(config, more, start=first, fresh=True)
    config = rounds.load_config("en-de", "third", **THIRD)
    third = rounds.train(config, more, start=second, teachers=[second, teacher])
    rounds.finish("multi30k-en-de", third, config)


if __name__ == "__main__":
    main()
