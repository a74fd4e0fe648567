"""Cleaning: which sentence pairs are left out of a corpus, and why."""

from __future__ import annotations

import math
import re
import statistics
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache

from ..errors import printable
from .pairs import Pair
from .split import fold

LONGEST_SIDE = 1000  # characters
UNUSUAL = 4.0  # standard deviations of the log ratio of lengths
# Signs of damage: control characters, the mark of a failed conversion, halves of
# characters, and code points that are no characters.
DAMAGED = re.compile(
    "[\0-\x08\x0e-\x1b\x7f-\x9f\ufffd\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]|\r."
)
# More combining marks on one letter than any language needs; NFC sorts them slowly.
MARKS = "".join(filter(unicodedata.combining, map(chr, range(0x300, 0x1E94B))))
MANY_MARKS = re.compile(f"[{MARKS}]{{31}}")
TOGETHER = ({"CJK", "HIRAGANA", "KATAKANA"}, {"HANGUL", "CJK"})  # scripts in one text


@dataclass
class Report:
    """What became of a file's pairs: how many, and one of them, for each reason.

    ``odd`` pairs are kept: they are worth a look. A remark is about the whole file.
    """

    left_out: Counter[str] = field(default_factory=Counter)
    mended: Counter[str] = field(default_factory=Counter)
    odd: Counter[str] = field(default_factory=Counter)
    remarks: list[str] = field(default_factory=list)
    examples: dict[str, tuple[str, str]] = field(default_factory=dict)
    columns: list[str] = field(default_factory=list)  # where a table has several

    def note(self, kind: Counter[str], reason: str, pair: tuple[str, str]) -> None:
        kind[reason] += 1
        self.examples.setdefault(reason, pair)

    def lines(self) -> Iterator[str]:
        """The remarks, then a line for each reason, and one with its example."""
        yield from self.remarks
        for title in ("mended", "left_out", "odd"):
            for reason, n in getattr(self, title).most_common():
                yield f"{n:,} {title.replace('_', ' ')}: {reason}"
                if example := self.examples.get(reason):
                    yield "    " + "  |  ".join(_excerpt(side) for side in example)


def _excerpt(text: str, limit: int = 38) -> str:
    text = printable(" ".join(text.split()))
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def clean(pairs: Iterable[tuple[str, str]], report: Report) -> list[tuple[str, str]]:
    """The pairs that are worth training on, with single spaces, in Unicode form NFC.

    Args:
        pairs: (source, target).
        report: counts the pairs left out for each reason; the first that applies
            counts.
    """
    unique: dict[tuple[str, str], None] = {}
    for texts in pairs:
        reason = ""
        if any(
            DAMAGED.search(t) or (len(t) > 300 and MANY_MARKS.search(t)) for t in texts
        ):
            report.note(report.left_out, "damaged characters", texts)
            continue
        src, tgt = (" ".join(unicodedata.normalize("NFC", t).split()) for t in texts)
        if not src or not tgt:
            reason = "empty"
        elif max(len(src), len(tgt)) > LONGEST_SIDE:
            reason = f"longer than {LONGEST_SIDE} characters"
        elif src == tgt or (" " in src and fold(src) == fold(tgt)):
            reason = "both sides equal"
        elif (src, tgt) in unique:
            reason = "there already"
        if reason:
            report.note(report.left_out, reason, texts)
        else:
            unique[src, tgt] = None
    return _drop_outliers(list(unique), report)


def _drop_outliers(
    pairs: list[tuple[str, str]], report: Report
) -> list[tuple[str, str]]:
    """Drops pairs unlike the others: in another script or in the language of the other
    side, with other tags, or of unusual lengths."""
    habits = [_script_habits(texts) for texts in zip(*pairs, strict=True)]
    in_place = _in_their_language(pairs, report)
    ratios = [math.log((len(src) + 5) / (len(tgt) + 5)) for src, tgt in pairs]
    middle = statistics.median(ratios or [0])
    # 1.48 median deviations are a standard deviation; few pairs say little about it.
    deviation = statistics.median([abs(ratio - middle) for ratio in ratios] or [0])
    spread = max(1.48 * deviation, 1 / math.sqrt(len(pairs) or 1))
    result = []
    for pair, fits, ratio in zip(pairs, in_place, ratios, strict=True):
        src_tags, tgt_tags = (sorted(TAG.findall(text)) for text in pair)
        letters, reason = list(zip(map(scripts, pair), habits, strict=True)), ""
        if any(own and own.isdisjoint(usual) for own, (usual, _) in letters):
            reason = "letters, but none of the usual script"
        elif not fits:
            reason = "in the language of the other side"
        elif src_tags != tgt_tags:
            reason = "not the same tags"
        elif abs(ratio - middle) > UNUSUAL * spread:
            reason = "unusual lengths"
        if reason:
            report.note(report.left_out, reason, pair)
            continue
        if any(own & rare for own, (_, rare) in letters):
            reason = "letters of a rare script"
        if reason := reason or _oddity(*pair):
            report.note(report.odd, reason, pair)
        result.append(pair)
    return result


def _oddity(src: str, tgt: str) -> str:
    """What is strange about a pair that may be right all the same."""
    src_digits, tgt_digits = (sorted(re.findall(r"\d", text)) for text in (src, tgt))
    if src_digits and tgt_digits and src_digits != tgt_digits:
        return "other digits"
    src_words, tgt_words = (set(WORD.findall(t.casefold())) for t in (src, tgt))
    if len(tgt_words) > 1 and 2 * len(src_words & tgt_words) >= len(tgt_words):
        return "half of the words are equal"
    return ""


WORD = re.compile(r"[^\W\d_]{3,}")
TAG = re.compile(r"</?[a-zA-Z][^<>]{0,200}>")
SHORT = 20  # letters; the language of fewer cannot be told


def _in_their_language(pairs: Sequence[tuple[str, str]], report: Report) -> list[bool]:
    """Whether neither side is in the language of the other, by the file's own trigrams.

    A third language is not noticed. True for all if the languages are too alike.
    """
    sample = pairs[:: 1 + len(pairs) // 20_000]
    src, tgt = (
        Counter(t for pair in sample for t in _trigrams(pair[side])) for side in (0, 1)
    )
    products = [
        sum(a[t] * b[t] for t in a) for a, b in ((src, tgt), (src, src), (tgt, tgt))
    ]
    if len(pairs) > 60 and products[0] ** 2 > 0.9 * products[1] * products[2]:
        report.remarks.append("both sides seem to be in one language")
    shift = math.log((tgt.total() + 1) / (src.total() + 1))
    odds = {t: math.log((src[t] + 0.5) / (tgt[t] + 0.5)) + shift for t in src | tgt}
    result = []
    for pair in pairs:
        scores = [
            sum(odds.get(t, 0.0) for t in _trigrams(text))
            if sum(map(str.isalpha, text)) > SHORT
            else 0.0
            for text in pair
        ]
        result.append(scores[0] >= 0 >= scores[1])
    return result if sum(result) > 0.6 * len(result) else [True] * len(result)


def _trigrams(text: str) -> list[str]:
    text = f" {text.casefold()} "
    return [text[i : i + 3] for i in range(len(text) - 2)]


@cache
def _script(letter: str) -> str:
    """The script of a letter, the first word of its Unicode name: LATIN, CJK …"""
    letter = unicodedata.normalize("NFKC", letter)[0]  # º is an o
    return unicodedata.name(letter, "?").partition(" ")[0] if letter.isalpha() else ""


def scripts(text: str) -> set[str]:
    """The scripts of a text's letters."""
    return set(map(_script, set(text))) - {""}


def _script_habits(texts: Sequence[str]) -> tuple[set[str], set[str]]:
    """The scripts that texts of a language are in, and those that are rare in them.

    The first are the script that nearly all texts use, and what is used beside it; if
    there is none, as in a language with two, all scripts. Texts are counted, not
    letters, because a Chinese sentence about software may have more Latin letters. A
    rare script is one that fewer than one text in a hundred uses, such as a Cyrillic
    *a* in a French word.
    """
    used = list(filter(None, map(scripts, texts)))  # of the texts with letters
    counts = Counter(script for alphabet in used for script in alphabet)
    rare = {script for script, n in counts.items() if 100 * n < len(texts)}
    main = max(counts, key=lambda script: counts[script], default="")
    if counts[main] < 0.8 * len(used):
        return {*counts}, rare
    return {main}.union(*(group for group in TOGETHER if main in group)), rare


ENGLISH = re.compile(r"\b(the|and|you|that|with|this|have|what|are|not)\b", re.I)


def looks_swapped(pairs: Sequence[Pair], src: str, tgt: str) -> bool:
    """Whether English seems to be on the wrong side of the pairs."""
    if src.startswith("en") == tgt.startswith("en"):
        return False
    sides = ("src", "tgt") if src.startswith("en") else ("tgt", "src")
    here, there = (
        sum(len(ENGLISH.findall(getattr(pair, side))) for pair in pairs[:2000])
        for side in sides
    )
    return there > 2 * here + 5
