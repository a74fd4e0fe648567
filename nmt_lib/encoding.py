"""A corpus of text as a corpus of ids: tokenised once, kept on the disk, and drawn anew with BPE dropout."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence
from contextlib import nullcontext
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np

from . import __version__
from .bpe_dropout import sample
from .errors import TrainingError, warn
from .rows import BATCH_ROWS, Examples, Pair, Rows, as_rows, cache, mapped_anew
from .tokenizers import Tokenizers

if TYPE_CHECKING:
    from .config import Config

CHARACTERS = 32  # a text with more of them for each token that it may have is too long, and is not looked at further


def encode_pairs(
    pairs: Sequence[Pair],
    tokenizers: Tokenizers,
    config: Config,
    epoch: int | None = None,
) -> Examples:
    """Pairs of text as pairs of ids; pairs with a side of more than ``data.max_length`` tokens are left out.

    So are those with ``CHARACTERS`` times as many characters, before they are tokenised. The ids of a corpus on disk
    lie on disk too: tokenised once, they are found again.

    Args:
        epoch: of training. With ``data.bpe_dropout``, its pieces are drawn from the seed and the epoch, and lie in
            memory; None: no piece is drawn.
    """
    import pyarrow.compute as pc

    if not pairs:
        raise TrainingError("there are no pairs to encode")
    rows, most = as_rows(pairs), config.data.max_length
    characters = [
        pc.utf8_length(column).to_numpy()
        for column in mapped_anew(rows.dataset)[:].columns[:2]
    ]
    short = np.flatnonzero(np.maximum(*characters) <= CHARACTERS * most)
    all_too_long = TrainingError(
        f"every pair is longer than data.max_length={most} tokens: raise it"
    )
    if not short.size:
        raise all_too_long
    rows = rows if short.size == len(rows) else rows.select(short)
    share = 0.0 if epoch is None else config.data.bpe_dropout
    ids = _ids(rows, *tokenizers, share, f"{config.train.seed} {epoch}")
    lengths = np.stack(
        [pc.list_value_length(side).to_numpy() for side in mapped_anew(ids)[:].columns],
        1,
    )  # (N, 2)
    kept = np.flatnonzero(lengths.max(axis=1) <= most)
    if not kept.size:
        raise all_too_long
    if kept.size == len(pairs):
        return Examples(ids, lengths)
    if not epoch:
        warn(
            f"left out {len(pairs) - kept.size} of {len(pairs)} pairs, longer than data.max_length={most} tokens"
        )
    return Examples(ids, lengths).select(kept)


def _ids(
    pairs: Rows[Pair], src_tokenizer: Any, tgt_tokenizer: Any, share: float, seed: str
) -> Any:
    """The ids of both sides as a dataset, where the pairs are (in memory, where pieces are drawn), if not there yet."""
    from datasets import Features, Value, concatenate_datasets
    from filelock import FileLock
    from tqdm.auto import tqdm

    draw = random.Random(seed).random
    sides = {"src": src_tokenizer.encode, "tgt": tgt_tokenizer.encode}
    if share:
        sides = {
            "src": partial(sample, src_tokenizer, share, draw),
            "tgt": partial(sample, tgt_tokenizer, share, draw),
        }

    def encode(table: Any) -> dict[str, list[list[int]]]:
        bar.update(len(table))
        return {
            side: [ids(text) for text in table[side].to_pylist()]
            for side, ids in sides.items()
        }

    rules = [
        __version__,
        *(version(name) for name in ("spacy", "sentencepiece")),
        *([share, seed] if share else []),
    ]
    key = (
        pairs.dataset._fingerprint,
        src_tokenizer.dumps(),
        src_tokenizer.sos,
        tgt_tokenizer.dumps(),
        rules,
    )
    name = hashlib.sha256(repr(key).encode()).hexdigest()[:16]
    options: dict[str, Any] = {
        "batched": True,
        "batch_size": BATCH_ROWS,
        "keep_in_memory": share > 0,
    }
    options["features"] = Features({side: [Value("int32")] for side in sides})
    bar = tqdm(total=len(pairs), desc="encoding the corpus", unit=" pairs", delay=10)
    shared = (
        pairs.dataset.cache_files and not share
    )  # other processes may be making the same files
    with (
        cache() as folder,
        bar,
        FileLock(folder / f"{name}.lock") if shared else nullcontext(),
    ):
        parts = [
            part.map(encode, new_fingerprint=f"{name}-{i}", **options)
            for i, part in enumerate(pairs.parts())
        ]
    return concatenate_datasets(parts)
