"""Broken scripts, what one sees of them, and what five questions find.

Run: ``OMP_NUM_THREADS=1 python -m nmt_book.deeper_07.tables --seeds 0 1 2 3 4``. A seed
takes about a minute and a half; one that is done is not measured again.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from .. import benchmark
from . import lab

NAMES = list(lab.PLACES)


def main() -> None:
    seeds = benchmark.seeds(0, 1, 2, 3, 4)
    names = NAMES[:2] if benchmark.DRY else NAMES
    found = [measured(names, seed) for seed in seeds]
    rows = []
    for name in names:
        runs = [seed[name] for seed in found]
        right = sum(run["place"] == lab.PLACES[name] for run in runs)
        symptoms = sorted({symptom for run in runs for symptom in run["symptoms"]})
        columns = map(spread, zip(*(run["answers"] for run in runs), strict=True))
        named = f"{right} of {len(runs)}", "; ".join(symptoms)
        rows.append([name, lab.PLACES[name], *named, *columns, runs[0]["text"]])
    header = (
        "mistake | place | found | what one sees | her loss | our loss | learnt "
        "| moves alone | moves by the future | tensors moved | whole run: known | new "
        "| exchanged | reversed | lost by loading | other texts | map "
        "| the first translation"
    )
    notes = (
        "The corpus `tiny`, a model of one layer. Losses: nats per token, of sixteen "
        "sentences after 100 updates; “whole run”: after 200 updates with the whole "
        "corpus, for “input”. Mistakes of “loading” and “search” come after a whole "
        "run without one. Least and most over the seeds "
        f"{', '.join(map(str, seeds))}; whole run, 0 and 9: not measured"
    )
    benchmark.write_table("symptoms", "What went wrong", header, rows, f"{notes}.")


def measured(names: Sequence[str], seed: int) -> dict[str, dict[str, object]]:
    """Place, answers and symptoms of each mistake."""
    file = benchmark.home() / f"symptoms-{seed}.json"
    found = json.loads(file.read_text()) if file.exists() else {}
    for name in names:
        if name not in found:
            trial = lab.trial(name, seed)
            found[name] = {
                "place": lab.place(trial.answers),
                "answers": trial.answers,
                "symptoms": lab.symptoms(trial.texts, trial.pairs),
                "text": trial.texts[0][:60],
            }
            print(seed, name, found[name], flush=True)
            file.write_text(json.dumps(found))
    return found


def spread(values: Sequence[float]) -> str:
    low, high = (f"{value:.3g}" for value in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"


if __name__ == "__main__":
    main()
