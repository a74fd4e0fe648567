"""Broken scripts, what one sees of them, and what five questions find.

Run: ``OMP_NUM_THREADS=1 python -m nmt_book.deeper_07.tables --seeds 0 1 2 3 4``. A seed
takes about a minute.
"""

from __future__ import annotations

from collections.abc import Sequence

from .. import benchmark
from . import lab


def main() -> None:
    seeds, rows = benchmark.seeds(0, 1, 2, 3, 4), []
    for name in list(lab.PLACES)[: 2 if benchmark.DRY else None]:
        runs = [lab.trial(name, seed) for seed in seeds]
        seen = {sign for run in runs for sign in lab.symptoms(run.texts, run.pairs)}
        right = sum(lab.place(run.answers) == lab.PLACES[name] for run in runs)
        grown = [
            a._replace(exchanged=a.exchanged - a.new, reversed=a.reversed - a.new)
            for a in (run.answers for run in runs)
        ]
        columns = map(spread, zip(*grown, strict=True))
        named = name, lab.PLACES[name], f"{right} of {len(runs)}"
        shown = "; ".join(sorted(seen))
        rows.append([*named, shown, *columns, runs[0].texts[0][:60]])
        print(*rows[-1][:4], flush=True)
    header = (
        "mistake | place | found | what one sees | her loss | our loss | learnt "
        "| moves alone | moves by the future | tensors moved | whole run: new "
        "| more if exchanged | more if reversed | lost by loading | other texts "
        "| the first translation"
    )
    notes = (
        "The corpus `tiny`, a model of one layer. Losses: nats per token, of sixteen "
        "sentences after 100 updates; “whole run”: of forty new ones after 200 updates "
        "with the whole corpus, for “input”. Mistakes of “loading” and “search” come "
        "after a whole run without one. Least and most over the seeds "
        f"{', '.join(map(str, seeds))}; whole run, 0 and 9: not measured"
    )
    benchmark.write_table("symptoms", "What went wrong", header, rows, f"{notes}.")


def spread(values: Sequence[float]) -> str:
    low, high = (f"{value:.3g}" for value in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"


if __name__ == "__main__":
    main()
