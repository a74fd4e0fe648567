"""A small grammar that writes picture captions in English, German and French.

A tiny Transformer learns this corpus in about a minute on a laptop. The grammar builds
the three sentences from one meaning, so it also knows which word translates which: it
gives gold word alignments. No download is needed.

Every phrase is built three times, and each word carries the names of the concepts that
it expresses, written after a slash:

    en   A/s.det old/s.adj man/s.noun is/v reading/v ./end
    de   Ein/s.det alter/s.adj Mann/s.noun liest/v ./end
    fr   Un/s.det vieil/s.adj homme/s.noun lit/v ./end

Two words are aligned if they share a concept, so "is" and "reading" are both aligned
with "liest". A word without a concept has no alignment: the partitive "du" in "du
lait", a comma that only German has.

The grammar keeps translation one-to-one: a sentence has exactly one counterpart in each
other language. English "is reading" is always German "liest" and French "lit"; English
"read" is always "las" and "a lu".
"""

from __future__ import annotations

import random
from collections import Counter

from .grammar import (
    BELIEFS,
    THAT,
    because_of_feeling,
    came_home,
    clause,
    described_twice,
    sat_down,
    statement,
)
from .lexicon import NOUNS, VERBS, rows
from .phrases import HE, NP, SHE, join, noun_phrase, relative_clause
from .spelling import LANGUAGES, Triple, sentence
from .templates import TEMPLATES, Draw


# Subject, verb and object that change places: "The cat drank the milk" and "The milk
# drank the cat".
SWAPS = """
cat   drinking  milk
dog   drinking  water
bird  drinking  water
woman drinking  tea
man   drinking  coffee
dog   sees      cat
boy   sees      bird
man   following woman
"""
# What is described twice: "The chair is new and it is very comfortable".
DESCRIBED = """
chair new comfortable
sofa  new comfortable
bench new comfortable
bed   new comfortable
car   old beautiful
chair old heavy
"""


def both_orders(subject: NP, verb: str, obj: NP, past: bool = True) -> list[Triple]:
    pairs = (subject, obj), (obj, subject)
    return [statement(a, verb, b, past=past) for a, b in pairs]


def fixed_sentences() -> list[Triple]:
    """Sentences that the chapters discuss; they are always in the training part."""
    the = {noun: NP.parse(f"the {noun}") for noun in NOUNS}
    triples = [
        statement(NP.parse(f"a {noun}"), "reading")
        for noun in ("man", "woman", "boy", "girl")
    ]
    for subject, verb, obj in rows(SWAPS):
        triples += both_orders(the[subject], verb, the[obj])
    triples += both_orders(the["man"], "following", the["woman"], past=False)
    triples += [
        described_twice(the[noun], quality, other)
        for noun, quality, other in rows(DESCRIBED)
    ]
    triples += [sat_down(subject, "in chair", "comfortable") for subject in (SHE, HE)]
    triples += [
        came_home(NP.parse(f"{article} {person}"))
        for article in ("a", "the")
        for person in ("kind girl", "kind boy", "pretty woman")
    ]
    triples += [
        because_of_feeling(the[noun], "sleeping", "tired") for noun in ("woman", "man")
    ]
    hat = relative_clause(the["man"], NP.parse("a hat"))
    wearer = NP("the", NOUNS["man"], addition=hat)
    triples.append(statement(wearer, "reading", NP.parse("a book")))
    thirst = clause(the["cat"], VERBS["drinking"], the["milk"], order="final", key="2")
    thought = join(noun_phrase(the["boy"], "s"), BELIEFS[0], THAT, thirst)
    return [*triples, sentence(thought)]


def acceptable(triple: Triple) -> bool:
    """Neither too short nor too long, and no noun or verb twice."""
    tokens = zip(triple.tokens["en"], triple.concepts["en"], strict=True)
    main = [
        word
        for word, concepts in tokens
        if concepts[0].endswith(("noun", "v")) and word not in ("is", "are")
    ]
    return len(set(main)) == len(main) and all(
        4 <= len(line) <= 14 for line in triple.tokens.values()
    )


def draw_all(draw: Draw) -> list[Triple]:
    """The fixed sentences, and each template's number of others; none twice."""
    by_english = {triple.text("en"): triple for triple in fixed_sentences()}
    for template, count in TEMPLATES.items():
        for _ in range(count):
            triple = template(draw)
            while triple.text("en") in by_english or not acceptable(triple):
                triple = template(draw)
            by_english[triple.text("en")] = triple
    return list(by_english.values())


def every_word(triple: Triple) -> list[str]:
    return [f"{lang}:{word}" for lang in LANGUAGES for word in triple.tokens[lang]]


HELD_OUT = 500  # sentences in the validation part, and in the test part
LEAST_COUNT = 25  # how often a word must occur to be in these two parts


def generate(seed: int = 0) -> dict[str, list[Triple]]:
    """The corpus in three parts; rare words occur in the training part only."""
    draw = random.Random(seed)
    triples = draw_all(draw)
    fixed_texts = {triple.text("en") for triple in fixed_sentences()}
    counts = Counter(word for triple in triples for word in every_word(triple))
    draw.shuffle(triples)
    candidates = [
        t
        for t in triples
        if t.text("en") not in fixed_texts
        and all(counts[w] >= LEAST_COUNT for w in every_word(t))
    ]
    valid, test = candidates[:HELD_OUT], candidates[HELD_OUT : 2 * HELD_OUT]
    held_out_texts = {triple.text("en") for triple in valid + test}
    return {
        "train": [t for t in triples if t.text("en") not in held_out_texts],
        "valid": valid,
        "test": test,
    }
