"""How good a run is after how many updates: BLEU of the mean of its last ten checkpoints, on the validation set.

Adds what is new to ``results/multi30k_curve.csv``; say it while a run trains, since old checkpoints go. Then
``python figures/draw.py`` draws it. Run: ``NMT_DATA=… python benchmarks/curve.py runs/multi30k --every 420``
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

from common import RESULTS
from pretrained import average, updates_of
from sacrebleu.metrics import BLEU

import nmt_lib as nmt
from nmt_lib.runs import checkpoints
from nmt_lib.runs.folder import read_config

FILE = RESULTS / "multi30k_curve.csv"
PENALTY = 0.6  # the same for all points, whatever the config says by now
FIELDS = ["direction", "updates", "average", "valid_bleu"]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("run", type=Path, help="the folder of a run")
    parser.add_argument("--average", type=int, default=10, help="checkpoints")
    parser.add_argument(
        "--every", type=int, default=420, help="updates between two points"
    )
    parser.add_argument(
        "--label", help="of the curve; default: the direction, such as en-de"
    )
    options = parser.parse_args()
    rows = list(csv.DictReader(FILE.open())) if FILE.exists() else []
    data = read_config(options.run).data
    pairs = nmt.load_corpus(data).valid
    direction = options.label or f"{data.src_lang}-{data.tgt_lang}"
    known = {int(row["updates"]) for row in rows if row["direction"] == direction}
    files = checkpoints.checkpoint_files(options.run / "checkpoints")
    for end in range(options.average, len(files) + 1):
        updates = updates_of(files[end - 1])
        if updates % options.every == 0 and updates not in known:
            translator = average(options.run, files[end - options.average : end])
            found = translator.translate(
                [pair.src for pair in pairs], length_penalty=PENALTY
            )
            bleu = BLEU().corpus_score(
                [translation.text for translation in found],
                [[pair.tgt for pair in pairs]],
            )
            rows.append(
                dict(
                    zip(
                        FIELDS,
                        [direction, updates, options.average, f"{bleu.score:.2f}"],
                        strict=True,
                    )
                )
            )
            print(rows[-1], flush=True)
    with FILE.open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(
            sorted(rows, key=lambda row: (row["direction"], int(row["updates"])))
        )


if __name__ == "__main__":
    main()
