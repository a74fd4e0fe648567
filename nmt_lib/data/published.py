"""Corpora that others publish: Multi30k and Europarl, as files or from the Hugging Face
hub; and any corpus that is in two files side by side.

``NMT_DATA`` names a folder that holds corpora under their published file names
(``multi30k/train.en``, ``europarl/europarl-v7.fr-en.fr`` …, each plain or as ``.gz``).
Without it, ``datasets`` downloads them from the hub once and keeps them. Each part is
a list of (source, target).
"""

from __future__ import annotations

import gzip
import os
import socket
import zlib
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies

from ..errors import CorpusError, one_line

Splits = dict[str, list[tuple[str, str]]]  # split → pairs
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


def published(name: str, src: str, tgt: str, limit: int | None) -> tuple[Splits, str]:
    """The parts of a published corpus, and where they came from.

    Args:
        limit: of Europarl and of the training part, read from the hub, no more is
            needed; None: all.

    Raises:
        CorpusError: a file is missing, or the hub does not have it.
    """
    if folder := os.path.expanduser(os.environ.get("NMT_DATA", "")):
        files = FILES.get(name) or {"train": _europarl_name(src, tgt)}
        texts = from_files(Path(folder) / name, files, (src, tgt))
        return texts, f"files of {name} under NMT_DATA"
    return _from_hub(name, src, tgt, limit)


def _europarl_name(src: str, tgt: str) -> str:
    if "en" not in (src, tgt):
        raise CorpusError(
            f"europarl pairs every language with English, so {src}→{tgt} is not "
            "published"
        )
    return f"europarl-v7.{tgt if src == 'en' else src}-en.{{lang}}"


def from_files(folder: Path, files: dict[str, str], langs: tuple[str, str]) -> Splits:
    """Pairs of line n of one file and line n of another; ``files`` names them by split.

    Raises:
        CorpusError: a missing file, unequal line counts, not UTF-8.
    """
    splits = {}
    for split, name in files.items():
        src, tgt = (_file(folder / name.format(lang=lang)) for lang in langs)
        sources, targets = _stripped_lines(src), _stripped_lines(tgt)
        if len(sources) != len(targets):
            raise CorpusError(
                f"{src} has {len(sources)} lines but {tgt} has {len(targets)}: line n "
                "of one must translate line n of the other"
            )
        splits[split] = list(zip(sources, targets, strict=True))
    return splits


def _file(path: Path) -> Path:
    for file in (path, path.with_name(path.name + ".gz")):
        if file.is_file():
            return file
    raise CorpusError(
        f"no file {path} (nor {path.name}.gz): put the corpus there, or set NMT_DATA "
        "to its folder"
    )


def _stripped_lines(path: Path) -> list[str]:
    """The stripped lines of a file; only line feeds end one."""
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


def _from_hub(name: str, src: str, tgt: str, limit: int | None) -> tuple[Splits, str]:
    """A corpus of the hub, downloaded once and then read from the cache."""
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
        tables = {
            split: datasets.load_dataset(hub_name, config, split=hub_split)
            for split, hub_split in names.items()
        }
    # Those of datasets, of the hub's client and of its HTTP library share no class.
    except Exception as error:
        content = ValueError, datasets.exceptions.DatasetsError
        if isinstance(error, content) and not isinstance(error, OSError):
            cause = error.__cause__ or error
            raise CorpusError(
                f"corpus {name}: what {hub_name} holds cannot be used "
                f"({one_line(cause) or type(cause).__name__}): {otherwise}"
            ) from None
        raise CorpusError(
            f"corpus {name}: cannot read {hub_name} from {ENDPOINT} "
            f"({one_line(error) or type(error).__name__}). Connect to the network, set "
            f"HF_HUB_OFFLINE=1 if it was downloaded before, {otherwise}"
        ) from None
    splits = {}
    for split, rows in tables.items():
        needed = islice(rows, limit if split == "train" else None)
        texts = [row.get("translation", row) for row in needed]
        missing = {src, tgt} - set(texts[0] if texts else ())
        if missing:
            raise CorpusError(
                f"corpus {name}: {hub_name} has the columns {', '.join(texts[0])}, "
                f"but not {', '.join(sorted(missing))}: {otherwise}"
            )
        splits[split] = [(t[src].strip(), t[tgt].strip()) for t in texts]
    return splits, f"{hub_name} on {ENDPOINT.partition('://')[2]}"


def _check_network(url: str) -> None:
    """Raises OSError within seconds; ``datasets`` would retry for half a minute."""
    parts = urlsplit(url)
    if not getproxies().get(parts.scheme):  # a proxy is left to ``datasets``
        port = parts.port or (80 if parts.scheme == "http" else 443)
        socket.create_connection((parts.hostname, port), timeout=3).close()
