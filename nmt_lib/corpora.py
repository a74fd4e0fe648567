"""Corpora: pairs of sentences, from the grammar of ``tiny``, from files, or from the Hugging Face hub.

``NMT_DATA`` names a folder that holds corpora under their published file names (``multi30k/train.en``,
``europarl/europarl-v7.fr-en.fr`` …, each plain or as ``.gz``). Without it, ``datasets`` brings them from the hub.
What is read from there is kept in ``runs/cache`` (``$NMT_RUNS/cache`` where that is set) and found again.
"""

from __future__ import annotations

import gzip
import os
import pickle
import random
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from . import __version__
from .errors import CorpusError, warn

if TYPE_CHECKING:
    from .config import DataConfig

T = TypeVar("T")
PART_ROWS, BATCH_ROWS = 50_000, 10_000  # read before pages are let go; lying together in a file


class Rows(Sequence[T]):
    """Rows of a ``datasets.Dataset`` as objects, made when they are asked for; slices are ``Rows`` too.

    Args:
        dataset: in memory or, however large, on disk: the system maps into memory what is being read.
        item: makes an object from the columns of a row.
    """

    def __init__(self, dataset: Any, item: Callable[..., T]) -> None:
        self.dataset, self.item = dataset.with_format("arrow"), item

    def __len__(self) -> int:
        return len(self.dataset)

    def __getitem__(self, index: Any) -> Any:
        chosen = range(len(self))[index]
        return self.take([chosen])[0] if isinstance(chosen, int) else self.select(chosen)

    def __iter__(self) -> Iterator[T]:
        for dataset in self.parts():
            for start in range(0, len(dataset), 1000):
                yield from Rows(dataset, self.item).take(range(start, min(start + 1000, len(dataset))))

    def parts(self) -> Iterator[Any]:
        """The dataset in pieces. Each maps its files anew, so that what was read is let go: memory stays flat."""
        for start in range(0, len(self), PART_ROWS):
            again = pickle.loads(pickle.dumps(self.dataset))
            yield again.select(range(start, min(start + PART_ROWS, len(self))))

    def __add__(self, other: Iterable[T]) -> list[T]:
        return [*self, *other]

    def take(self, indices: Any) -> list[T]:
        """The objects at these places, in this order."""
        columns = (column.to_pylist() for column in self.dataset[indices].columns)
        return [self.item(*row) for row in zip(*columns, strict=True)]

    def select(self, indices: Any) -> Rows[T]:
        """The rows at these places, in this order; nothing is copied."""
        return Rows(self.dataset.select(indices), self.item)


@dataclass(frozen=True)
class Pair:
    """One sentence in two languages; ``alignment`` holds gold links (source word, target word), where known."""

    src: str
    tgt: str
    alignment: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class Corpus:
    """Three sequences of pairs, and where they came from."""

    train: Sequence[Pair]
    valid: Sequence[Pair]
    test: Sequence[Pair]
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


def as_rows(pairs: Sequence[Pair]) -> Rows[Pair]:
    """A list of pairs as rows in memory; rows stay what they are."""
    from datasets import Dataset

    if isinstance(pairs, Rows):
        return pairs
    columns = {name: [getattr(pair, name) for pair in pairs] for name in ("src", "tgt", "alignment")}
    return Rows(Dataset.from_dict(columns, _features()), _pair)


def _stored(read: Callable[..., Iterable[Pair]], *source: Any) -> Rows[Pair]:
    """The pairs that ``read(*source)`` gives, on disk. It is called where those of this source are not there yet."""
    from datasets import Dataset

    key = {"read": read, "source": source, "version": __version__}
    kwargs: Any = {"gen_kwargs": key, "writer_batch_size": BATCH_ROWS}
    with cache() as folder:
        try:
            return Rows(Dataset.from_generator(_rows, _features(), str(folder), **kwargs), _pair)
        except ValueError as error:
            if "no data" in str(error):  # an empty file
                return as_rows([])
            raise


def _rows(read: Callable[..., Iterable[Pair]], source: tuple[Any, ...], version: str) -> Iterator[dict[str, Any]]:
    from tqdm.auto import tqdm

    return map(vars, tqdm(read(*source), desc="reading the corpus", unit=" pairs", delay=10))


def _features() -> Any:
    from datasets import Features, Value

    return Features({"src": Value("string"), "tgt": Value("string"), "alignment": [[Value("int32")]]})


def _pair(src: str, tgt: str, alignment: list[list[int]]) -> Pair:
    return Pair(src, tgt, tuple((i, j) for i, j in alignment))


@contextmanager
def cache() -> Iterator[Path]:
    """The folder for what ``datasets`` prepares, which shows no progress of its own meanwhile.

    Raises:
        CorpusError: the folder cannot be written, or something in it is damaged.
    """
    import pyarrow as pa
    from datasets.exceptions import DatasetGenerationError
    from datasets.utils import are_progress_bars_disabled, disable_progress_bars, enable_progress_bars

    folder, hidden = Path(os.environ.get("NMT_RUNS", "runs")) / "cache", are_progress_bars_disabled()
    disable_progress_bars()
    try:
        yield folder
    except (OSError, pa.ArrowException, DatasetGenerationError) as error:
        cause = error.__cause__ or error
        if isinstance(cause, CorpusError):
            raise cause from None
        message = f"cannot keep the corpus in {folder} ({cause}): free some space, set NMT_RUNS to another place, or"
        raise CorpusError(f"{message}, where files are damaged, delete the folder; it is made again") from None
    finally:
        if not hidden:
            enable_progress_bars()


def _find(data: DataConfig) -> tuple[dict[str, Rows[Pair]], str]:
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


def _tiny(src_lang: str, tgt_lang: str) -> dict[str, Rows[Pair]]:
    from .tiny.corpus import generate

    return {
        split: as_rows([Pair(t.text(src_lang), t.text(tgt_lang), t.alignment(src_lang, tgt_lang)) for t in triples])
        for split, triples in generate().items()
    }


def _toy(src_lang: str, tgt_lang: str) -> dict[str, Rows[Pair]]:
    if {src_lang, tgt_lang} != {"de", "en"}:
        raise CorpusError(f"corpus toy has German and English only, not {src_lang}→{tgt_lang}")
    pairs = as_rows([Pair(src, tgt) for src, tgt in zip(TOY[src_lang], TOY[tgt_lang], strict=True)])
    return dict.fromkeys(("train", "valid", "test"), pairs)


def _europarl_name(src_lang: str, tgt_lang: str) -> str:
    other = tgt_lang if src_lang == "en" else src_lang
    if "en" not in (src_lang, tgt_lang):
        raise CorpusError(f"europarl pairs every language with English, so {src_lang}→{tgt_lang} is not published")
    return f"europarl-v7.{other}-en.{{lang}}"


def _from_files(folder: Path, files: dict[str, str], langs: tuple[str, str]) -> dict[str, Rows[Pair]]:
    paths = {split: [_file(folder / name.format(lang=lang)) for lang in langs] for split, name in files.items()}
    return {split: _stored(_line_pairs, *map(_stamped, both)) for split, both in paths.items()}


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
        raise CorpusError(f"no file {path} (nor {packed.name}): put the corpus there or set NMT_DATA to its folder")
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
        raise CorpusError(f"{path}, line {number}: not UTF-8 ({error.reason}); convert the file to UTF-8") from None
    except (OSError, EOFError, zlib.error) as error:
        raise CorpusError(f"cannot read {path}: {error}") from None


def _drop_empty(pairs: Rows[Pair], where: str) -> Rows[Pair]:
    import pyarrow.compute as pc

    table = pairs.dataset[:]
    kept = np.flatnonzero(pc.and_(pc.not_equal(table["src"], ""), pc.not_equal(table["tgt"], "")).to_numpy())
    if len(kept) == len(pairs):
        return pairs
    warn(f"{where}: left out {len(pairs) - len(kept)} of {len(pairs)} pairs, one side is empty")
    return pairs.select(kept)


def _hold_out(pairs: Rows[Pair], seed: int) -> dict[str, Rows[Pair]]:
    """Splits a corpus that is published as one piece: a twentieth (at most 2,000) each to validate and to test on."""
    rows = np.array(random.Random(seed).sample(range(len(pairs)), len(pairs)), dtype=np.int64)
    size = min(2000, len(pairs) // 20)
    parts = {"valid": rows[:size], "test": rows[size : 2 * size], "train": rows[2 * size :]}
    return {name: pairs.select(part) for name, part in parts.items()}


def _from_hub(name: str, src: str, tgt: str, limit: int | None) -> tuple[dict[str, Rows[Pair]], str]:
    from huggingface_hub.constants import ENDPOINT

    hub_name, config = {
        "multi30k": ("bentrevett/multi30k" if "fr" not in (src, tgt) else "romrawinjp/multi30k", None),
        "europarl": ("Helsinki-NLP/europarl", "-".join(sorted((src, tgt)))),
    }.get(name, (None, None))
    if hub_name is None:
        raise CorpusError(f"corpus {name} is not on the hub: set NMT_DATA to a folder that holds {name}/")
    splits = {"train": "train"} if name == "europarl" else {"train": "train", "valid": "validation", "test": "test"}
    found = {
        ours: _stored(_hub_pairs, name, hub_name, config, split, src, tgt, limit if ours == "train" else None)
        for ours, split in splits.items()
    }
    return found, f"{hub_name} on {ENDPOINT.partition('://')[2]}"


def _hub_pairs(
    name: str, hub_name: str, config: str | None, split: str, src: str, tgt: str, limit: int | None
) -> Iterator[Pair]:
    import datasets
    from huggingface_hub.constants import ENDPOINT
    from huggingface_hub.utils import get_session

    try:
        get_session().head(ENDPOINT, timeout=2)  # any answer will do; ``datasets`` would try again for half a minute
    except Exception:
        raise CorpusError(
            f"corpus {name}: {ENDPOINT} cannot be reached. Three ways on: connect to the network; set NMT_DATA to a "
            f"folder that holds {name}/; or use the config 'tiny', which needs no download"
        ) from None
    try:
        stream = datasets.load_dataset(hub_name, config, split=split, streaming=True)
        for row in islice(stream if name == "europarl" else stream.select_columns([src, tgt]), limit):
            row = row.get("translation", row)
            yield Pair(row[src].strip(), row[tgt].strip())
    except Exception as error:  # whatever the network does, the reader gets one sentence
        message = f"corpus {name}: reading {hub_name} from {ENDPOINT} failed ({error}); set NMT_DATA to use files"
        raise CorpusError(message) from None
