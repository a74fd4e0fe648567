"""How much of a training batch is padding, by the way batches are made.

Run: ``NMT_DATA=… OMP_NUM_THREADS=1 python -m benchmarks.lean``
"""

from __future__ import annotations

import argparse

import torch

import nmt_lib as nmt
from benchmarks import common


def main() -> None:
    common.parse(argparse.ArgumentParser())
    _, _, examples = common.load_data("multi30k")
    plans = {
        "batches of 4096 tokens (train.batch_tokens)": nmt.token_batches(
            examples, 4096, seed=0
        ),
        "batches of 8192 tokens (train.batch_tokens)": nmt.token_batches(
            examples, 8192, seed=0
        ),
        "batches of 64 sentences in random order": nmt.sentence_batches(
            len(examples), 64, seed=0
        ),
    }
    rows = []
    for name, plan in plans.items():
        batches = [nmt.make_batch(examples, indices) for indices in plan]
        ids = [side.flatten() for b in batches for side in (b.src, b.tgt_in)]
        share = (torch.cat(ids) == nmt.PAD).float().mean()
        rows.append([f"padding, {name}", f"{100 * share:.1f} %"])
    header = ["what", "measured"]
    common.write_table(
        "lean", "Padding (multi30k)", header, rows, common.machine() + "."
    )


if __name__ == "__main__":
    main()
