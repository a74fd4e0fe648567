"""Corpora: pairs of sentences, from the grammar of ``tiny``, from files, or from the
Hugging Face hub.

A corpus can be a file of the reader's own (``pair_files.py`` says which), which is
cleaned. What is published or given in one piece is split group by group
(``clean_pairs.py``).

``NMT_DATA`` names a folder that holds corpora under their published file names
(``multi30k/train.en``, ``europarl/europarl-v7.fr-en.fr`` …, each plain or as ``.gz``).
Without it, ``datasets`` downloads them from the hub once and keeps them.
"""

from __future__ import annotations

import gzip
import os
import socket
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from urllib.request import getproxies

from .clean_pairs import clean, grouped_split, looks_swapped
from .errors import CorpusError, warn
from .pair_files import moses_files, read_pairs

if TYPE_CHECKING:
    from .config import DataConfig


@dataclass(frozen=True, slots=True)
class Pair:
    """One sentence in two languages.

    ``alignment`` holds gold links (source word, target word), where they are known.
    """

    src: str
    tgt: str
    alignment: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class Contrast:
    """A source with its right translation, and with one that breaks a single rule."""

    src: str
    right: str
    wrong: str


@dataclass(frozen=True)
class Corpus:
    """Three lists of pairs, and where they came from."""

    train: Sequence[Pair]
    valid: Sequence[Pair]
    test: Sequence[Pair]
    provenance: str


HELD_OUT = 2000  # pairs for validation, and for testing, of a corpus in one piece
# The files of each published corpus: split → name, where {lang} is the language.
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
    """The corpus that a config names.

    Pairs with an empty side are dropped, and a warning says how many.

    Args:
        data: ``data.corpus`` is one of ``NAMES``, a folder that holds ``train.xx``,
            ``valid.xx`` and ``test.xx``, or a file of pairs.

    Raises:
        CorpusError: unknown name, missing file, unequal line counts, not UTF-8, nothing
            left, no network.
    """
    splits, provenance = _find(data)
    for name, pairs in splits.items():
        splits[name] = _drop_empty(pairs, f"{data.corpus} {name}")
    if "valid" not in splits:
        whole = splits["train"]
        split = grouped_split(whole, held_out(len(whole)), data.seed)
        splits = {"train": split.train, "valid": split.valid, "test": split.test}
        provenance += f"; the largest group has {split.largest} pairs"
    train = splits["train"][: data.limit]
    if not train or not splits["valid"]:
        raise CorpusError(
            f"corpus {data.corpus}: nothing is left to train or to validate on "
            f"({provenance})"
        )
    return Corpus(train, splits["valid"], splits["test"], provenance)


def _find(data: DataConfig) -> tuple[dict[str, list[Pair]], str]:
    name, langs = data.corpus, (data.src_lang, data.tgt_lang)
    if name == "tiny":
        return dict(_tiny(*langs)), "made by the grammar in nmt_lib/tiny/grammar.py"
    if name == "toy":
        return _toy(*langs), "two sentences written in nmt_lib/corpora.py"
    if name not in NAMES and os.path.isdir(folder := os.path.expanduser(name)):
        files = {split: f"{split}.{{lang}}" for split in ("train", "valid", "test")}
        return _from_files(Path(folder), files, langs), f"files in {name}"
    if name not in NAMES and is_file_of_pairs(name, langs):
        return _from_pair_file(name, langs)
    if name not in NAMES:
        raise CorpusError(
            f"unknown corpus {name!r}: choose one of {', '.join(NAMES)}, or give an "
            "existing folder, or a file of sentence pairs"
        )
    if published := os.environ.get("NMT_DATA"):
        files = FILES.get(name) or {"train": _europarl_name(*langs)}
        pairs = _from_files(Path(published) / name, files, langs)
        return pairs, f"files of {name} under NMT_DATA"
    return _from_hub(name, *langs, data.limit)


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


def _toy(src: str, tgt: str) -> dict[str, list[Pair]]:
    if {src, tgt} != {"de", "en"}:
        raise CorpusError(f"corpus toy has German and English only, not {src}→{tgt}")
    pairs = [Pair(*both) for both in zip(TOY[src], TOY[tgt], strict=True)]
    return dict.fromkeys(("train", "valid", "test"), pairs)


def _europarl_name(src: str, tgt: str) -> str:
    if "en" not in (src, tgt):
        raise CorpusError(
            f"europarl pairs every language with English, so {src}→{tgt} is not "
            "published"
        )
    return f"europarl-v7.{tgt if src == 'en' else src}-en.{{lang}}"


def _from_files(
    folder: Path, files: dict[str, str], langs: tuple[str, str]
) -> dict[str, list[Pair]]:
    splits = {}
    for split, name in files.items():
        src, tgt = (_file(folder / name.format(lang=lang)) for lang in langs)
        sources, targets = _lines(src), _lines(tgt)
        if len(sources) != len(targets):
            raise CorpusError(
                f"{src} has {len(sources)} lines but {tgt} has {len(targets)}: line n "
                "of one must translate line n of the other"
            )
        splits[split] = list(map(Pair, sources, targets))
    return splits


def _file(path: Path) -> Path:
    for file in (path, path.with_name(path.name + ".gz")):
        if file.is_file():
            return file
    raise CorpusError(
        f"no file {path} (nor {path.name}.gz): put the corpus there, or set NMT_DATA "
        "to its folder"
    )


def _lines(path: Path) -> list[str]:
    """The lines of a file; only line feeds end one."""
    lines: list[str] = []
    opened: Any = gzip.open if path.suffix == ".gz" else open
    try:
        with opened(path, "rb") as file:
            for line in file:
                lines.append(line.decode().strip().removeprefix("\ufeff"))
    except UnicodeDecodeError as error:
        raise CorpusError(
            f"{path}, line {len(lines) + 1}: not UTF-8 ({error.reason}); convert the "
            "file to UTF-8"
        ) from None
    except (OSError, EOFError, zlib.error) as error:
        raise CorpusError(f"cannot read {path}: {error}") from None
    return lines


def _drop_empty(pairs: list[Pair], where: str) -> list[Pair]:
    kept = [pair for pair in pairs if pair.src and pair.tgt]
    if len(kept) < len(pairs):
        dropped = len(pairs) - len(kept)
        warn(f"{where}: left out {dropped} of {len(pairs)} pairs, one side is empty")
    return kept


def held_out(n: int) -> int:
    """How many of n pairs are for validation, and as many for testing: a twentieth."""
    return min(HELD_OUT, n // 20)


def is_file_of_pairs(name: str, langs: tuple[str, str]) -> bool:
    """Whether there is such a file, or two Moses files of this name."""
    path = Path(os.path.expanduser(name))
    return os.path.isfile(path) or bool(moses_files(path, langs))


def _from_pair_file(
    name: str, langs: tuple[str, str]
) -> tuple[dict[str, list[Pair]], str]:
    """The pairs, and what they are; a warning says what was left out."""
    pairs, lost = load_pairs(name, *langs)
    said = f"{len(pairs)} of {len(pairs) + lost.total()} pairs of {name}"
    if lost:
        said += f", left out: {', '.join(f'{why} {n}' for why, n in lost.items())}"
        warn(said)
    if looks_swapped(pairs, *langs):
        warn(f"{name}: the English sentences seem to be on the other side")
    return {"train": pairs}, said


def load_pairs(
    path: str | os.PathLike[str], src: str, tgt: str
) -> tuple[list[Pair], Counter[str]]:
    """The pairs of a file, cleaned, and how many were left out for which reason.

    Raises:
        CorpusError: as ``read_pairs``.
    """
    lost: Counter[str] = Counter()
    kept = clean(read_pairs(path, src, tgt, lost), lost)
    return [Pair(*texts) for texts in kept], lost


def _from_hub(
    name: str, src: str, tgt: str, limit: int | None
) -> tuple[dict[str, list[Pair]], str]:
    """Downloads once; later calls read the cache of ``datasets``."""
    import datasets
    from huggingface_hub.constants import ENDPOINT, HF_HUB_OFFLINE

    if name == "multi30k-tok":
        raise CorpusError(
            f"corpus {name} is not on the hub: set NMT_DATA to its folder"
        )
    names, config = {"train": "train"}, None
    if name == "europarl":
        hub_name, config = "Helsinki-NLP/europarl", "-".join(sorted((src, tgt)))
    else:
        hub_name = f"{'romrawinjp' if 'fr' in (src, tgt) else 'bentrevett'}/multi30k"
        names |= {"valid": "validation", "test": "test"}
    otherwise = (
        f"set NMT_DATA to a folder that holds {name}/, or use the config 'tiny', which "
        "needs no download"
    )
    try:
        if not HF_HUB_OFFLINE:
            _check_network(ENDPOINT)
        found = {
            ours: datasets.load_dataset(hub_name, config, split=theirs)
            for ours, theirs in names.items()
        }
    except OSError as error:
        raise CorpusError(
            f"corpus {name}: cannot read {hub_name} from {ENDPOINT} "
            f"({_one_line(error)}). Connect to the network, set HF_HUB_OFFLINE=1 if it "
            f"was downloaded before, {otherwise}"
        ) from None
    except (ValueError, datasets.exceptions.DatasetsError) as error:
        reason = _one_line(error.__cause__ or error)
        raise CorpusError(
            f"corpus {name}: what {hub_name} holds cannot be used ({reason}): "
            f"{otherwise}"
        ) from None
    splits = {}
    for split, rows in found.items():
        # ``load_corpus`` cuts the training part, after 2 × HELD_OUT pairs are held out.
        most = limit + 2 * HELD_OUT if limit and split == "train" else None
        texts = [row.get("translation", row) for row in islice(rows, most)]
        missing = {src, tgt} - set(texts[0] if texts else ())
        if missing:
            raise CorpusError(
                f"corpus {name}: {hub_name} has the columns {', '.join(texts[0])}, "
                f"but not {', '.join(sorted(missing))}: {otherwise}"
            )
        splits[split] = [Pair(t[src].strip(), t[tgt].strip()) for t in texts]
    return splits, f"{hub_name} on {ENDPOINT.partition('://')[2]}"


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__


def _check_network(url: str) -> None:
    """Raises OSError within seconds; ``datasets`` would retry for half a minute."""
    parts = urlsplit(url)
    if not getproxies().get(parts.scheme):  # a proxy is left to ``datasets``
        port = parts.port or (80 if parts.scheme == "http" else 443)
        socket.create_connection((parts.hostname, port), timeout=3).close()
