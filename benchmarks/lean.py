"""What the library costs before it does anything: import time, and the share of padding in training batches.

Run: ``NMT_DATA=… OMP_NUM_THREADS=1 python benchmarks/lean.py``
"""

from __future__ import annotations

import statistics
import subprocess
import sys

from common import machine, multi30k, write_table

import nmt_lib as nmt

IMPORTS = {
    "import nmt_lib": "import nmt_lib",
    "import nmt_lib and all its public names": "import nmt_lib\nfor name in nmt_lib.__all__: getattr(nmt_lib, name)",
}


def seconds(statement: str) -> float:
    code = f"import torch, time\nstart = time.perf_counter()\n{statement}\nprint(time.perf_counter() - start)"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        capture_output=True,
        text=True,
        check=True,
    )
    return float(done.stdout)


def main() -> None:
    rows = []
    for name, statement in IMPORTS.items():
        rows.append(
            [
                f"{name}, over `import torch`",
                f"{statistics.median(seconds(statement) for _ in range(5)):.2f} s",
            ]
        )
    config, corpus, tokenizers = multi30k()
    examples = nmt.encode_pairs(corpus.train, tokenizers, config)
    for budget in (4096, 8192):
        plan = nmt.token_batches(examples.lengths, budget, seed=0)
        share = nmt.padding_share(
            nmt.make_batch(examples.take(indices)) for indices in plan
        )
        rows.append(
            [
                f"padding, batches of {budget} tokens (train.batch_tokens)",
                f"{100 * share:.1f} %",
            ]
        )
    plan = nmt.sentence_batches(len(examples), 64, seed=0)
    share = nmt.padding_share(
        nmt.make_batch(examples.take(indices)) for indices in plan
    )
    rows.append(
        ["padding, batches of 64 sentences in random order", f"{100 * share:.1f} %"]
    )
    title = f"Import and padding ({config.data.corpus})"
    write_table("lean", title, ["what", "measured"], rows, f"{machine()}.")


if __name__ == "__main__":
    main()
