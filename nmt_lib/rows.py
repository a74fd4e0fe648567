"""Rows: sentence pairs and their ids, two or two million of them, kept by the package ``datasets``.

Small corpora lie in memory. Those that are read from files or from the hub are kept in ``runs/cache``
(``$NMT_RUNS/cache`` where that is set), found again, and mapped into memory as they are read.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from . import __version__
from .errors import CorpusError

T = TypeVar("T")
PART_ROWS, BATCH_ROWS = (
    50_000,
    10_000,
)  # read before pages are let go; lying together in a file


@dataclass(frozen=True)
class Pair:
    """One sentence in two languages; ``alignment`` holds gold links (source word, target word), where known."""

    src: str
    tgt: str
    alignment: tuple[tuple[int, int], ...] = ()


class Rows(Sequence[T]):
    """Rows of a ``datasets.Dataset`` as objects, made when they are asked for; slices are ``Rows`` too.

    Args:
        dataset: in memory or, however large, on disk: the system maps into memory what is being read.
        item: makes an object of a row, a tuple with a value of each column.
    """

    def __init__(self, dataset: Any, item: Callable[[Any], T]) -> None:
        self.dataset, self.item = dataset.with_format("arrow"), item

    def __len__(self) -> int:
        return len(self.dataset)

    def __getitem__(self, index: Any) -> Any:
        chosen = range(len(self))[index]
        return (
            self.take([chosen])[0] if isinstance(chosen, int) else self.select(chosen)
        )

    def __iter__(self) -> Iterator[T]:
        for part in self.parts():
            for start in range(0, len(part), 1000):
                yield from Rows(part, self.item).take(
                    range(start, min(start + 1000, len(part)))
                )

    def parts(self) -> Iterator[Any]:
        """The dataset in pieces. Each maps its files anew, so that what was read is let go: memory stays flat."""
        for start in range(0, len(self), PART_ROWS):
            yield mapped_anew(self.dataset).select(
                range(start, min(start + PART_ROWS, len(self)))
            )

    def __add__(self, other: Iterable[T]) -> list[T]:
        return [*self, *other]

    def __radd__(self, other: Iterable[T]) -> list[T]:
        return [*other, *self]

    def take(self, indices: Any) -> list[T]:
        """The objects at these places, in this order."""
        return list(
            map(
                self.item, zip(*self.dataset[indices].to_pydict().values(), strict=True)
            )
        )

    def select(self, indices: Any) -> Rows[T]:
        """The rows at these places, in this order; nothing is copied."""
        return Rows(self.dataset.select(indices), self.item)


class Examples(Rows[tuple[list[int], list[int]]]):
    """Rows of source and target ids; ``lengths`` says how many there are of each, ``(N, 2)``."""

    def __init__(self, dataset: Any, lengths: np.ndarray) -> None:
        super().__init__(dataset, tuple)
        self.lengths = lengths

    def select(self, indices: Any) -> Examples:
        return Examples(
            self.dataset.select(indices),
            self.lengths[np.asarray(indices, dtype=np.int64)],
        )


def mapped_anew(dataset: Any) -> Any:
    """The same dataset with mappings of its own: what is read through them is let go with them."""
    return pickle.loads(pickle.dumps(dataset))


def as_rows(pairs: Sequence[Pair]) -> Rows[Pair]:
    """A list of pairs as rows in memory; rows stay what they are."""
    from datasets import Dataset
    from datasets.table import InMemoryTable

    if isinstance(pairs, Rows):
        return pairs
    schema = _features().arrow_schema
    columns = {name: [getattr(pair, name) for pair in pairs] for name in schema.names}
    return Rows(Dataset(InMemoryTable.from_pydict(columns, schema)), _pair)


def stored_rows(read: Callable[..., Iterable[Pair]], *source: Any) -> Rows[Pair]:
    """The pairs that ``read(*source)`` gives, on disk. It is called where those of this source are not there yet."""
    from datasets import Dataset

    key = {"read": read, "source": source, "version": __version__}
    kwargs: Any = {"gen_kwargs": key, "writer_batch_size": BATCH_ROWS}
    with cache() as folder:
        try:
            return Rows(
                Dataset.from_generator(_rows, _features(), str(folder), **kwargs), _pair
            )
        except ValueError as error:
            if "no data" in str(error):  # an empty file
                return as_rows([])
            raise


def _rows(
    read: Callable[..., Iterable[Pair]], source: tuple[Any, ...], version: str
) -> Iterator[dict[str, Any]]:
    from tqdm.auto import tqdm

    return map(
        vars, tqdm(read(*source), desc="reading the corpus", unit=" pairs", delay=10)
    )


def _features() -> Any:
    from datasets import Features, Value

    return Features(
        {
            "src": Value("string"),
            "tgt": Value("string"),
            "alignment": [[Value("int32")]],
        }
    )


def _pair(row: tuple[str, str, list[Any]]) -> Pair:
    return Pair(row[0], row[1], tuple(map(tuple, row[2])))


@contextmanager
def cache() -> Iterator[Path]:
    """The folder for what ``datasets`` prepares, which shows no progress of its own meanwhile.

    Raises:
        CorpusError: the folder cannot be written, or something in it is damaged.
    """
    import pyarrow as pa
    from datasets.exceptions import DatasetGenerationError
    from datasets.utils import (
        are_progress_bars_disabled,
        disable_progress_bars,
        enable_progress_bars,
    )

    folder, hidden = (
        Path(os.environ.get("NMT_RUNS", "runs")) / "cache",
        are_progress_bars_disabled(),
    )
    disable_progress_bars()
    try:
        yield folder
    except (OSError, pa.ArrowException, DatasetGenerationError) as error:
        cause = error.__cause__ or error
        if isinstance(cause, CorpusError):
            raise cause from None
        message = f"cannot keep the corpus in {folder} ({cause}): free some space, set NMT_RUNS to another place, or"
        raise CorpusError(
            f"{message}, where files are damaged, delete the folder; it is made again"
        ) from None
    finally:
        if not hidden:
            enable_progress_bars()
