"""Corpora: pairs of sentences, from the grammar of ``tiny``, from files, or from the Hugging Face hub.

``NMT_DATA`` names a folder that holds corpora under their published file names (``multi30k/train.en``,
``europarl/europarl-v7.fr-en.fr`` …, each plain or as ``.gz``). Without it, ``datasets`` brings them from the hub.
"""

from __future__ import annotations

import gzip
import os
import random
import threading
import urllib.error
import urllib.request
import warnings
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from http.client import HTTPException
from itertools import islice, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from .errors import CorpusError
from .on_disk import OnDisk, take
from .prepared import write_once

if TYPE_CHECKING:
    from .config import DataConfig


@dataclass(frozen=True)
class Pair:
    """One sentence in two languages; ``alignment`` holds gold links (source word, target word), where known."""

    src: str
    tgt: str
    alignment: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class Corpus:
    """Three lists of pairs (with ``data.on_disk`` sequences that read from disk), and where they came from."""

    train: Sequence[Pair]
    valid: Sequence[Pair]
    test: Sequence[Pair]
    provenance: str


@dataclass(frozen=True)
class Found:
    """The pairs of one split, which are read when they are asked for; ``key`` is all that determines them."""

    pairs: Iterable[Pair]
    key: object


# The files of each published corpus: split → name, where {lang} stands for the language.
FILES = {
    "multi30k": {"train": "train.{lang}", "valid": "val.{lang}", "test": "test_2016_flickr.{lang}"},
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
    found, provenance = _find(data)
    splits = {name: _drop_empty(_read(part, data.on_disk), f"{data.corpus} {name}") for name, part in found.items()}
    if "valid" not in splits:
        splits = _hold_out(splits["train"], data.seed)
    train = splits["train"][: data.limit]
    if not train or not splits["valid"]:
        raise CorpusError(f"corpus {data.corpus}: nothing is left to train or to validate on ({provenance})")
    return Corpus(train, splits["valid"], splits["test"], provenance)


def _read(found: Found, on_disk: bool) -> Sequence[Pair]:
    """A list, or a sequence on disk; there links stand as is usual: ``1-2`` from source word 1 to target word 2."""

    def pair(src: str, tgt: str, links: str) -> Pair:
        return Pair(src, tgt, tuple((int(i), int(j)) for i, _, j in (link.partition("-") for link in links.split())))

    rows = ((p.src, p.tgt, " ".join(f"{i}-{j}" for i, j in p.alignment)) for p in found.pairs)
    return write_once(rows, pair, found.key) if on_disk else list(found.pairs)


def _find(data: DataConfig) -> tuple[dict[str, Found], str]:
    name, langs = data.corpus, (data.src_lang, data.tgt_lang)
    if name == "tiny":
        return _tiny(*langs), "made by the grammar in nmt_lib/tiny/grammar.py"
    if name == "toy":
        return _toy(*langs), "two sentences written in nmt_lib/corpora.py"
    if name not in NAMES and Path(name).is_dir():
        files = {split: f"{split}.{{lang}}" for split in ("train", "valid", "test")}
        return _from_files(Path(name), files, langs), f"files in {name}"
    if name not in NAMES:
        raise CorpusError(f"unknown corpus {name!r}: choose one of {', '.join(NAMES)}, or give an existing folder")
    folder = os.environ.get("NMT_DATA")
    if folder:
        files = FILES.get(name) or {"train": _europarl_name(*langs)}
        return _from_files(Path(folder) / name, files, langs), f"files of {name} under NMT_DATA"
    return _from_hub(name, *langs, data.limit)


def _tiny(src_lang: str, tgt_lang: str) -> dict[str, Found]:
    from .tiny.corpus import generate

    splits = {
        split: [Pair(t.text(src_lang), t.text(tgt_lang), t.alignment(src_lang, tgt_lang)) for t in triples]
        for split, triples in generate().items()
    }
    return {split: Found(pairs, key=pairs) for split, pairs in splits.items()}


def _toy(src_lang: str, tgt_lang: str) -> dict[str, Found]:
    if {src_lang, tgt_lang} != {"de", "en"}:
        raise CorpusError(f"corpus toy has German and English only, not {src_lang}→{tgt_lang}")
    pairs = [Pair(src, tgt) for src, tgt in zip(TOY[src_lang], TOY[tgt_lang], strict=True)]
    return dict.fromkeys(("train", "valid", "test"), Found(pairs, key=pairs))


def _europarl_name(src_lang: str, tgt_lang: str) -> str:
    other = tgt_lang if src_lang == "en" else src_lang
    if "en" not in (src_lang, tgt_lang):
        raise CorpusError(f"europarl pairs every language with English, so {src_lang}→{tgt_lang} is not published")
    return f"europarl-v7.{other}-en.{{lang}}"


def _from_files(folder: Path, files: dict[str, str], langs: tuple[str, str]) -> dict[str, Found]:
    splits = {}
    for split, pattern in files.items():
        src, tgt = (_file(folder / pattern.format(lang=lang)) for lang in langs)
        stamps = [(str(path.resolve()), path.stat().st_size, path.stat().st_mtime_ns) for path in (src, tgt)]
        splits[split] = Found(_line_pairs(src, tgt), key=stamps)
    return splits


def _line_pairs(src_path: Path, tgt_path: Path) -> Iterator[Pair]:
    counts = [0, 0]
    for lines in zip_longest(_lines(src_path), _lines(tgt_path)):
        counts = [n + (line is not None) for n, line in zip(counts, lines, strict=True)]
        if counts[0] == counts[1]:
            yield Pair(*lines)
    if counts[0] != counts[1]:
        raise CorpusError(
            f"{src_path} has {counts[0]} lines but {tgt_path} has {counts[1]}: "
            "line n of one must translate line n of the other"
        )


def read_lines(path: Path) -> list[str]:
    """The lines of a UTF-8 file, or of the same name with ``.gz``, without the spaces around them.

    Raises:
        CorpusError: no such file; not UTF-8 (with the line).
    """
    return list(_lines(_file(path)))


def _file(path: Path) -> Path:
    packed = path.with_name(path.name + ".gz")
    found = next((file for file in (path, packed) if file.is_file()), None)
    if found is None:
        raise CorpusError(f"no file {path} (nor {packed.name}): put the corpus there or set NMT_DATA to its folder")
    return found


def _lines(path: Path) -> Iterator[str]:
    try:
        with gzip.open(path) if path.suffix == ".gz" else open(path, "rb") as file:
            for number, line in enumerate(file, 1):  # only line feeds end a line
                try:
                    text = line.decode("utf-8-sig" if number == 1 else "utf-8")
                except UnicodeDecodeError as error:
                    for _ in file:  # a damaged packed file says so at its end
                        pass
                    message = f"{path}, line {number}: not UTF-8 ({error.reason}); convert the file to UTF-8"
                    raise CorpusError(message) from None
                if text:  # a file may hold nothing but the mark of UTF-8
                    yield text.strip()
    except (OSError, EOFError, zlib.error) as error:
        raise CorpusError(f"cannot read {path}: {error}") from None


def _drop_empty(pairs: Sequence[Pair], where: str) -> Sequence[Pair]:
    if isinstance(pairs, OnDisk):
        kept = pairs.lengths().all(axis=1).nonzero()[0]
    else:
        kept = [row for row, pair in enumerate(pairs) if pair.src and pair.tgt]
    if len(kept) < len(pairs):
        message = f"{where}: left out {len(pairs) - len(kept)} of {len(pairs)} pairs, one side is empty"
        warnings.warn(message, stacklevel=4)
    return take(pairs, kept)


def _hold_out(pairs: Sequence[Pair], seed: int) -> dict[str, Sequence[Pair]]:
    """Splits a corpus that is published as one piece: a twentieth (at most 2,000) each to validate and to test on."""
    rows = random.Random(seed).sample(range(len(pairs)), len(pairs))
    size = min(2000, len(pairs) // 20)
    parts = {"valid": rows[:size], "test": rows[size : 2 * size], "train": rows[2 * size :]}
    return {name: take(pairs, part) for name, part in parts.items()}


def _from_hub(name: str, src_lang: str, tgt_lang: str, limit: int | None) -> tuple[dict[str, Found], str]:
    from huggingface_hub.constants import ENDPOINT

    hub_name, config = {
        "multi30k": ("bentrevett/multi30k" if "fr" not in (src_lang, tgt_lang) else "romrawinjp/multi30k", None),
        "europarl": ("Helsinki-NLP/europarl", "-".join(sorted((src_lang, tgt_lang)))),
    }.get(name, (None, None))
    if hub_name is None:
        raise CorpusError(f"corpus {name} is not on the hub: set NMT_DATA to a folder that holds {name}/")
    host = urlsplit(ENDPOINT).hostname or ""

    def pairs(split: str) -> Iterator[Pair]:
        if not _reachable(ENDPOINT):
            raise CorpusError(
                f"corpus {name}: {host} cannot be reached. Three ways on: connect to the network; set NMT_DATA to a "
                f"folder that holds {name}/; or use the config 'tiny', which needs no download"
            )
        import datasets

        try:
            stream = datasets.load_dataset(hub_name, config, split=split, streaming=True)
            stream = stream if name == "europarl" else stream.select_columns([src_lang, tgt_lang])
            for row in islice(stream, limit) if split == "train" else stream:
                row = row.get("translation", row)
                yield Pair(row[src_lang].strip(), row[tgt_lang].strip())
        except Exception as error:  # whatever the network does, the reader gets one sentence
            message = f"corpus {name}: reading {hub_name} from {host} failed ({error}); set NMT_DATA to use files"
            raise CorpusError(message) from None

    splits = {"train": "train"} if name == "europarl" else {"train": "train", "valid": "validation", "test": "test"}
    found = {
        ours: Found(pairs(theirs), key=(hub_name, config, theirs, src_lang, tgt_lang, ours == "train" and limit))
        for ours, theirs in splits.items()
    }
    return found, f"{hub_name} on {host}"


def _reachable(url: str, seconds: float = 1.2) -> bool:
    """Whether something answers there (through the proxy, where one is set) within so many seconds.

    An open port is not enough, and looking up a name alone can hang for much longer, hence the thread.
    """
    answered: list[bool] = []

    def ask() -> None:
        try:
            urllib.request.build_opener().open(urllib.request.Request(url, method="HEAD"), timeout=seconds).close()
            answered.append(True)
        except urllib.error.HTTPError:  # a refusal is an answer
            answered.append(True)
        except (OSError, ValueError, HTTPException):
            pass

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(seconds)
    return bool(answered)
