"""Models whose positions start later than in training, for two tables of positions.

Run: ``OMP_NUM_THREADS=1 python -m nmt_book.deeper_04.positions --seeds 0 1 2 3 4``.
"""

from __future__ import annotations

from functools import partial

from torch import cosine_similarity

import nmt_lib as nmt

from .. import benchmark
from ..yours.fault import Fault
from ..yours.try_it import replace_parts
from .tables import exact, fault, trained

UPSIDE_DOWN = Fault("sinusoids", "position / 10000", "position * 10000")
TABLES = {"none": None, "upside down": UPSIDE_DOWN}


def main() -> None:
    seeds, rows = benchmark.seeds(0), []
    pairs = nmt.load_corpus(benchmark.load_config("tiny").data).test[:500]
    for name, mistake in TABLES.items():
        with fault(mistake):
            for start in (0, 1, 2, 3, 5):
                table, later = (nmt.sinusoids(50, 64, start=k) for k in (0, start))
                alike = cosine_similarity(table, later).mean()
                move = partial(nmt.sinusoids, start=start)
                runs = [trained(name, seed).translator for seed in seeds]
                moved = [replace_parts(run, table=move) for run in runs]
                counts = ", ".join(str(exact(run, pairs)) for run in moved)
                rows.append([name, start, f"{alike:.2f}", counts])
    header = (
        "mistake in the table | positions start at | cosine of a row and the row in "
        f"its place | translations that equal the reference, of {len(pairs)}"
    )
    notes = (
        "The config `tiny`, trained with this table, which starts at 0; seeds "
        f"{', '.join(map(str, seeds))}. Upside down: the position times "
        "10000^(2i/d_model), not divided by it. Greedy search, without the cache."
    )
    title = "Positions that start later"
    benchmark.write_table("positions", title, header, rows, notes)


if __name__ == "__main__":
    main()
