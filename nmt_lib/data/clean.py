"""Cleaning: which sentence pairs are left out of a corpus, and why."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache

from .pairs import Pair

LONGEST_SIDE = 1000  # characters
MOST_RATIO = 3.0  # of the lengths, where 1 is usual for these languages
# Signs of damage: control characters, the mark of a failed conversion, halves of
# characters, and code points that are no characters.
DAMAGED = re.compile(
    "[\0-\x08\x0e-\x1b\x7f-\x9f\ufffd\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]|\r."
)
# More combining marks on one letter than any language needs; NFC sorts them slowly.
MARKS = "".join(filter(unicodedata.combining, map(chr, range(0x300, 0x1E94B))))
MANY_MARKS = re.compile(f"[{MARKS}]{{31}}")
TOGETHER = ({"CJK", "HIRAGANA", "KATAKANA"}, {"HANGUL", "CJK"})  # scripts in one text


def clean(
    pairs: Iterable[tuple[str, str]], lost: Counter[str]
) -> list[tuple[str, str]]:
    """The pairs that are worth training on, with single spaces, in Unicode form NFC.

    Args:
        pairs: (source, target).
        lost: counts the pairs left out for each reason; the first that applies counts.
    """
    unique: dict[tuple[str, str], None] = {}
    for texts in pairs:
        if any(map(_is_damaged, texts)):
            lost["damaged characters"] += 1
            continue
        src, tgt = (" ".join(unicodedata.normalize("NFC", t).split()) for t in texts)
        if not src or not tgt:
            lost["empty"] += 1
        elif src == tgt:
            lost["both sides equal"] += 1
        elif max(len(src), len(tgt)) > LONGEST_SIDE:
            lost[f"longer than {LONGEST_SIDE} characters"] += 1
        elif (src, tgt) in unique:
            lost["there already"] += 1
        else:
            unique[src, tgt] = None
    return _drop_outliers(list(unique), lost)


def _is_damaged(text: str) -> bool:
    many_marks = len(text) > 300 and MANY_MARKS.search(text)
    return bool(many_marks or DAMAGED.search(text))


def _drop_outliers(
    pairs: list[tuple[str, str]], lost: Counter[str]
) -> list[tuple[str, str]]:
    """Drops pairs unlike the others: in another script, or of very unequal lengths."""
    sides = list(zip(*pairs, strict=True))  # sources and targets
    main_scripts = list(map(_common_scripts, sides))
    mean = [sum(map(len, texts)) / len(texts) for texts in sides]
    result = []
    for pair in pairs:
        a, b = ((len(text) + 10) / (mean[i] + 10) for i, text in enumerate(pair))
        if not all(map(_fits, pair, main_scripts)):
            lost["letters, but none of the usual script"] += 1
        elif max(a / b, b / a) > MOST_RATIO:
            lost["very different lengths"] += 1
        else:
            result.append(pair)
    return result


@cache
def _script(letter: str) -> str:
    """The script of a letter, the first word of its Unicode name: LATIN, CJK …"""
    return unicodedata.name(letter, "?").partition(" ")[0] if letter.isalpha() else ""


def scripts(text: str) -> set[str]:
    """The scripts of a text's letters."""
    return set(map(_script, set(text))) - {""}


def _common_scripts(texts: Iterable[str]) -> set[str]:
    """The script that nearly all texts use, and the scripts that are used beside it.

    Texts are counted, not letters, because a Chinese sentence about software may have
    more Latin letters. Empty if no script is that common, as in a language with two.
    """
    script_sets = [
        scripts_of_text for text in texts if (scripts_of_text := scripts(text))
    ]
    counts = Counter(
        script for scripts_of_text in script_sets for script in scripts_of_text
    )
    if not counts or counts.most_common(1)[0][1] < 0.8 * len(script_sets):
        return set()
    main = counts.most_common(1)[0][0]
    return set().union({main}, *(group for group in TOGETHER if main in group))


def _fits(text: str, main_scripts: set[str]) -> bool:
    text_scripts = scripts(text)
    return not text_scripts or not main_scripts or bool(text_scripts & main_scripts)


ENGLISH = re.compile(r"\b(the|and|you|that|with|this|have|what|are|not)\b", re.I)


def looks_swapped(pairs: Sequence[Pair], src: str, tgt: str) -> bool:
    """Whether English seems to be on the wrong side of the pairs."""
    sample = pairs[:2000]
    sides = [pair.src for pair in sample], [pair.tgt for pair in sample]
    counts = [len(ENGLISH.findall(" ".join(texts))) for texts in sides]
    if src.startswith("en") == tgt.startswith("en"):
        return False
    here, there = counts if src.startswith("en") else reversed(counts)
    return there > 2 * here + 5
