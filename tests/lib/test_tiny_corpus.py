"""The tiny corpus, checked from outside: by gold links and wrong forms, written by
hand.
"""

import os
import re
import subprocess
import sys
from hashlib import sha256
from itertools import permutations

import pytest

from nmt_lib.data.tiny.spelling import LANGUAGES, Triple
from tests.lib.small import tiny_corpus


@pytest.fixture(scope="module")
def triples() -> list[Triple]:
    return [triple for part in tiny_corpus(seed=0).values() for triple in part]


@pytest.fixture(scope="module")
def texts(triples: list[Triple]) -> dict[str, list[str]]:
    return {lang: [triple.text(lang) for triple in triples] for lang in LANGUAGES}


def test_translation_is_one_to_one_in_every_direction(
    texts: dict[str, list[str]],
) -> None:
    """Of two seeds together: what is ambiguous may be missing in one of them."""
    new = [triple for part in tiny_corpus(seed=1).values() for triple in part]
    columns = {
        lang: [*texts[lang], *(triple.text(lang) for triple in new)]
        for lang in LANGUAGES
    }
    for source, target in permutations(LANGUAGES, 2):
        pairs = {*zip(columns[source], columns[target], strict=True)}
        assert len(dict(pairs)) == len(pairs), (source, target)


def test_every_process_makes_the_corpus_that_all_results_were_measured_on() -> None:
    """This one, whose hashes Python has drawn, and one with hashes of its own."""
    code = """
from hashlib import sha256
from nmt_lib.data.tiny.corpus import generate
print(sha256(repr(generate(seed=0)).encode()).hexdigest()[:16])"""
    command, env = [sys.executable, "-c", code], os.environ | {"PYTHONHASHSEED": "1"}
    made = subprocess.check_output(command, env=env, text=True).strip()
    ours = sha256(repr(tiny_corpus(seed=0)).encode()).hexdigest()[:16]
    assert made == ours == "c280e4301ee72484"


# English sentences, and their gold pairs with other languages, written out by hand.
GOLD = """\
A man is reading.
de 0-0 1-1 2-2 3-2 4-3
fr 0-0 1-1 2-2 3-2 4-3

The milk drank the cat.
de 0-0 1-1 2-2 3-3 4-4 5-5
fr 0-0 1-1 2-2 2-3 3-4 4-5 5-6

The pretty woman came home.
de 0-0 1-1 2-2 3-3 4-4 4-5 5-6
fr 0-0 1-2 2-1 3-3 3-4 4-4 5-5

The boy sees that the cat is drinking the milk.
de 0-0 1-1 2-2 3-4 4-5 5-6 6-9 7-9 8-7 9-8 10-10
fr 0-0 1-1 2-2 3-3 4-4 5-5 6-6 7-6 8-7 9-8 10-9

The man who is wearing a hat is reading a book.
de 0-0 1-1 2-3 3-6 4-6 5-4 6-5 7-8 8-8 9-9 10-10 11-11

The woman is sleeping because she is tired.
fr 0-0 1-1 2-2 3-2 4-3 4-4 5-5 6-6 7-7 8-8
de 0-0 1-1 2-2 3-2 4-4 5-5 6-7 7-6 8-8

She sat down in the chair, it was very comfortable.
de 0-0 1-1 1-2 2-1 2-2 3-3 4-4 5-5 6-6 7-7 8-8 9-9 10-10 11-11
fr 0-0 1-1 1-2 1-3 2-1 2-2 2-3 3-4 4-5 5-6 6-7 7-8 8-9 9-10 10-11 11-12
"""


def links(pairs: str) -> list[tuple[int, ...]]:
    return sorted(tuple(map(int, pair.split("-"))) for pair in pairs.split())


@pytest.mark.parametrize("block", GOLD.split("\n\n"))
def test_alignment_equals_hand_written_gold(triples: list[Triple], block: str) -> None:
    english, *rows = block.splitlines()
    (triple,) = [triple for triple in triples if triple.text("en") == english]
    for lang, _, pairs in (row.partition(" ") for row in rows):
        assert list(triple.alignment("en", lang)) == links(pairs)


WRONG = {
    "en": [r"\b(an?|two) (cold |hot )?(milk|water|coffee|tea|soup|bread)\b"],
    "de": [
        r"^(den|dem|einen|einem|einer)\b",  # no sentence begins with its object
        r"\b(in dem|an dem)\b",
        r"\b(mit|unter|vor|hinter) (die|das|den|ein|eine|einen)\b",
        r"\b(folgt|folgte|hilft|half|folgen|helfen) (den|die|das|einen|eine|ein)\b",
        r"\b(den|dem|einen|einem) Junge\b",
        r"\bdas (kalt|heiß)es\b",
        r"(?<!das )(kalte|heiße) Wasser",
        r"\b(kalt|heiß)e[rs]? (Kaffee|Tee)|\b(kalt|heiß)e[ns] (Milch|Suppe)",
        r"[^,] (dass|weil|aber)\b",
        r", (dass|weil) .* (?!(\w+t|\w+en|ist|sind|isst|sieht|weiß)\.$)\S+$",
        r"^(heute|jetzt|gestern) (?![a-zäöüß]+ (der|die|das|eine?|zwei|er|sie)\b)",
    ],
    "fr": [
        r"\b(le|la|de|que|ne|se) [aeiouhéèêœ]",
        r"\b(de le|de les|à le|à les)\b",
        r"\b(l|d|qu|n|s)'(?![aeiouhéèêœ])",
        r"\b(un|le) (beau|vieux) [aeiouhéèêœ]|\b(bel|vieil) [^aeiouhéèêœ]",
    ],
}


@pytest.mark.parametrize(
    ("lang", "pattern"), [(lang, one) for lang, some in WRONG.items() for one in some]
)
def test_no_sentence_has_a_wrong_form(
    texts: dict[str, list[str]], lang: str, pattern: str
) -> None:
    for text in texts[lang]:
        assert not re.search(pattern, text[0].lower() + text[1:]), text
