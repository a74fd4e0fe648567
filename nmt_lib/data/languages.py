"""Languages as files name them: *en*, *en_US*, *English (UK)*."""

from __future__ import annotations

import re
from functools import lru_cache

NAMES = {
    code: names.split()
    for code, names in re.findall(
        r"\b(\w\w)((?:\s+\w{3,})+)",
        """ar arabic, bg bulgarian, ca catalan, cs czech, cy welsh, da danish, de german
        deutsch, el greek, en english, es spanish español, et estonian, eu basque,
        fa persian, fi finnish, fr french français, ga irish, gl galician, he hebrew,
        hi hindi, hr croatian, hu hungarian, id indonesian, is icelandic, it italian
        italiano, ja japanese, ko korean, lt lithuanian, lv latvian, nb norwegian, nl
        dutch, no norwegian, pl polish polski, pt portuguese português, ro romanian,
        ru russian, sk slovak, sl slovenian, sr serbian, sv swedish, sw swahili,
        th thai, tr turkish, uk ukrainian, ur urdu, vi vietnamese, zh chinese""",
    )
}


@lru_cache
def find_language(lang: str, titles: tuple[str, ...], *others: str) -> list[int]:
    """Where a language, or one of its ``others`` names, is among titles or codes.

    If no title is equal, *en* finds *en-GB*, and *en-GB* finds *en*, but not *en-US*.
    """
    code = _fold(lang)
    names = [f"{name}-" for name in (code, *NAMES.get(code[:2], ()), *others)]
    folded = [f"{_fold(title)}-" for title in titles]
    equal = [[i for i, t in enumerate(folded) if t == name] for name in names]
    related = [
        [i for i, t in enumerate(folded) if t.startswith(name) or name.startswith(t)]
        for name in names
    ]
    return next(filter(None, equal + related), [])


def _fold(title: str) -> str:
    return re.sub(r"_| \(", "-", title.strip(" '\"").casefold())
