"""The ids that a vocabulary gives to the tiny corpus.

``torchtext_ids.json`` holds those of the real torchtext 0.18; ``nox -s torchtext``
makes them again and compares.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from nmt_lib.data.tiny.corpus import generate
from nmt_lib.data.tiny.spelling import LANGUAGES
from nmt_lib.data.tokens import SPECIALS, UNK

FILE = Path(__file__).with_name("torchtext_ids.json")
# é is one character or two, and the order of U+FFFF and 😀 depends on the encoding.
ODD = ["a", "B", "", " ", "\0", "é", "e\u0301", "ß", "ẞ", "中", "\uffff", "😀", "<unk>"]


def ids(vocab: ModuleType) -> dict[str, Any]:
    """All tokens in the order of their ids, and the ids of twenty sentences."""
    train = generate(seed=0)["train"]
    texts = {lang: [list(one.tokens[lang]) for one in train] for lang in LANGUAGES}
    found = {}
    for name, sentences in (texts | {"odd": [ODD]}).items():
        min_freq = 20 if name in LANGUAGES else 1
        words = vocab.build_vocab_from_iterator(sentences, min_freq, list(SPECIALS))
        words.set_default_index(UNK)
        found[name] = {
            "tokens": words.get_itos(),
            "ids": list(map(words, sentences[:20])),
        }
    return found


if __name__ == "__main__":
    import torchtext

    torchtext.disable_torchtext_deprecation_warning()
    import torchtext.vocab as theirs

    made = json.dumps(ids(theirs), separators=(",", ":")) + "\n"
    if "--write" in sys.argv:
        FILE.write_text(made, encoding="utf-8")
    sys.exit(
        made != FILE.read_text("utf-8") and f"torchtext gives other ids than {FILE}"
    )
