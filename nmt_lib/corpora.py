"""Corpora: pairs of sentences, from the grammar of ``tiny``, from files, or from the Hugging Face hub.

``NMT_DATA`` names a folder that holds corpora under their published file names (``multi30k/train.en``,
``europarl/europarl-v7.fr-en.fr`` …, each plain or as ``.gz``). Without it, ``datasets`` brings them from the hub.
"""

from __future__ import annotations

import gzip
import os
import random
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .errors import CorpusError, warn
from .rows import Pair, Rows, as_rows, mapped_anew, stored_rows

if TYPE_CHECKING:
    from .config import DataConfig


@dataclass(frozen=True)
class Corpus:
    """Three sequences of pairs, and where they came from."""

    train: Sequence[Pair]
    valid: Sequence[Pair]
    test: Sequence[Pair]
    provenance: str


# The files of each published corpus: split → name, where {lang} stands for the language.
FILES = {
    "multi30k": {
        "train": "train.{lang}",
        "valid": "val.{lang}",
        "test": "test_2016_flickr.{lang}",
    },
    "multi30k-tok": {
        "train": "train.lc.norm.tok.{lang}",
        "valid": "val.lc.norm.tok.{lang}",
        "test": "test_2016_flickr.lc.norm.tok.{lang}",
    },
}
TOY = {  # two sentences with which one can follow every number (write-up E)
    "de": ("ich mochte ein bier", "ich mochte ein cola"),
    "en": ("i want a beer .", "i want a coke ."),
}
NAMES = ("tiny", "toy", "multi30k", "multi30k-tok", "europarl")


def load_corpus(data: DataConfig) -> Corpus:
    """The corpus that a config names. Pairs with an empty side are dropped, counted, and named in a warning.

    Args:
        data: ``data.corpus`` is one of ``NAMES``, or a folder that holds ``train.xx``, ``valid.xx`` and ``test.xx``.

    Raises:
        CorpusError: unknown name, missing file, unequal line counts, not UTF-8, nothing left, no network.
    """
    splits, provenance = _find(data)
    splits = {
        name: _drop_empty(pairs, f"{data.corpus} {name}")
        for name, pairs in splits.items()
    }
    if "valid" not in splits:
        splits = _hold_out(splits["train"], data.seed)
    train = splits["train"][: data.limit]
    if not train or not splits["valid"]:
        raise CorpusError(
            f"corpus {data.corpus}: nothing is left to train or to validate on ({provenance})"
        )
    return Corpus(train, splits["valid"], splits["test"], provenance)


def _find(data: DataConfig) -> tuple[dict[str, Rows[Pair]], str]:
    name, langs = data.corpus, (data.src_lang, data.tgt_lang)
    if name == "tiny":
        return _tiny(*langs), "made by the grammar in nmt_lib/tiny/grammar.py"
    if name == "toy":
        return _toy(*langs), "two sentences written in nmt_lib/corpora.py"
    if name not in NAMES and os.path.isdir(name):
        files = {split: f"{split}.{{lang}}" for split in ("train", "valid", "test")}
        return _from_files(Path(name), files, langs), f"files in {name}"
    if name not in NAMES:
        raise CorpusError(
            f"unknown corpus {name!r}: choose one of {', '.join(NAMES)}, or give an existing folder"
        )
    folder = os.environ.get("NMT_DATA")
    if folder:
        files = FILES.get(name) or {"train": _europarl_name(*langs)}
        return _from_files(
            Path(folder) / name, files, langs
        ), f"files of {name} under NMT_DATA"
    return _from_hub(name, *langs, data.limit)


@cache
def _tiny(src_lang: str, tgt_lang: str) -> dict[str, Rows[Pair]]:
    from .tiny.corpus import generate

    return {
        split: as_rows(
            [
                Pair(
                    t.text(src_lang), t.text(tgt_lang), t.alignment(src_lang, tgt_lang)
                )
                for t in triples
            ]
        )
        for split, triples in generate().items()
    }


def _toy(src_lang: str, tgt_lang: str) -> dict[str, Rows[Pair]]:
    if {src_lang, tgt_lang} != {"de", "en"}:
        raise CorpusError(
            f"corpus toy has German and English only, not {src_lang}→{tgt_lang}"
        )
    pairs = as_rows(
        [Pair(src, tgt) for src, tgt in zip(TOY[src_lang], TOY[tgt_lang], strict=True)]
    )
    return dict.fromkeys(("train", "valid", "test"), pairs)


def _europarl_name(src_lang: str, tgt_lang: str) -> str:
    other = tgt_lang if src_lang == "en" else src_lang
    if "en" not in (src_lang, tgt_lang):
        raise CorpusError(
            f"europarl pairs every language with English, so {src_lang}→{tgt_lang} is not published"
        )
    return f"europarl-v7.{other}-en.{{lang}}"


def _from_files(
    folder: Path, files: dict[str, str], langs: tuple[str, str]
) -> dict[str, Rows[Pair]]:
    paths = {
        split: [_file(folder / name.format(lang=lang)) for lang in langs]
        for split, name in files.items()
    }
    return {
        split: stored_rows(_line_pairs, *map(_stamped, both))
        for split, both in paths.items()
    }


def _stamped(path: Path) -> tuple[str, int, int]:
    """A file that is written to has another size or time, and is read anew."""
    return str(path.resolve()), path.stat().st_size, path.stat().st_mtime_ns


def _line_pairs(src: tuple[str, int, int], tgt: tuple[str, int, int]) -> Iterator[Pair]:
    src_path, tgt_path, counts = Path(src[0]), Path(tgt[0]), [0, 0]
    for lines in zip_longest(_lines(src_path), _lines(tgt_path)):
        counts = [n + (line is not None) for n, line in zip(counts, lines, strict=True)]
        if counts[0] == counts[1]:
            yield Pair(*lines)
    if counts[0] != counts[1]:
        raise CorpusError(
            f"{src_path} has {counts[0]} lines but {tgt_path} has {counts[1]}: "
            "line n of one must translate line n of the other"
        )


def _file(path: Path) -> Path:
    packed = path.with_name(path.name + ".gz")
    found = next((file for file in (path, packed) if file.is_file()), None)
    if found is None:
        raise CorpusError(
            f"no file {path} (nor {packed.name}): put the corpus there or set NMT_DATA to its folder"
        )
    return found


def _lines(path: Path) -> Iterator[str]:
    number = 0
    try:
        with gzip.open(path) if path.suffix == ".gz" else open(path, "rb") as file:
            for number, line in enumerate(file, 1):  # only line feeds end a line
                text = line.decode("utf-8-sig" if number == 1 else "utf-8")
                if text:  # a file may hold nothing but the mark of UTF-8
                    yield text.strip()
    except UnicodeDecodeError as error:
        raise CorpusError(
            f"{path}, line {number}: not UTF-8 ({error.reason}); convert the file to UTF-8"
        ) from None
    except (OSError, EOFError, zlib.error) as error:
        raise CorpusError(f"cannot read {path}: {error}") from None


def _drop_empty(pairs: Rows[Pair], where: str) -> Rows[Pair]:
    import pyarrow.compute as pc

    table = mapped_anew(pairs.dataset)[:]
    kept = np.flatnonzero(
        pc.and_(
            pc.not_equal(table["src"], ""), pc.not_equal(table["tgt"], "")
        ).to_numpy()
    )
    if len(kept) == len(pairs):
        return pairs
    warn(
        f"{where}: left out {len(pairs) - len(kept)} of {len(pairs)} pairs, one side is empty"
    )
    return pairs.select(kept)


def _hold_out(pairs: Rows[Pair], seed: int) -> dict[str, Rows[Pair]]:
    """Splits a corpus that is published as one piece: a twentieth (at most 2,000) each to validate and to test on."""
    rows = np.array(
        random.Random(seed).sample(range(len(pairs)), len(pairs)), dtype=np.int64
    )
    size = min(2000, len(pairs) // 20)
    parts = {
        "valid": rows[:size],
        "test": rows[size : 2 * size],
        "train": rows[2 * size :],
    }
    return {name: pairs.select(part) for name, part in parts.items()}


def _from_hub(
    name: str, src: str, tgt: str, limit: int | None
) -> tuple[dict[str, Rows[Pair]], str]:
    from huggingface_hub.constants import ENDPOINT

    hub_name, config = {
        "multi30k": (
            "bentrevett/multi30k" if "fr" not in (src, tgt) else "romrawinjp/multi30k",
            None,
        ),
        "europarl": ("Helsinki-NLP/europarl", "-".join(sorted((src, tgt)))),
    }.get(name, (None, None))
    if hub_name is None:
        raise CorpusError(
            f"corpus {name} is not on the hub: set NMT_DATA to a folder that holds {name}/"
        )
    splits = (
        {"train": "train"}
        if name == "europarl"
        else {"train": "train", "valid": "validation", "test": "test"}
    )
    found = {
        ours: stored_rows(
            _hub_pairs,
            name,
            hub_name,
            config,
            split,
            src,
            tgt,
            limit if ours == "train" else None,
        )
        for ours, split in splits.items()
    }
    return found, f"{hub_name} on {ENDPOINT.partition('://')[2]}"


def _hub_pairs(
    name: str,
    hub_name: str,
    config: str | None,
    split: str,
    src: str,
    tgt: str,
    limit: int | None,
) -> Iterator[Pair]:
    import datasets
    from huggingface_hub.constants import ENDPOINT
    from huggingface_hub.utils import get_session

    try:
        get_session().head(
            ENDPOINT, timeout=2
        )  # any answer will do; ``datasets`` would try again for half a minute
    except Exception:
        raise CorpusError(
            f"corpus {name}: {ENDPOINT} cannot be reached. Three ways on: connect to the network; set NMT_DATA to a "
            f"folder that holds {name}/; or use the config 'tiny', which needs no download"
        ) from None
    try:
        stream = datasets.load_dataset(hub_name, config, split=split, streaming=True)
        for row in islice(
            stream if name == "europarl" else stream.select_columns([src, tgt]), limit
        ):
            row = row.get("translation", row)
            yield Pair(row[src].strip(), row[tgt].strip())
    except (
        Exception
    ) as error:  # whatever the network does, the reader gets one sentence
        message = f"corpus {name}: reading {hub_name} from {ENDPOINT} failed ({error}); set NMT_DATA to use files"
        raise CorpusError(message) from None
