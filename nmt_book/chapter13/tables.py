"""What chapter 13 says about a pair of one's own: how much a leak flatters, what a run
gains that begins with a bundled model, how good how many pairs are, what a lost line
costs, and what cleaning finds of planted damage.

Run: ``NMT_DATA=… OMP_NUM_THREADS=1 python -m nmt_book.chapter13.tables CATALOGUES
WORK``, where CATALOGUES is a folder with the unpacked wheels of ``django`` and
``jupyterlab-language-pack-es-ES``, and WORK keeps the runs: a finished one is loaded.
"""

from __future__ import annotations

import argparse
import html
import os
import random
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polib

import nmt_lib as nmt
from nmt_lib.data.clean import Report, clean
from nmt_lib.data.files import messages
from nmt_lib.data.mend import line_offsets, mend

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
    lost_line(options.work)
    mended(options.catalogues)


def spanish(folder: Path) -> list[nmt.Pair]:
    """The messages of all Spanish catalogues, cleaned."""
    if benchmark.DRY:
        return [nmt.Pair(f"a {i // 2}", f"b {i}") for i in range(100)]
    report = Report()
    files = sorted(file for file in folder.rglob("*.mo") if "/es" in str(file))
    texts = [
        pair
        for file in files
        for pair in messages(polib.mofile(str(file)), report.left_out)
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
            parts = {"train": split.train, "valid": split.valid, "test": split.test}
            benchmark.write_corpus(folder, ("en", "es"), **parts)
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


def lost_line(work: Path) -> None:
    """Trains on 3,000 captions, as they are and without one target in their middle."""
    pairs = nmt.load_corpus(benchmark.load_config("multi30k").data).train
    n, rows = len(pairs[:3000]), []
    parts = {"valid": pairs[27_000:27_300] or pairs, "test": pairs[28_000:] or pairs}
    for title in ("as they are", "one line lost"):
        targets = [pair.tgt for pair in pairs[:n]]
        if title == "one line lost":
            del targets[n // 2]
            targets.append(pairs[n].tgt if len(pairs) > n else "The end.")
        folder = work / title.replace(" ", "_")
        train = [nmt.Pair(p.src, tgt) for p, tgt in zip(pairs, targets, strict=False)]
        benchmark.write_corpus(folder, ("en", "de"), train=train, **parts)
        changes = {"data.tgt_lang": "de", "train.max_steps": 1180}
        run = lab.trained(config_of(folder, changes, folder), "run")
        loss = f"{min(row['valid_loss'] for row in run.history):.2f}"
        rows.append([title, loss, *scores(run)[1:]])
    benchmark.write_table(
        "own_pair_lost_line",
        "3,000 captions, English to German, with one target lost in the middle",
        "captions | lowest valid loss | perplexity | chrF | BLEU",
        rows,
        "pair.yaml, 1,180 updates, one seed. Validated on 300 and scored on 1,000 "
        "other captions, both undamaged.",
        "sacrebleu",
    )


def mended(catalogues: Path) -> None:
    """Undamaged files, and the same with damage of all kinds."""
    rows = []
    for name, texts in undamaged(catalogues):
        lines = [(" ".join(src.split()), " ".join(tgt.split())) for src, tgt in texts]
        moved = sum(offset != 0 for offset in line_offsets(*zip(*lines, strict=True)))
        n, report = len(lines), Report()
        clean(lines, report)
        src, tgt = (list(side) for side in zip(*lines, strict=True))
        short = [*tgt[: n // 2], *tgt[n // 2 + 1 :], "The end."]
        path, truth = line_offsets(src, short), [0] * (n // 2) + [-1] * (n - n // 2)
        right = sum(a == b for a, b in zip(path, truth, strict=True)) / n
        kinds = ("in the language of the other side", "unusual lengths")
        shares = [f"{100 * report.left_out[kind] / n:.2f} %" for kind in kinds]
        rows.append([name, n, moved, *shares, f"{100 * right:.1f} %", *planted(lines)])
    benchmark.write_table(
        "own_pair_mended",
        "What cleaning finds: undamaged files, and damage that is planted",
        "file | lines | moved | called another language | called unusual | one line "
        "lost: right after | all planted: right before | after | right ones lost",
        rows,
        "All planted: one target lost in the middle; 5 % of the targets are other "
        "sources, 5 % copies in capitals, 2 % in a wrong encoding, 3 % of other "
        "sentences, 3 % cut in half; a quarter of the pairs escaped.",
    )


def undamaged(catalogues: Path) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Names and pairs of undamaged files."""
    tiny = nmt.load_corpus(nmt.load_config("tiny").data).train[:3000]
    yield "the grammar, en-fr", [(pair.src, pair.tgt) for pair in tiny]
    if benchmark.DRY:
        return
    for lang in ("de", "fr"):
        data = benchmark.load_config("multi30k", **{"data.tgt_lang": lang}).data
        captions = nmt.load_corpus(data).train[:10_000]
        yield f"Multi30k, en-{lang}", [(pair.src, pair.tgt) for pair in captions]
    europarl = Path(os.environ.get("NMT_DATA", ".")) / "europarl/europarl-v7.fr-en"
    yield "Europarl, en-fr", list(nmt.read_pairs(europarl, "en", "fr", Counter()))
    for lang in ("ar", "cy", "ja", "pl", "sw", "vi", "zh_Hans"):
        files = sorted(catalogues.rglob(f"locale/{lang}/LC_MESSAGES/django.po"))
        code = lang.partition("_")[0]
        pairs = [p for f in files for p in nmt.read_pairs(f, "en", code, Counter())]
        yield f"Django, en-{code}", pairs


def planted(lines: list[tuple[str, str]]) -> list[str]:
    """The shares of right pairs, before and after cleaning, and of those lost."""
    draw, n, whole = random.Random(0), len(lines), []
    src, tgt = (list(side) for side in zip(*lines, strict=True))
    for i, (source, target) in enumerate(lines):
        kind = draw.random()
        if kind < 0.05:
            tgt[i] = draw.choice(lines)[0]
        elif kind < 0.1:
            tgt[i] = source.upper()
        elif kind < 0.12:
            tgt[i] = target.encode().decode("latin-1")
        elif kind < 0.15:
            tgt[i] = draw.choice(lines)[1]
        elif kind < 0.18:
            tgt[i] = target[: len(target) // 2]
        if not 0.12 > kind >= 0.1 and kind < 0.18:
            continue
        whole.append((source, target))
        if draw.random() < 0.25:
            src[i], tgt[i] = html.escape(src[i]), html.escape(html.escape(tgt[i]))
    dirty = list(
        zip(src, [*tgt[: n // 2], *tgt[n // 2 + 1 :], "The end."], strict=True)
    )
    report, right = Report(), set(lines)
    kept = clean(mend(dirty, report), report)
    n_right = sum(pair in right for pair in kept)
    before = sum(pair in right for pair in dirty) / n
    lost = len({*filter(all, whole)} - set(kept)) / len(whole)
    shares = before, n_right / max(1, len(kept)), lost
    return [f"{100 * share:.1f} %" for share in shares]


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
