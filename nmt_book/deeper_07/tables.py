"""Broken scripts, what one sees of them, and what five questions find.

Run: ``OMP_NUM_THREADS=1 python -m nmt_book.deeper_07.tables --seeds 0 1 2 3 4``. A seed
takes about a minute; one that is done is not measured again.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from .. import benchmark
from . import lab


def main() -> None:
    seeds = benchmark.seeds(0, 1, 2, 3, 4)
    names = list(lab.PLACES)[: 2 if benchmark.DRY else None]
    found, rows = [measured(names, seed) for seed in seeds], []
    for name in names:
        runs = [seed[name] for seed in found]
        answers = [lab.Answers(*run[0]) for run in runs]
        right = sum(lab.place(each) == lab.PLACES[name] for each in answers)
        seen = "; ".join(sorted({symptom for run in runs for symptom in run[1]}))
        grown = [
            a._replace(exchanged=a.exchanged - a.new, reversed=a.reversed - a.new)
            for a in answers
        ]
        columns = map(spread, zip(*grown, strict=True))
        named = name, lab.PLACES[name], f"{right} of {len(runs)}", seen
        rows.append([*named, *columns, runs[0][2]])
    header = (
        "mistake | place | found | what one sees | her loss | our loss | learnt "
        "| moves alone | moves by the future | tensors moved | whole run: new "
        "| more if exchanged | more if reversed | lost by loading | other texts | map "
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


def measured(names: Sequence[str], seed: int) -> dict[str, Any]:
    """Answers, symptoms and the first translation of each mistake."""
    file = benchmark.home() / f"symptoms-{seed}.json"
    found: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {}
    for name in names:
        if name not in found:
            trial = lab.trial(name, seed)
            seen = lab.symptoms(trial.texts, trial.pairs)
            found[name] = trial.answers, seen, trial.texts[0][:60]
            print(seed, name, *found[name], flush=True)
            file.write_text(json.dumps(found))
    return found


def spread(values: Sequence[float]) -> str:
    low, high = (f"{value:.3g}" for value in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"


if __name__ == "__main__":
    main()
