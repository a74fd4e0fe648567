"""Corpora: pairs of sentences, from the grammar of ``tiny_corpus``, from files, or from the Hugging Face hub.

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
from dataclasses import dataclass
from http.client import HTTPException
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from .errors import CorpusError

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
    """Three lists of pairs, and where they came from."""

    train: list[Pair]
    valid: list[Pair]
    test: list[Pair]
    provenance: str


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
    splits, provenance = _find(data)
    splits = {name: _drop_empty(pairs, f"{data.corpus} {name}") for name, pairs in splits.items()}
    if "valid" not in splits:
        splits = _hold_out(splits["train"], data.seed)
    train = splits["train"][: data.limit]
    if not train or not splits["valid"]:
        raise CorpusError(f"corpus {data.corpus}: nothing is left to train or to validate on ({provenance})")
    return Corpus(train, splits["valid"], splits["test"], provenance)


def _find(data: DataConfig) -> tuple[dict[str, list[Pair]], str]:
    name, langs = data.corpus, (data.src_lang, data.tgt_lang)
    if name == "tiny":
        return _tiny(*langs), "made by the grammar in nmt_lib/tiny_corpus.py"
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


def _tiny(src_lang: str, tgt_lang: str) -> dict[str, list[Pair]]:
    from .tiny_corpus import generate

    return {
        split: [Pair(t.text(src_lang), t.text(tgt_lang), t.alignment(src_lang, tgt_lang)) for t in triples]
        for split, triples in generate().items()
    }


def _toy(src_lang: str, tgt_lang: str) -> dict[str, list[Pair]]:
    if {src_lang, tgt_lang} != {"de", "en"}:
        raise CorpusError(f"corpus toy has German and English only, not {src_lang}→{tgt_lang}")
    pairs = [Pair(src, tgt) for src, tgt in zip(TOY[src_lang], TOY[tgt_lang], strict=True)]
    return {"train": pairs, "valid": pairs, "test": pairs}


def _europarl_name(src_lang: str, tgt_lang: str) -> str:
    other = tgt_lang if src_lang == "en" else src_lang
    if "en" not in (src_lang, tgt_lang):
        raise CorpusError(f"europarl pairs every language with English, so {src_lang}→{tgt_lang} is not published")
    return f"europarl-v7.{other}-en.{{lang}}"


def _from_files(folder: Path, files: dict[str, str], langs: tuple[str, str]) -> dict[str, list[Pair]]:
    splits = {}
    for split, pattern in files.items():
        paths = [folder / pattern.format(lang=lang) for lang in langs]
        sources, targets = map(read_lines, paths)
        if len(sources) != len(targets):
            raise CorpusError(
                f"{paths[0]} has {len(sources)} lines but {paths[1]} has {len(targets)}: "
                "line n of one must translate line n of the other"
            )
        splits[split] = [Pair(src, tgt) for src, tgt in zip(sources, targets, strict=True)]
    return splits


def read_lines(path: Path) -> list[str]:
    """The lines of a UTF-8 file, or of the same name with ``.gz``, without the spaces around them.

    Raises:
        CorpusError: no such file; not UTF-8 (with the line).
    """
    packed = path.with_name(path.name + ".gz")
    found = next((file for file in (path, packed) if file.is_file()), None)
    if found is None:
        raise CorpusError(f"no file {path} (nor {packed.name}): put the corpus there or set NMT_DATA to its folder")
    try:
        content = gzip.decompress(found.read_bytes()) if found.suffix == ".gz" else found.read_bytes()
    except (OSError, EOFError, zlib.error) as error:
        raise CorpusError(f"cannot read {found}: {error}") from None
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise CorpusError(f"{found}, line {line}: not UTF-8 ({error.reason}); convert the file to UTF-8") from None
    return [line.strip() for line in text.removesuffix("\n").split("\n")] if text else []


def _drop_empty(pairs: list[Pair], where: str) -> list[Pair]:
    kept = [pair for pair in pairs if pair.src and pair.tgt]
    if len(kept) < len(pairs):
        message = f"{where}: left out {len(pairs) - len(kept)} of {len(pairs)} pairs, one side is empty"
        warnings.warn(message, stacklevel=4)
    return kept


def _hold_out(pairs: list[Pair], seed: int) -> dict[str, list[Pair]]:
    """Splits a corpus that is published as one piece: a twentieth (at most 2,000) each to validate and to test on."""
    shuffled = random.Random(seed).sample(pairs, len(pairs))
    size = min(2000, len(pairs) // 20)
    return {"valid": shuffled[:size], "test": shuffled[size : 2 * size], "train": shuffled[2 * size :]}


def _from_hub(name: str, src_lang: str, tgt_lang: str, limit: int | None) -> tuple[dict[str, list[Pair]], str]:
    from huggingface_hub.constants import ENDPOINT

    hub_name, config = {
        "multi30k": ("bentrevett/multi30k" if "fr" not in (src_lang, tgt_lang) else "romrawinjp/multi30k", None),
        "europarl": ("Helsinki-NLP/europarl", "-".join(sorted((src_lang, tgt_lang)))),
    }.get(name, (None, None))
    if hub_name is None:
        raise CorpusError(f"corpus {name} is not on the hub: set NMT_DATA to a folder that holds {name}/")
    host = urlsplit(ENDPOINT).hostname or ""
    if not _reachable(ENDPOINT):
        raise CorpusError(
            f"corpus {name}: {host} cannot be reached. Three ways on: connect to the network; set NMT_DATA to a folder "
            f"that holds {name}/; or use the config 'tiny', which needs no download"
        )
    import datasets

    def rows(split: str) -> Any:
        stream = datasets.load_dataset(hub_name, config, split=split, streaming=True)
        stream = stream if name == "europarl" else stream.select_columns([src_lang, tgt_lang])
        return (row.get("translation", row) for row in (islice(stream, limit) if split == "train" else stream))

    splits = {"train": "train"} if name == "europarl" else {"train": "train", "valid": "validation", "test": "test"}
    try:
        pairs = {
            ours: [Pair(row[src_lang].strip(), row[tgt_lang].strip()) for row in rows(theirs)]
            for ours, theirs in splits.items()
        }
    except Exception as error:  # whatever the network does, the reader gets one sentence
        message = f"corpus {name}: reading {hub_name} from {host} failed ({error}); set NMT_DATA to use files"
        raise CorpusError(message) from None
    return pairs, f"{hub_name} on {host}"


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
