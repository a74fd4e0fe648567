"""The peak memory of encoding a large corpus.

Run: ``OMP_NUM_THREADS=1 python -m benchmarks.memory [--pairs 20000 1000000]``
"""

from __future__ import annotations

import argparse
import itertools
import random
import resource
import time

import nmt_lib as nmt
from nmt_book import benchmark


def make_pairs(n: int) -> list[nmt.Pair]:
    """Pairs of 25 random words on each side; few words are frequent, many are rare."""
    draw = random.Random(0)
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = [
        "".join(draw.choices(letters, k=draw.randint(2, 10))) for _ in range(40_000)
    ]
    shares = list(itertools.accumulate(1 / rank for rank in range(3, 3 + len(words))))

    def sentence() -> str:
        return " ".join(draw.choices(words, cum_weights=shares, k=25))

    return [nmt.Pair(sentence(), sentence()) for _ in range(n)]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, nargs="+", default=[20_000, 1_000_000])
    options = benchmark.parse(parser)
    config = benchmark.load_config("multi30k", **{"data.vocab_size": 8000})
    tokenizers = nmt.build_tokenizers(config.data, make_pairs(20_000))
    rows = []
    for n in [500] if options.dry else sorted(options.pairs):  # the peak only rises
        pairs = make_pairs(n)
        start = time.perf_counter()
        examples = nmt.encode_pairs(pairs, tokenizers, config)
        seconds = time.perf_counter() - start
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        rows.append([f"{len(examples):,}", f"{seconds:.0f}", f"{peak:.0f}"])
        del pairs, examples
    benchmark.write_table(
        "memory",
        "Peak memory of encoding a corpus",
        "pairs | encoding, s | peak, MB",
        rows,
        "Generated sentences of 25 words; joint BPE of 8,000 subwords. Peak: the "
        "largest resident size of the process, with the text, the ids and torch in it.",
    )


if __name__ == "__main__":
    main()
