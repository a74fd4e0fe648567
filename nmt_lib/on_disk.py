"""Sequences that stay on disk: read like lists, however large they are, while memory stays flat.

The system maps Arrow files into memory page by page as they are read, and takes pages back where memory is short.
``prepared`` writes the files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from .errors import CorpusError

FILE_ROWS = 100_000  # rows in a file; the last one of a folder may hold fewer


class OnDisk(Sequence[Any]):
    """A sequence whose items lie in Arrow files; slices and ``take`` give others on the same files.

    Args:
        files: as ``prepared.write_once`` and ``prepared.encode_once`` leave them.
        item: makes an item from the columns of a row.
        rows: which rows, in which order, none twice; default: all.
    """

    def __init__(self, files: list[Path], item: Callable[..., Any], rows: np.ndarray | None = None) -> None:
        self.files, self.item = files, item
        self.columns = _table(files).columns
        self.rows = np.arange(len(self.columns[0])) if rows is None else rows
        # A batch asks for each of its items four times.
        self._read = lru_cache(maxsize=4096)(lambda row: item(*(column[row].as_py() for column in self.columns)))

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: Any) -> Any:
        rows = self.rows[index]
        return OnDisk(self.files, self.item, rows) if isinstance(index, slice) else self._read(int(rows))

    def __add__(self, other: Sequence[Any]) -> list[Any]:
        return [*self, *other]

    def lengths(self) -> np.ndarray:
        """Bytes or ids of source and target, ``(N, 2)``; their content is not read."""
        import pyarrow as pa
        import pyarrow.compute as pc

        measure = pc.binary_length if pa.types.is_string(self.columns[0].type) else pc.list_value_length
        return np.stack([measure(column).to_numpy()[self.rows] for column in self.columns[:2]], axis=1)

    def parts(self) -> list[np.ndarray]:
        """The rows in the order of the files, in which they are read fastest, in parts of ``FILE_ROWS``."""
        rows = np.sort(self.rows)
        return [rows[start : start + FILE_ROWS] for start in range(0, len(rows), FILE_ROWS)]

    def load(self, part: np.ndarray) -> Any:
        """One of the parts as a table in memory. The files are mapped afresh, so that what was read is let go."""
        mask = np.isin(np.arange(part[0], part[-1] + 1), part, assume_unique=True)
        return _table(self.files).slice(int(part[0]), len(mask)).filter(mask)


class Lengths(Sequence[Any]):
    """Stands in for examples where only their lengths are asked for: ``len(range(n))`` is ``n``."""

    def __init__(self, examples: OnDisk) -> None:
        self.lengths = examples.lengths()

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, index: Any) -> Any:
        return tuple(map(range, self.lengths[index]))


def take(items: Sequence[Any], rows: Iterable[int]) -> Sequence[Any]:
    """The items at these places, in this order."""
    if isinstance(items, OnDisk):
        return OnDisk(items.files, items.item, items.rows[np.fromiter(rows, dtype=np.int64)])
    return [items[row] for row in rows]


def texts(pairs: Sequence[Any], side: str) -> Iterator[str]:
    """The texts of one side, ``src`` or ``tgt``; those on disk in the order of the files."""
    if isinstance(pairs, OnDisk):
        return (text for part in pairs.parts() for text in pairs.load(part)[side].to_pylist())
    return (getattr(pair, side) for pair in pairs)


def _table(files: list[Path]) -> Any:
    import pyarrow as pa

    try:
        return pa.concat_tables([pa.ipc.open_stream(pa.memory_map(str(file))).read_all() for file in files])
    except (OSError, pa.ArrowInvalid) as error:
        raise CorpusError(f"{files[0].parent} is damaged ({error}): delete it, and it is made again") from None
