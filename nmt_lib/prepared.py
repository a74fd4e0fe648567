"""What is prepared once is found again: the pairs of a corpus, and their ids, as files in ``runs/cache``.

The folder is ``$NMT_RUNS/cache`` where that is set. In it, each corpus and each encoding has a folder named after all
that determines its content, so that another corpus, tokenizer or version makes another one. Deleting costs only time.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import count, islice
from pathlib import Path
from typing import Any

import numpy as np

from . import __version__, on_disk
from .errors import CorpusError
from .on_disk import OnDisk

BLOCK_ROWS = 25_000  # rows that lie together in a file, and are in memory at once while it is written


def write_once(rows: Iterable[tuple[str, str, str]], item: Callable[..., Any], key: object) -> OnDisk:
    """Rows of source, target and alignment as a sequence of items on disk.

    They are asked for only where nothing lies there under the key: all that determines them, as its ``repr``.
    """
    import pyarrow as pa
    from tqdm.auto import tqdm

    with _folder("pairs", key) as folder:
        if not folder.is_dir():
            part = folder.with_suffix(".part")  # moved in one step, when it is whole
            shutil.rmtree(part, ignore_errors=True)
            part.mkdir()
            schema = pa.schema([(name, pa.string()) for name in ("src", "tgt", "alignment")])
            left = iter(tqdm(rows, desc="reading the corpus", unit=" pairs", delay=2))
            for number in count():
                rows_of_file = islice(left, on_disk.FILE_ROWS)
                block = list(islice(rows_of_file, BLOCK_ROWS))
                if number and not block:
                    break
                with pa.OSFile(str(part / f"{number:05d}.arrow"), "wb") as file, pa.ipc.new_stream(file, schema) as out:
                    while block:
                        columns = [pa.array([row[column] for row in block], pa.string()) for column in range(3)]
                        out.write_batch(pa.record_batch(columns, schema=schema))
                        block = list(islice(rows_of_file, BLOCK_ROWS))
            part.rename(folder)
    return OnDisk(sorted(folder.glob("*.arrow")), item)


def encode_once(pairs: OnDisk, encode: Callable[[str, str], tuple[list[int], list[int]]], key: object) -> OnDisk:
    """The ids of pairs as a sequence of examples on disk.

    They are made only where nothing lies there under the key: all that determines them beside the text.
    """
    parts = pairs.parts()
    source = pairs.files[0].parent.name, [hashlib.sha256(part.tobytes()).digest() for part in parts]
    with _folder("ids", (*source, key)) as folder:
        folder.mkdir(exist_ok=True)
        files = [folder / f"{number:05d}.arrow" for number in range(len(parts))]
        for file, part in zip(files, parts, strict=True):
            if not file.is_file():
                _map(pairs.load(part), encode, file)
    return OnDisk(files, lambda src, tgt: (src, tgt), np.searchsorted(np.concatenate(parts), pairs.rows))


def _map(table: Any, encode: Callable[[str, str], tuple[list[int], list[int]]], file: Path) -> None:
    """``Dataset.map`` writes beside the place, and moves the file there in one step when it is whole."""
    import pyarrow as pa
    from datasets import Dataset, Features

    def batch(rows: dict[str, list[str]]) -> dict[str, list[list[int]]]:
        examples = [encode(src, tgt) for src, tgt in zip(rows["src"], rows["tgt"], strict=True)]
        return {"src": [src for src, _ in examples], "tgt": [tgt for _, tgt in examples]}

    ids = Features.from_arrow_schema(pa.schema([(side, pa.list_(pa.int32())) for side in ("src", "tgt")]))
    sizes = {"batch_size": BLOCK_ROWS, "writer_batch_size": BLOCK_ROWS}
    names = {"cache_file_name": str(file), "new_fingerprint": file.parent.name, "desc": f"encoding, {file.stem}"}
    dataset = Dataset(table, fingerprint="pairs")  # its own one would be a hash of a copy of all texts
    dataset.map(batch, batched=True, features=ids, remove_columns=table.column_names, **sizes, **names)


@contextmanager
def _folder(kind: str, key: object) -> Iterator[Path]:
    """The folder of a key. One process works on it, others that ask for the same wait."""
    from filelock import FileLock

    _let_go()
    name = hashlib.sha256(repr((__version__, key)).encode()).hexdigest()[:16]
    folder = Path(os.environ.get("NMT_RUNS", "runs")) / "cache" / f"{kind}-{name}"
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{folder}.lock"):
            yield folder
    except OSError as error:
        why = error.strerror or error
        raise CorpusError(f"cannot write {folder} ({why}): free some space, or set NMT_RUNS to another place") from None
    _let_go()


def _let_go() -> None:
    """Gives back to the system what Arrow and the C library keep of freed memory; SentencePiece frees a lot."""
    import pyarrow as pa

    pa.default_memory_pool().release_unused()
    with suppress(OSError, AttributeError, TypeError):  # other C libraries have no such call
        ctypes.CDLL(None).malloc_trim(0)
