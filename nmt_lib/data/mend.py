"""Mending: what can be put right in the sentence pairs of a file, before any is left
out: lines that lost their translations, entities, and text in a wrong encoding."""

from __future__ import annotations

import codecs
import html
import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..errors import CorpusError
from .clean import Report
from .files import LONE

OFFSETS = np.arange(-10, 11)  # lines that a translation may have moved
CHANGE = 12.0  # what another offset costs, in nats
WORST = 4.5  # what two lengths cost at most, so that one odd pair moves nothing
ENTITY = re.compile(r"&(?:[a-zA-Z]{2,8}|#\d{1,6}|#x[0-9a-fA-F]{1,5});")


def mend(pairs: Sequence[tuple[str, str]], report: Report) -> list[tuple[str, str]]:
    """The pairs with their translations beside them, and without entities and mojibake.

    Args:
        pairs: (source, target), in the order of the file: no pair is left out yet.
        report: counts what is mended, and the lines that lost their translation.

    Raises:
        CorpusError: one Moses file is longer, and lengths do not tell why.
    """
    sources, targets = [src for src, _ in pairs], [tgt for _, tgt in pairs]
    if len(pairs) > 99 and is_sorted(log_lengths(sources)):
        report.remarks.append("a shift cannot be told: the lines are sorted")
    offsets = line_offsets(sources, targets).tolist()
    lone = report.left_out.pop(LONE, 0)
    if lone and lone != abs(offsets[-1]):
        raise CorpusError(
            f"one side is longer by {lone}, and lengths do not tell where the other "
            "lost lines: line n of one must translate line n of the other"
        )
    result = []
    for i, offset in enumerate(offsets):
        if not 0 <= i + offset < len(pairs):
            report.note(report.left_out, "beyond the end of a shifted side", pairs[i])
            continue
        pair = sources[i], targets[i + offset]
        if offset:
            report.note(report.mended, "shifted by a lost or an added line", pair)
        tidy = mend_text(pair[0]), mend_text(pair[1])
        if tidy != pair:
            report.note(report.mended, "entities or wrong encoding", pair)
        result.append(tidy)
    return result


def line_offsets(sources: Sequence[str], targets: Sequence[str]) -> NDArray[np.int64]:
    """How many lines after each source its translation stands, ``(N,)``, by lengths.

    In a file that lost or gained a line, every pair behind it is wrong. The offsets are
    the most probable path (Viterbi, 1967): lengths that fit cost little, and so does
    keeping an offset. All 0 where lengths say nothing, as in a file sorted by length.
    """
    src, tgt, n = log_lengths(sources), log_lengths(targets), len(sources)
    ratios = (tgt - src)[(src > 0) & (tgt > 0)]
    if len(ratios) < 3 or is_sorted(src):
        return np.zeros(n, dtype=np.int64)
    middle = np.median(ratios)
    spread = np.clip(1.4826 * np.median(abs(ratios - middle)), 0.1, 0.3)
    best, steps = CHANGE * (OFFSETS != 0), np.zeros((n, len(OFFSETS)), dtype=np.int8)
    for i in range(n):
        rows = i + OFFSETS
        z = (tgt[rows.clip(0, n - 1)] - src[i] - middle) / spread
        costs = np.where((rows < 0) | (rows >= n), WORST, np.minimum(z * z / 2, WORST))
        if sources[i] == targets[i]:  # an untranslated line is where it was
            costs[OFFSETS == 0] = 0
        jump = best.argmin()
        moves = best > best[jump] + CHANGE
        steps[i] = np.where(moves, jump, np.arange(len(OFFSETS)))
        best = np.where(moves, best[jump] + CHANGE, best) + costs
    path, state = np.zeros(n, dtype=np.int64), best.argmin()
    for i in reversed(range(n)):
        path[i] = OFFSETS[state]
        state = steps[i, state]
    for offset in set(path.tolist()) - {0}:
        rows = np.flatnonzero(path == offset)
        moved = correlation(src[rows], tgt[(rows + offset).clip(0, n - 1)])
        stays = correlation(src[rows], tgt[rows])
        # Without clear evidence: lengths of few lines may agree by chance.
        if moved < 0.3 + max(3 / len(rows) ** 0.5, stays):
            path[rows] = 0
    return path


def correlation(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    """Pearson's correlation of lengths, empty texts left out; 0 if one is constant."""
    both = (a > 0) & (b > 0)
    a, b = a[both], b[both]
    varied = len({*a}) > 1 and len({*b}) > 1
    return float(np.corrcoef(a, b)[0, 1]) if varied else 0.0


def log_lengths(texts: Sequence[str]) -> NDArray[np.float64]:
    return np.log1p([len(text) for text in texts])


def is_sorted(lengths: NDArray[np.float64]) -> bool:
    """Whether lines stand in the order of their lengths, or nearly so."""
    return len({*lengths}) < 2 or correlation(lengths[:-1], lengths[1:]) > 0.9


def mend_text(text: str) -> str:
    """A text with its characters in place of entities and of mojibake."""
    for _ in range(2):  # ``&amp;quot;`` was escaped twice
        if ENTITY.search(text):
            text = html.unescape(text)
    if text.isascii():
        return text
    try:  # UTF-8 that was read as Windows-1252
        return text.encode("cp1252", "latin-1").decode()
    except UnicodeError:
        return text


def _latin_1(error: UnicodeError) -> tuple[bytes, int]:
    """Windows-1252 has five gaps, which are read as Latin-1."""
    assert isinstance(error, UnicodeEncodeError)
    return error.object[error.start : error.end].encode("latin-1"), error.end


codecs.register_error("latin-1", _latin_1)
