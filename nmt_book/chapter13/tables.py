"""What chapter 13 says about a pair of one's own: how much a leak flatters, what a run
gains that begins with a bundled model, and how good how many pairs are.

Run: ``NMT_DATA=… OMP_NUM_THREADS=1 python -m nmt_book.chapter13.tables CATALOGUES
WORK``, where CATALOGUES is a folder with the unpacked wheels of ``django`` and
``jupyterlab-language-pack-es-ES``, and WORK keeps the runs: a finished one is loaded.
"""

from __future__ import annotations

import argparse
import os
import random
import time
from pathlib import Path
from typing import Any

import nmt_lib as nmt
from nmt_lib.data.clean import Report, clean

from .. import benchmark
from . import lab

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
WORTH = (  # direction, pairs, the model that a run begins with, updates
    ("en-de", 1000, "multi30k-en-fr", 440),
    ("en-de", 3000, "multi30k-en-fr", 1180),
    ("en-de", 3000, None, 1180),
    ("en-de", 10_000, "multi30k-en-fr", 2500),
    ("de-en", 1000, "multi30k-en-fr", 440),
    ("de-en", 3000, "multi30k-en-fr", 1180),
    ("de-en", 3000, None, 1180),
)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("catalogues", nargs="?", default="", type=Path)
    parser.add_argument("work", nargs="?", default=benchmark.scratch(), type=Path)
    options = benchmark.parse(parser)
    leaks(spanish(options.catalogues), options.work)
    starts(options.work)
    worth(options.work)


def spanish(folder: Path) -> list[nmt.Pair]:
    """The messages of all Spanish catalogues, cleaned."""
    if benchmark.DRY:
        return [nmt.Pair(f"a {i // 2}", f"b {i}") for i in range(100)]
    report = Report()
    files = sorted(file for file in folder.rglob("*.mo") if "/es" in str(file))
    texts = [
        pair
        for file in files
        for pair in nmt.read_pairs(file, "en", "es", report.left_out)
    ]
    return [nmt.Pair(*sides) for sides in clean(texts, report)]


def leaks(pairs: list[nmt.Pair], work: Path) -> None:
    """Trains on a random split and on one by group, with a tenth held out twice."""
    n, rows = len(pairs) // 20 * 2, []
    for seed in SEEDS:
        sample = random.Random(seed).sample(pairs, len(pairs))
        at_random = nmt.Corpus(sample[2 * n :], sample[n : 2 * n], sample[:n], "")
        by_group = nmt.grouped_split(pairs, n, seed)
        for kind, split in (("random", at_random), ("grouped", by_group)):
            folder = work / f"leak_{kind}_{seed}"
            folder.mkdir(parents=True, exist_ok=True)
            for name in ("train", "valid", "test"):
                for lang, side in (("en", "src"), ("es", "tgt")):
                    lines = [getattr(pair, side) for pair in getattr(split, name)]
                    text = "\n".join([*lines, ""])
                    (folder / f"{name}.{lang}").write_text(text, encoding="utf-8")
            config = config_of(folder, SMALL, folder)
            run = lab.trained(config, "run", **{"train.seed": seed})
            sources = {pair.src for pair in split.train}
            exact = sum(pair.src in sources for pair in split.test) / len(split.test)
            share = nmt.seen_share(split.test, split.train)
            rows.append([kind, seed, f"{exact:.0%}", f"{share:.0%}", *scores(run)])
    benchmark.write_table(
        "own_pair_leaks",
        f"{len(pairs)} pairs of Spanish catalogues, {n} of them for testing",
        "split | seed | test sources in training | folded | valid loss | perplexity | "
        "chrF | BLEU",
        rows,
        f"{len(split.train)} pairs for training, 2 layers, 1,500 subwords, 400 "
        "updates; each seed has its own splits.",
        "sacrebleu",
    )


def starts(work: Path) -> None:
    """Trains on a part of Europarl, from scratch and from the bundled model."""
    data = Path(os.environ.get("NMT_DATA", "."))
    config = config_of(work, EUROPARL, data / "europarl/europarl-v7.fr-en")
    bundled = None if benchmark.DRY else "multi30k-en-fr"
    runs = lab.several_runs(config, bundled, n_scratch=3)
    benchmark.write_table(
        "own_pair_starts",
        "Europarl, English to French: 2,677 pairs, 150 updates of 1,024 tokens",
        "start | seed | valid loss | perplexity | chrF | BLEU",
        [
            [title.removeprefix("from "), seed, *scores(run)]
            for title, group in runs.items()
            for seed, run in enumerate(group)
        ],
        "4,000 subwords of its own; the config is pair.yaml.",
        "sacrebleu",
    )


def worth(work: Path) -> None:
    """Trains on the first captions of Multi30k; scores on the last thousand of them."""
    rows = []
    for direction, n, start, updates in WORTH[:1] if benchmark.DRY else WORTH:
        src, tgt = direction.split("-")
        langs = {"data.src_lang": src, "data.tgt_lang": tgt}
        captions = benchmark.load_config("multi30k", **langs)
        pairs = nmt.load_corpus(captions.data).train
        file = work / f"{direction}_{n}.tsv"
        file.write_text("".join(f"{p.src}\t{p.tgt}\n" for p in pairs[:n]), "utf-8")
        name = f"worth_{direction}_{n}_{start or 'scratch'}"
        changes = {"train.max_steps": updates, **({} if benchmark.DRY else langs)}
        config = config_of(work, changes, file)
        seconds, began = work / f"{name}.seconds", time.process_time()
        run = lab.trained(
            config, name, **{} if benchmark.DRY else {"train.init_from": start}
        )
        if not seconds.exists():
            seconds.write_text(f"{time.process_time() - began:.0f}")
        result = nmt.evaluate(run.translator, pairs[28_000:] or pairs)
        epochs = run.history[-1]["epoch"]
        cost = f"{int(seconds.read_text()) / 60:.1f}"
        quality = f"{result.bleu:.1f}", f"{result.chrf:.1f}"
        rows.append([direction, n, start or "scratch", updates, epochs, cost, *quality])
        print(*rows[-1], flush=True)
    benchmark.write_table(
        "own_pair_worth",
        "How good are how many pairs? Captions of Multi30k",
        "direction | pairs | start | updates | epochs | CPU minutes | BLEU | chrF",
        rows,
        "One seed; pair.yaml, batches of 1,024 tokens, greedy. A tenth of the pairs is "
        "held out. Scored on 1,000 other captions of the training file. CPU time, on a "
        "machine with other work.",
        "sacrebleu",
    )


def config_of(work: Path, changes: dict[str, Any], corpus: Path) -> nmt.Config:
    if benchmark.DRY:  # its corpus has other languages
        changes = {}
    changes = changes | {"data.corpus": str(corpus)}
    return benchmark.load_config("pair", run_dir=str(work), **changes)


def scores(run: nmt.Run) -> list[str]:
    """The last validation loss, and the scores on the test set."""
    config = run.translator.config
    result = nmt.evaluate(run.translator, lab.split_of(config).test)
    loss = f"{run.history[-1]['valid_loss']:.2f}"
    numbers = (result.perplexity, result.chrf, result.bleu)
    return [loss, *(f"{number:.1f}" for number in numbers)]


if __name__ == "__main__":
    main()
