"""Memory and time against the size of the corpus.

Each row is a fresh process, two for each size. Each reads a corpus of generated sentences, builds the tokenizers (the
second one loads them), encodes, plans an epoch and trains five steps of a small model; the second finds what the first
has left in the cache. Linux only. Run: ``OMP_NUM_THREADS=1 python benchmarks/memory.py [--sizes 20000 200000 2000000]``
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from common import machine, write_table

STAGES = ("pairs", "tokenizers", "ids", "steps")


def sentences(n: int, seed: int) -> Iterator[str]:
    """As many sentences of about 25 words; the words are random letters, few are frequent and many are rare."""
    draw = np.random.default_rng(seed)
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    words = [
        "".join(draw.choice(letters, draw.integers(2, 9 + rank // 8000)))
        for rank in range(40_000)
    ]
    shares = np.cumsum(1 / np.arange(3, 3 + len(words)))
    while n > 0:
        lengths = 1 + draw.poisson(24, min(n, 10_000))
        ranks = iter(
            np.searchsorted(shares, draw.random(lengths.sum()) * shares[-1]).tolist()
        )
        yield from (
            " ".join(words[rank] for rank in itertools.islice(ranks, length))
            for length in lengths.tolist()
        )
        n -= len(lengths)


def write_corpus(folder: Path, n: int) -> None:
    folder.mkdir()
    for seed, (split, size) in enumerate(
        {"train": n, "valid": 500, "test": 500}.items()
    ):
        for lang, shift in (("en", 0), ("fr", 10)):
            with open(folder / f"{split}.{lang}", "w", encoding="utf-8") as file:
                file.writelines(
                    sentence + "\n" for sentence in sentences(size, seed + shift)
                )


def child(folder: str) -> None:
    """Prepares and trains; prints the seconds of each stage."""
    import warnings

    from accelerate import Accelerator

    import nmt_lib as nmt
    from nmt_lib import schedules
    from nmt_lib.runs.folder import load_tokenizers, save_tokenizers

    warnings.simplefilter("ignore")
    model = {
        "model.d_model": 64,
        "model.n_layers": 1,
        "model.d_ff": 128,
        "train.batch_tokens": 2048,
    }
    data = {"data.corpus": folder, "data.tgt_lang": "fr", "data.vocab_size": 8000}
    config = nmt.load_config("multi30k", run_dir=f"{folder}-run", **model, **data)
    accelerator = Accelerator()
    schedules.build_optimizer(
        config.train, nmt.build_model(config.model, 9, 9).parameters()
    )  # imports what it needs
    times = [time.perf_counter()]
    corpus = nmt.load_corpus(config.data)
    times.append(time.perf_counter())
    if not config.run_path.is_dir():
        save_tokenizers(
            config.run_path, nmt.build_tokenizers(config.data, corpus.train)
        )
    tokenizers = load_tokenizers(config.run_path, config.data)
    times.append(time.perf_counter())
    trainer = nmt.Trainer(config, corpus, tokenizers, config.run_path, accelerator)
    times.append(time.perf_counter())
    for batches in itertools.islice(trainer.updates(), 5):
        trainer.update(batches)
    times.append(time.perf_counter())
    print(json.dumps([later - earlier for earlier, later in itertools.pairwise(times)]))


def measure(folder: Path) -> tuple[list[float], float, float]:
    """Seconds of each stage, and the peaks of resident and of private memory in MB, of one process."""
    environment = {**os.environ, "NMT_RUNS": str(folder.parent)}
    command = [sys.executable, __file__, "--child", str(folder)]
    process = subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, text=True
    )
    resident = private = 0
    while process.poll() is None:
        try:
            lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
        except OSError:
            break
        kilobytes = {
            line.split(":")[0]: int(line.split()[1])
            for line in lines
            if line.endswith(" kB")
        }
        resident, private = (
            max(resident, kilobytes.get("VmHWM", 0)),
            max(private, kilobytes.get("RssAnon", 0)),
        )
        time.sleep(0.02)
    out = process.communicate()[0]
    if process.returncode:
        raise SystemExit(process.returncode)
    return json.loads(out), resident / 1024, private / 1024


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument(
        "--sizes", type=int, nargs="+", default=[20_000, 200_000, 2_000_000]
    )
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        return child(options.child)
    rows = []
    for n in options.sizes:
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place) / "corpus"
            write_corpus(folder, n)
            text = sum(file.stat().st_size for file in folder.iterdir()) / 1e6
            runs = [measure(folder) for _ in range(2)]
            disk = (
                sum(
                    file.stat().st_size
                    for file in (Path(place) / "cache").rglob("*.arrow")
                )
                / 1e6
            )
        for turn, (seconds, resident, private) in zip(
            ("first", "second"), runs, strict=True
        ):
            spent = [f"{s:.1f}" for s in (*seconds, sum(seconds))]
            rows.append(
                [
                    f"{n:,}",
                    f"{text:.0f}",
                    f"{disk:.0f}",
                    turn,
                    *spent,
                    f"{resident:.0f}",
                    f"{private:.0f}",
                ]
            )
            print(rows[-1], flush=True)
    write_table(
        "memory",
        "Memory and time against the size of the corpus",
        [
            "pairs",
            "text, MB",
            "cache, MB",
            "run",
            *[f"{s}, s" for s in (*STAGES, "all")],
            "peak, MB",
            "private, MB",
        ],
        rows,
        "Generated sentences of 25 words; joint BPE of 8,000 pieces; the second run loads the tokenizers and finds "
        "pairs and ids. Peak: the largest resident size of the process (VmHWM), torch included, and pages of files "
        f"that the system takes back at will; private: without those (RssAnon). {machine('datasets', 'pyarrow')}.",
    )


if __name__ == "__main__":
    main()
