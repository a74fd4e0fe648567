"""Corpora: pairs of sentences, from the grammar of ``tiny``, from files, or from the
Hugging Face hub (``published.py``).

A corpus can also be a file of your own, in one of the formats in ``files.py``; its
pairs are cleaned (``clean.py``). A corpus that comes in one piece is split group by
group (``split.py``).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ..config import DataConfig
from ..errors import CorpusError, printable, warn
from .clean import Report, clean, looks_swapped
from .files import moses_files, read_pairs
from .mend import mend
from .pairs import Pair
from .published import from_files, published
from .split import grouped_split


@dataclass(frozen=True)
class Contrast:
    """A source with its right translation, and one that breaks a single rule."""

    src: str
    right: str
    wrong: str


@dataclass(frozen=True)
class Corpus:
    """A corpus in three parts, and where it came from."""

    train: Sequence[Pair]
    valid: Sequence[Pair]
    test: Sequence[Pair]
    provenance: str


HELD_OUT = 2000  # pairs to validate on, and to test on, of a corpus in one piece
TOY = {  # two sentences, few enough to follow every number (write-up E)
    "de": ("ich mochte ein bier", "ich mochte ein cola"),
    "en": ("i want a beer .", "i want a coke ."),
}
NAMES = ("tiny", "toy", "multi30k", "multi30k-tok", "europarl")


def load_corpus(data: DataConfig) -> Corpus:
    """The corpus that a config names.

    Pairs with an empty side are dropped, and a warning says how many.

    Args:
        data: ``data.corpus`` is one of ``NAMES``, a folder that holds ``train.xx``,
            ``valid.xx`` and ``test.xx``, or a file of pairs.

    Raises:
        CorpusError: an unknown name, a missing file, unequal line counts, text that is
            not UTF-8, no pairs left, or no network.
    """
    splits, provenance = _find_splits(data)
    for name, pairs in splits.items():
        splits[name] = [pair for pair in pairs if pair.src and pair.tgt]
        if dropped := len(pairs) - len(splits[name]):
            warn(
                f"{data.corpus} {name}: left out {dropped} of {len(pairs)} pairs, "
                "one side is empty"
            )
    if "valid" not in splits:
        pairs = splits["train"]
        split = grouped_split(pairs, held_out(len(pairs)), data.seed)
        splits = {"train": split.train, "valid": split.valid, "test": split.test}
        provenance += f"; pairs in the largest group: {split.largest}"
    train = splits["train"][: data.limit]
    if not train or not splits["valid"]:
        raise CorpusError(
            f"corpus {data.corpus}: nothing is left to train or to validate on "
            f"({provenance})"
        )
    return Corpus(train, splits["valid"], splits["test"], provenance)


def _find_splits(data: DataConfig) -> tuple[dict[str, list[Pair]], str]:
    name = data.corpus
    langs = src, tgt = data.src_lang, data.tgt_lang
    if name == "tiny":
        splits = dict(_tiny(src, tgt))
        return splits, "made by the grammar in nmt_lib/data/tiny/grammar.py"
    if name == "toy":
        if {*langs} != {"de", "en"}:
            raise CorpusError(
                f"corpus toy has German and English only, not {src}→{tgt}"
            )
        pairs = [Pair(*sentences) for sentences in zip(TOY[src], TOY[tgt], strict=True)]
        splits = dict.fromkeys(("train", "valid", "test"), pairs)
        return splits, "two sentences written in nmt_lib/data/corpora.py"
    path = Path(os.path.expanduser(name))
    if name not in NAMES and os.path.isdir(path):
        files = {split: split for split in ("train", "valid", "test")}
        texts, provenance = from_files(path, files, langs), f"files in {name}"
    elif name in NAMES:
        # ``load_corpus`` cuts the training part, after 2 × HELD_OUT pairs are held out.
        limit = data.limit and data.limit + 2 * HELD_OUT
        texts, provenance = published(name, src, tgt, limit)
    elif os.path.isfile(path) or moses_files(path, langs):
        return _from_pair_file(name, langs)
    else:
        raise CorpusError(
            f"unknown corpus {name!r}: choose one of {', '.join(NAMES)}, or give an "
            "existing folder, or a file of sentence pairs"
        )
    splits = {split: [Pair(*pair) for pair in part] for split, part in texts.items()}
    return splits, provenance


@cache
def _tiny(src: str, tgt: str) -> dict[str, list[Pair]]:
    from .tiny.corpus import generate
    from .tiny.spelling import LANGUAGES

    if not {src, tgt} <= set(LANGUAGES):
        raise CorpusError(
            f"corpus tiny has {', '.join(LANGUAGES)} only, not {src}→{tgt}: give a "
            "file of sentence pairs as data.corpus"
        )
    return {
        split: [Pair(t.text(src), t.text(tgt), t.alignment(src, tgt)) for t in triples]
        for split, triples in generate().items()
    }


def held_out(n: int) -> int:
    """How many of n pairs to hold out for validation, and as many again for testing."""
    return min(HELD_OUT, n // 20)


def _from_pair_file(
    name: str, langs: tuple[str, str]
) -> tuple[dict[str, list[Pair]], str]:
    """The pairs of a file, and where they came from; warns about what was left out."""
    pairs, report = load_pairs(name, *langs)
    provenance = (
        f"{len(pairs)} of {len(pairs) + report.left_out.total()} pairs of {name}"
    )
    for what, counts in (("left out", report.left_out), ("mended", report.mended)):
        if counts:
            numbers = ", ".join(f"{why} {n}" for why, n in counts.items())
            provenance += f", {what}: {numbers}"
    if report.left_out or report.mended:
        warn(provenance)
    for remark in report.remarks:
        warn(f"{name}: {remark}")
    return {"train": pairs}, provenance


def load_pairs(
    path: str | os.PathLike[str], src: str, tgt: str
) -> tuple[list[Pair], Report]:
    """The cleaned pairs of a file, and what was left out, mended and odd.

    The formats, the arguments and the errors are those of ``read_pairs``.
    """
    report = Report()
    texts = list(read_pairs(path, src, tgt, report.left_out, report.columns))
    try:
        texts = clean(mend(texts, report), report)
    except CorpusError as error:
        raise CorpusError(f"{printable(path)}: {error}") from None
    pairs = [Pair(*sentences) for sentences in texts]
    if looks_swapped(pairs, src, tgt):
        report.remarks.append(
            "English seems to be on the other side: change the languages"
        )
    return pairs, report
