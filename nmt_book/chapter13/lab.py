"""Chapter 13: a reader's own pair, trained, compared and read."""

from __future__ import annotations

import random
import warnings
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import torch

import nmt_lib as nmt
from nmt_lib.data.pairs import references_by_source
from nmt_lib.data.split import group
from nmt_lib.errors import warn
from nmt_lib.training.run_folder import runs_folder

from . import check

STAND_IN = {
    "data.vocab_size": 500,
    "train.max_steps": 40,
    "train.batch_tokens": 512,
    "train.warmup": 10,
    "train.validate_every": 10,
    "train.threads": 1,
}


def own_pair(config: str, overrides: str) -> nmt.Config:
    """The config of a reader's file, or of a stand-in where she gives none.

    Raises:
        CorpusError: ``data.corpus`` is no file of pairs in these languages.
    """
    changes = nmt.parse_overrides(overrides)
    if "data.corpus" in changes and config == "tiny":  # as the page has it
        config = "pair"
    settings = nmt.load_config(config, **changes)
    if "data.corpus" in changes or config == "pair":
        data = settings.data
        pairs = [*nmt.read_pairs(data.corpus, data.src_lang, data.tgt_lang, Counter())]
        usual = {"train.max_steps": 300} if config == "pair" else {}
        settings = nmt.load_config(config, **usual | changes)
        print(
            f"Your file, {data.src_lang} to {data.tgt_lang}: section 6 trains four "
            f"times, {settings.train.max_steps} updates each."
        )
        # Other settings, and the same file once it was mended, have runs of their own.
        digest = zlib.crc32(repr((settings, pairs)).encode())
        own = runs_folder() / f"{settings.name}-{digest:08x}"
        return nmt.load_config(settings, run_dir=settings.run_dir or str(own))
    folder = Path(mkdtemp(prefix="nmt-own-pair-"))
    changes = {key: value for key, value in changes.items() if key[:6] == "train."}
    changes["data.corpus"] = str(write_stand_in(folder / "pairs.tsv"))
    print("This is the stand-in: sentences of our grammar, English and French.")
    return nmt.load_config("pair", run_dir=str(folder), **STAND_IN | changes)


def is_stand_in(config: nmt.Config) -> bool:
    return "nmt-own-pair-" in config.data.corpus


def write_stand_in(file: Path) -> Path:
    """A tab-separated file of the grammar's sentences, with dirt planted in it."""
    pairs = nmt.load_corpus(nmt.load_config("tiny").data).train[:600]
    rows = [(pair.src, pair.tgt) for pair in pairs]
    for src, tgt in rows[:600:2]:  # with a second translation
        rows.append((src, f"Alors, {tgt[0].lower()}{tgt[1:]}"))
    draw = random.Random(0)
    rows += draw.sample(rows, 30)  # twice
    rows += [(src, "") for src, _ in rows[:9]]
    rows += [(src, src) for src, _ in rows[20:27]]
    rows += [(src, "Привет, мир!") for src, _ in rows[30:34]]
    rows += [(rows[i][0], rows[i + 7][0]) for i in range(50, 70)]  # not French
    rows += [(src, f"{tgt[:-4]}\ufffd{tgt[-2:]}") for src, tgt in rows[:3]]
    draw.shuffle(rows)
    for i in range(0, len(rows), 9):
        src, tgt = rows[i]
        escaped = tgt.replace("'", "&amp;#39;").replace("é", "&eacute;")
        rows[i] = src, tgt.encode().decode("latin-1") if i % 2 else escaped
    sources, targets = map(list, zip(*rows, strict=True))
    del targets[len(rows) // 2]  # from here on every line has the next translation
    targets.append("Fin.")
    rows = list(zip(sources, targets, strict=True))
    rows.insert(3, ('"Good morning.', "Bonjour."))  # a quotation mark alone
    lines = [f"{src}\t{tgt}\tgrammar" for src, tgt in rows]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file


def lengths(pairs: Sequence[tuple[str, str]]) -> tuple[torch.Tensor, torch.Tensor]:
    """The lengths of the sources and of the targets, each ``(N,)``, in letters."""
    sides = [[float(len(text)) for text in pair] for pair in pairs]
    sources, targets = torch.tensor(sides).reshape(-1, 2).unbind(1)
    return sources, targets


def correlations(
    pairs: Sequence[tuple[str, str]], block: int = 100
) -> dict[str, list[float]]:
    """How well lengths correlate, block by block, at offsets from -2 to 2."""
    result: dict[str, list[float]] = {}
    (src, tgt), n = lengths(pairs), len(pairs)
    for offset in (-2, -1, 0, 1, 2):
        values: list[float] = []
        for first in range(0, max(1, n - block + 1), block):
            rows = torch.arange(max(first, -offset), min(first + block, n, n - offset))
            table = torch.stack([src[rows], tgt[rows + offset]])  # (2, rows)
            values.append(torch.corrcoef(table)[0, 1].nan_to_num().item())
        result[f"{offset:+d}" if offset else "0"] = values
    return result


def trained(config: nmt.Config, name: str, **changes: Any) -> nmt.Run:
    """A run of its own, in the config's folder; it resumes if it was cut off.

    The pairs that are left out were counted before: no warning repeats it.
    """
    folder = Path(config.run_dir)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"\d+ of \d+ pairs of ")
        return nmt.train(config, name=name, run_dir=str(folder / name), **changes)


def split_of(config: nmt.Config) -> nmt.Corpus:
    """The corpus of a config, without the warning that counts what is left out."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"\d+ of \d+ pairs of ")
        return nmt.load_corpus(config.data)


def several_runs(
    config: nmt.Config, bundled: str | None = "multi30k-en-fr", n_scratch: int = 0
) -> dict[str, list[nmt.Run]]:
    """Three runs from the bundled model, and as many from scratch (of a reader's file
    one, unless ``n_scratch`` says how many)."""
    n_scratch = n_scratch or (3 if is_stand_in(config) else 1)
    starts = {"from scratch": (None, n_scratch), f"from {bundled}": (bundled, 3)}
    return {
        title: [
            trained(
                config,
                f"{'own' if start is None else 'moved'}-{seed}",
                **{"train.seed": config.train.seed + seed, "train.init_from": start},
            )
            for seed in range(n_seeds)
        ]
        for title, (start, n_seeds) in starts.items()
    }


def best_of(runs: Mapping[str, Sequence[nmt.Run]]) -> nmt.Run:
    """The run with the lowest validation loss."""
    all_runs = chain.from_iterable(runs.values())
    return min(all_runs, key=lambda run: min(row["valid_loss"] for row in run.history))


def path_of(file: Path) -> str:
    """The whole path of a file; its name where the folder is temporary."""
    return file.name if "nmt-own-pair-" in str(file) else str(file.resolve())


def losses(runs: Sequence[nmt.Run]) -> torch.Tensor:
    """The validation losses of several runs, ``(runs, n)``."""
    return torch.tensor([[row["valid_loss"] for row in run.history] for run in runs])


def chrf_of(scores: nmt.Evaluation, pairs: Sequence[nmt.Pair]) -> torch.Tensor:
    """The chrF of each source, ``(N,)``, against all its references."""
    from sacrebleu.metrics import CHRF

    metric, texts = CHRF(), [translation.text for translation in scores.translations]
    outputs = dict(zip([pair.src for pair in pairs], texts, strict=True))
    return torch.tensor(
        [
            metric.sentence_score(outputs[src], references).score
            for src, references in references_by_source(pairs).items()
        ]
    )


def groups_of(pairs: Sequence[nmt.Pair]) -> torch.Tensor:
    """The number of each source's group, ``(N,)``: sources that share a target."""
    sources = {src: i for i, src in enumerate(references_by_source(pairs))}
    numbers = torch.zeros(len(sources), dtype=torch.long)
    for number, members in enumerate(group(pairs)):
        for pair in members:
            numbers[sources[pair.src]] = number
    if (n := int(numbers.max()) + 1) < 20:  # see ``coverage``
        warn(f"an interval of {n} groups of sentences is too narrow: 20 are needed")
    return numbers


def bleu_of_second(pairs: Sequence[nmt.Pair]) -> float:
    """BLEU of second references against the first ones, where there are two."""
    from sacrebleu.metrics import BLEU

    texts = [refs[:2] for refs in references_by_source(pairs).values() if len(refs) > 1]
    if not texts:
        return float("nan")
    first, second = map(list, zip(*texts, strict=True))
    return float(BLEU().corpus_score(second, [first]).score)


def coverage(draw_groups: bool, n_groups: int = 100, sets: int = 4000) -> float:
    """How often a 95 % interval holds the true gain of 0, on simulated test sets.

    Groups have 1 to 8 sentences; half of a gain's variance is its group's.
    """
    draw, hits = torch.Generator().manual_seed(0), 0
    weights = torch.tensor([0.55, 0.2, 0.1, 0.05, 0.04, 0.03, 0.02, 0.01])
    for _ in range(sets):
        sizes = 1 + torch.multinomial(weights, n_groups, True, generator=draw)
        groups = torch.arange(n_groups).repeat_interleave(sizes)
        shared = torch.randn(n_groups, generator=draw)[groups]
        gains = shared + torch.randn(len(groups), generator=draw)
        if not draw_groups:
            groups = torch.arange(len(gains))
        n = int(groups.max()) + 1
        draws = torch.randint(n, (400, n), generator=draw)
        low, high = check.my_interval.right(gains, groups, draws).tolist()
        hits += low <= 0 <= high
    return hits / sets


def show_side_by_side(
    pairs: Sequence[nmt.Pair], systems: Mapping[str, nmt.Evaluation], n: int
) -> None:
    """The first n different sources with their references and translations."""
    rows = {pair.src: i for i, pair in reversed(list(enumerate(pairs)))}
    references = references_by_source(pairs)
    for src in list(references)[:n]:
        print(f"source     {src}\nreference  {' / '.join(references[src])}")
        for title, scores in systems.items():
            print(
                f"           {excerpt(scores.translations[rows[src]].text)}   ({title})"
            )
        print()


def excerpt(text: str, limit: int = 60) -> str:
    return text if len(text) <= limit else f"{text[:limit]} …"


def write_sheet(
    folder: Path, pairs: Sequence[nmt.Pair], systems: Mapping[str, nmt.Evaluation]
) -> tuple[Path, Path]:
    """A table for a person who judges two systems, and the key, which she doesn't get.

    Which system is A changes row by row.
    """
    draw, rows = random.Random(0), ["source\treference\tA\tB\tbetter"]
    keys = ["A was"]
    for i, pair in enumerate(pairs[:50]):
        outputs = [(name, s.translations[i].text) for name, s in systems.items()]
        draw.shuffle(outputs)
        rows.append("\t".join([pair.src, pair.tgt, outputs[0][1], outputs[1][1], ""]))
        keys.append(outputs[0][0])
    files = folder / "sheet.tsv", folder / "key.tsv"
    if files[0].exists():
        raise FileExistsError(f"{files[0]} may hold somebody's choices: move it away")
    for file, lines in zip(files, (rows, keys), strict=True):
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return files
