"""How much of a training batch is padding, by the way batches are made.

Run: ``NMT_DATA=… OMP_NUM_THREADS=1 python -m benchmarks.lean``
"""

from __future__ import annotations

import torch

import nmt_lib as nmt
from benchmarks import common


def main() -> None:
    common.parse()
    _, _, examples = common.load_data("multi30k")
    plans = {
        f"batches of {n} tokens (train.batch_tokens)": common.token_batches(examples, n)
        for n in (4096, 8192)
    }
    at_random = nmt.sentence_batches(len(examples), 64, seed=0)
    plans["batches of 64 sentences in random order"] = at_random
    rows = []
    for name, plan in plans.items():
        batches = [nmt.make_batch(examples, indices) for indices in plan]
        ids = [side.flatten() for b in batches for side in (b.src, b.tgt_in)]
        share = (torch.cat(ids) == nmt.PAD).float().mean()
        rows.append([f"padding, {name}", f"{100 * share:.1f} %"])
    notes = f"{common.machine()}."
    common.write_table("lean", "Padding (multi30k)", "what | measured", rows, notes)


if __name__ == "__main__":
    main()
