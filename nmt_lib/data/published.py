"""Corpora that others publish: Multi30k and Europarl, as files or from the Hugging Face
hub; and any corpus that is in two files side by side.

``NMT_DATA`` names a folder that holds corpora under their published file names
(``multi30k/train.en``, ``europarl/europarl-v7.fr-en.fr`` …, each plain or as ``.gz``).
Without it, ``datasets`` downloads them from the hub once and keeps them. Each part is
a list of (source, target).
"""

from __future__ import annotations

import os
from collections import Counter
from itertools import islice
from pathlib import Path

from ..errors import CorpusError, one_line, warn
from .files import LONE, moses_files, read_pairs

Splits = dict[str, list[tuple[str, str]]]  # split → pairs
# The files of each published corpus: split → name without its language.
FILES = {
    "multi30k": {"train": "train", "valid": "val", "test": "test_2016_flickr"},
    "multi30k-tok": {
        "train": "train.lc.norm.tok",
        "valid": "val.lc.norm.tok",
        "test": "test_2016_flickr.lc.norm.tok",
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
    return f"europarl-v7.{tgt if src == 'en' else src}-en"


def from_files(folder: Path, files: dict[str, str], langs: tuple[str, str]) -> Splits:
    """Pairs of line n of one file and line n of another.

    Args:
        folder: where the files are.
        files: split → the name of both, without the language that it ends in.
        langs: of source and target.

    Raises:
        CorpusError: a missing file, unequal line counts; others as in ``read_pairs``.
    """
    splits = {}
    for split, name in files.items():
        path, lost = folder / name, Counter[str]()
        if not moses_files(path, langs):
            raise CorpusError(
                f"no files {path}.{langs[0]} and {path}.{langs[1]} (nor as .gz): put "
                "the corpus there, or set NMT_DATA to its folder"
            )
        pairs = [
            (src.strip(), tgt.strip()) for src, tgt in read_pairs(path, *langs, lost)
        ]
        if lone := lost.pop(LONE, 0):
            raise CorpusError(
                f"{path}.{langs[0]} and {path}.{langs[1]}: one has more lines, by "
                f"{lone}; line n of one must translate line n of the other"
            )
        for reason, n in lost.items():
            warn(f"{path}: left out {n}: {reason}")
        splits[split] = pairs
    return splits


def _from_hub(name: str, src: str, tgt: str, limit: int | None) -> tuple[Splits, str]:
    """A corpus of the hub, downloaded once and then read from the cache."""
    import datasets
    from huggingface_hub.constants import ENDPOINT, HF_HUB_OFFLINE
    from huggingface_hub.utils import get_session

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
        if not HF_HUB_OFFLINE:  # at once: ``datasets`` would retry for half a minute
            get_session().head(ENDPOINT, timeout=5)
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
