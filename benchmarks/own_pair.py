"""What chapter 13 says about a pair of one's own: how much a leak flatters, and what a
run gains that begins with a bundled model.

Run: ``NMT_DATA=… OMP_NUM_THREADS=1 python -m benchmarks.own_pair CATALOGUES WORK``,
where CATALOGUES is a folder with the unpacked wheels of ``django`` and
``jupyterlab-language-pack-es-ES``, and WORK keeps the runs: a finished one is loaded.
"""

from __future__ import annotations

import argparse
import os
import random
from collections import Counter
from pathlib import Path
from typing import Any

import nmt_lib as nmt
from benchmarks import common
from nmt_lib.data.clean import clean

SEEDS = (0, 1, 2)
SMALL = {
    "data.tgt_lang": "es",
    "data.vocab_size": 1500,
    "model.n_layers": 2,
    "train.max_steps": 400,
    "train.validate_every": 100,
    "train.checkpoint_every": 400,
}
EUROPARL = {"data.vocab_size": 4000, "train.max_steps": 150}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("catalogues", nargs="?", default="", type=Path)
    parser.add_argument("work", nargs="?", default=common.scratch(), type=Path)
    options = common.parse(parser)
    leaks(spanish(options.catalogues), options.work)
    starts(options.work)


def spanish(folder: Path) -> list[nmt.Pair]:
    """The messages of all Spanish catalogues, cleaned."""
    if common.DRY:
        return [nmt.Pair(f"a {i // 2}", f"b {i}") for i in range(100)]
    lost: Counter[str] = Counter()
    files = sorted(file for file in folder.rglob("*.mo") if "/es" in str(file))
    texts = [one for file in files for one in nmt.read_pairs(file, "en", "es", lost)]
    return [nmt.Pair(*both) for both in clean(texts, lost)]


def leaks(pairs: list[nmt.Pair], work: Path) -> None:
    """Trains on a random split and on one by group, with a tenth held out twice."""
    n, rows = len(pairs) // 20 * 2, []
    for seed in SEEDS:
        drawn = random.Random(seed).sample(pairs, len(pairs))
        at_random = {
            "test": drawn[:n],
            "valid": drawn[n : 2 * n],
            "train": drawn[2 * n :],
        }
        split = nmt.grouped_split(pairs, n, seed)
        by_group = {"train": split.train, "valid": split.valid, "test": split.test}
        for kind, parts in (("random", at_random), ("grouped", by_group)):
            folder = work / f"leak_{kind}_{seed}"
            folder.mkdir(parents=True, exist_ok=True)
            for name, part in parts.items():
                for lang, side in (("en", "src"), ("es", "tgt")):
                    lines = "".join(f"{getattr(pair, side)}\n" for pair in part)
                    (folder / f"{name}.{lang}").write_text(lines, encoding="utf-8")
            where = {"data.corpus": str(folder), "train.seed": seed}
            config = config_of(folder / "run", **SMALL, **where)
            known = {pair.src for pair in parts["train"]}
            exact = sum(pair.src in known for pair in parts["test"]) / len(
                parts["test"]
            )
            share = nmt.seen_share(parts["test"], parts["train"])
            rows.append([kind, seed, f"{exact:.0%}", f"{share:.0%}", *scores(config)])
    common.write_table(
        "own_pair_leaks",
        f"{len(pairs)} pairs of Spanish catalogues, {n} of them for testing",
        "split | seed | test sources in training | folded | valid loss | perplexity | "
        "chrF | BLEU",
        rows,
        f"{len(parts['train'])} pairs for training, 2 layers, 1,500 subwords, 400 "
        f"updates; each seed has its own splits. {common.machine('sacrebleu')}.",
    )


def starts(work: Path) -> None:
    """Trains on a part of Europarl, from scratch and from the bundled model."""
    rows = []
    data = Path(os.environ.get("NMT_DATA", "."))
    corpus = {"data.corpus": str(data / "europarl/europarl-v7.fr-en")}
    for title, start in (("scratch", None), ("multi30k-en-fr", "multi30k-en-fr")):
        for seed in SEEDS:
            began = {"train.init_from": None if common.DRY else start}
            folder = work / f"{'o' if start else 'q'}{seed}"
            config = config_of(
                folder, **EUROPARL, **corpus, **began, **{"train.seed": seed}
            )
            rows.append([title, seed, *scores(config)])
    common.write_table(
        "own_pair_starts",
        "Europarl, English to French: 2,677 pairs, 150 updates of 1,024 tokens",
        "start | seed | valid loss | perplexity | chrF | BLEU",
        rows,
        "4,000 subwords of its own; the config is pair.yaml. "
        f"{common.machine('sacrebleu')}.",
    )


def config_of(folder: Path, **changes: Any) -> nmt.Config:
    if common.DRY:  # its corpus has other languages
        changes.pop("data.tgt_lang", None)
    return common.load_config("pair", run_dir=str(folder), **changes)


def scores(config: nmt.Config) -> list[str]:
    """The last validation loss, and the scores on the test set."""
    run = nmt.train(config)
    found = nmt.evaluate(run.translator, nmt.load_corpus(config.data).test)
    loss = f"{run.history[-1]['valid_loss']:.2f}"
    numbers = (found.perplexity, found.chrf, found.bleu)
    return [loss, *(f"{number:.1f}" for number in numbers)]


if __name__ == "__main__":
    main()
