"""What the library costs before it does anything: import time, and padding in batches.

Run: ``NMT_DATA=… OMP_NUM_THREADS=1 python -m benchmarks.lean``
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys

import torch

import nmt_lib as nmt
from benchmarks import common

IMPORTS = {
    "import nmt_lib": "import nmt_lib",
    "import nmt_lib and all its public names": "from nmt_lib import *",
}
TIMED = """
import time, torch
start = time.perf_counter()
{}
print(time.perf_counter() - start)
"""


def seconds(statement: str) -> float:
    """How long it takes in a new process that has loaded torch."""
    command = [sys.executable, "-W", "ignore", "-c", TIMED.format(statement)]
    return float(subprocess.check_output(command))


def padding(data: common.Data, plan: list[list[int]]) -> str:
    """The share of ``<pad>`` among the ids of source and target."""
    batches = [nmt.make_batch(data.examples, indices) for indices in plan]
    ids = [side.flatten() for batch in batches for side in (batch.src, batch.tgt_in)]
    share = (torch.cat(ids) == nmt.PAD).float().mean()
    return f"{100 * share:.1f} %"


def main() -> None:
    repeats = 1 if common.parse(argparse.ArgumentParser()).dry else 5
    rows = []
    for name, statement in IMPORTS.items():
        median = statistics.median(seconds(statement) for _ in range(repeats))
        rows.append([f"{name}, over `import torch`", f"{median:.2f} s"])
    data = common.load_data("multi30k")
    for budget in (4096, 8192):
        plan = nmt.token_batches(data.lengths, budget, seed=0)
        what = f"padding, batches of {budget} tokens (train.batch_tokens)"
        rows.append([what, padding(data, plan)])
    plan = nmt.sentence_batches(len(data.examples), 64, seed=0)
    what = "padding, batches of 64 sentences in random order"
    rows.append([what, padding(data, plan)])
    title = "Import and padding (multi30k)"
    header = ["what", "measured"]
    common.write_table("lean", title, header, rows, f"{common.machine()}.")


if __name__ == "__main__":
    main()
