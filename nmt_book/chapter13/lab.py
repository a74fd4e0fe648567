"""Chapter 13: a reader's own pair, trained, compared and read."""

from __future__ import annotations

import random
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import torch

import nmt_lib as nmt
from nmt_lib.data.corpora import is_file_of_pairs
from nmt_lib.training.run_folder import runs_folder

STAND_IN = {
    "data.vocab_size": 500,
    "train.max_steps": 80,
    "train.batch_tokens": 512,
    "train.warmup": 20,
    "train.validate_every": 20,
    "train.threads": 1,
}


def own_pair(config: str, overrides: str) -> nmt.Config:
    """The config of a reader's file, or of a stand-in where none is given."""
    settings = nmt.load_config(config, **nmt.parse_overrides(overrides))
    langs = settings.data.src_lang, settings.data.tgt_lang
    if is_file_of_pairs(settings.data.corpus, langs):
        return settings
    folder = Path(mkdtemp(prefix="nmt-own-pair-"))
    changes = {"data.corpus": str(write_stand_in(folder / "pairs.tsv"))}
    return nmt.load_config("pair", run_dir=str(folder), **STAND_IN, **changes)


def write_stand_in(file: Path) -> Path:
    """A tab-separated file of the grammar's sentences, with dirt planted in it."""
    pairs = nmt.load_corpus(nmt.load_config("tiny").data).train[:600]
    lines = [f"{pair.src}\t{pair.tgt}\tgrammar" for pair in pairs]
    for pair in pairs[::2]:  # with a second translation
        first, rest = pair.tgt[0].lower(), pair.tgt[1:]
        lines.append(f"{pair.src}\tAlors, {first}{rest}\tgrammar")
    lines += random.Random(0).sample(lines, 30)  # twice
    lines += [f"{pair.src}\t\tgrammar" for pair in pairs[:9]]
    lines += [f"{pair.src}\t{pair.src}\tgrammar" for pair in pairs[20:27]]
    lines += [f"{pair.src}\tПривет, мир!\tgrammar" for pair in pairs[30:34]]
    lines += [pair.src for pair in pairs[40:45]]
    lines += [f"{pair.src}\t{pair.tgt[:-4]}\ufffd{pair.tgt[-2:]}" for pair in pairs[:3]]
    random.Random(1).shuffle(lines)
    lines.insert(3, '"Good morning.\tBonjour.\tgrammar')  # a quotation mark alone
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file


def trained(config: nmt.Config, name: str, **changes: Any) -> nmt.Run:
    """A run of its own, in the config's folder; it resumes if it was cut off.

    The pairs that are left out were counted before: no warning repeats it.
    """
    folder = Path(config.run_dir) if config.run_dir else runs_folder() / config.name
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"\d+ of \d+ pairs of ")
        return nmt.train(config, name=name, run_dir=str(folder / name), **changes)


def split_of(config: nmt.Config) -> nmt.Corpus:
    """The corpus of a config, without the warning that counts what is left out."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"\d+ of \d+ pairs of ")
        return nmt.load_corpus(config.data)


def three_seeds(
    config: nmt.Config, bundled: str | None = "multi30k-en-fr"
) -> dict[str, list[nmt.Run]]:
    """Runs from scratch and from the bundled model, three of each."""
    starts = {"from scratch": None, f"from {bundled}": bundled}
    return {
        title: [
            trained(
                config,
                f"{'own' if start is None else 'moved'}-{seed}",
                **{"train.seed": seed, "train.init_from": start},
            )
            for seed in range(3)
        ]
        for title, start in starts.items()
    }


def losses(runs: Sequence[nmt.Run]) -> torch.Tensor:
    """The validation losses of several runs, ``(runs, n)``."""
    return torch.tensor([[row["valid_loss"] for row in run.history] for run in runs])


def chrf_of(scores: nmt.Evaluation, pairs: Sequence[nmt.Pair]) -> torch.Tensor:
    """The chrF of each sentence, ``(N,)``."""
    from sacrebleu.metrics import CHRF

    results = zip(scores.translations, pairs, strict=True)
    metric = CHRF()
    values = [metric.sentence_score(t.text, [p.tgt]).score for t, p in results]
    return torch.tensor(values)


def show_side_by_side(
    pairs: Sequence[nmt.Pair], systems: Mapping[str, nmt.Evaluation], n: int
) -> None:
    """The first n sources with their references and translations."""
    for i, pair in enumerate(pairs[:n]):
        print(f"source     {pair.src}\nreference  {pair.tgt}")
        for title, scores in systems.items():
            print(f"           {excerpt(scores.translations[i].text)}   ({title})")
        print()


def excerpt(text: str, limit: int = 60) -> str:
    return text if len(text) <= limit else f"{text[:limit]} …"


def write_sheet(
    file: Path, pairs: Sequence[nmt.Pair], systems: Mapping[str, nmt.Evaluation]
) -> Path:
    """A table for a person who judges: the order of the systems changes row by row.

    The last column says which was which; hide it before you read.
    """
    draw, rows = random.Random(0), ["source\treference\tA\tB\tbetter\tA was"]
    for i, pair in enumerate(pairs[:50]):
        outputs = [(name, s.translations[i].text) for name, s in systems.items()]
        draw.shuffle(outputs)
        texts = (pair.src, pair.tgt, outputs[0][1], outputs[1][1])
        rows.append("\t".join([*texts, "", outputs[0][0]]))
    file.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return file
