"""Models whose positions start later than in training, for two tables of positions.

Run: ``OMP_NUM_THREADS=1 python -m nmt_book.deeper_04.positions --seeds 0 1 2 3 4``.
"""

from __future__ import annotations

from functools import partial

from torch import cosine_similarity

import nmt_lib as nmt

from .. import benchmark
from ..yours.fault import Fault, broken
from ..yours.try_it import replace_parts
from .tables import exact, trained

TABLES = {
    "none": None,
    "upside down": Fault("sinusoids", "position / 10000", "position * 10000"),
}


def main() -> None:
    seeds, rows = benchmark.seeds(0), []
    pairs = nmt.load_corpus(benchmark.load_config("tiny").data).test[:500]
    for name, mistake in TABLES.items():
        with broken(mistake):
            runs = [trained(name, seed).translator for seed in seeds]
            for start in 0, 1, 2, 3, 5:
                move = partial(nmt.sinusoids, start=start)
                alike = cosine_similarity(nmt.sinusoids(50, 64), move(50, 64)).mean()
                counts = [exact(replace_parts(run, table=move), pairs) for run in runs]
                rows.append([name, start, f"{alike:.2f}", str(counts)[1:-1]])
    header = (
        "mistake in the table | positions start at | cosine of a row and the row in "
        f"its place | translations that equal the reference, of {len(pairs)}"
    )
    notes = (
        "The config `tiny`, trained with this table, which starts at 0; seeds "
        f"{', '.join(map(str, seeds))}. Upside down: the position times "
        "10000^(2i/d_model), not divided by it. Greedy search, without the cache."
    )
    benchmark.write_table(
        "positions", "Positions that start later", header, rows, notes
    )


if __name__ == "__main__":
    main()
