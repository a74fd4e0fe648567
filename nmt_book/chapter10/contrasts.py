"""Contrasts: a right translation beside one with a single mistake.

Which of the two does a model find more probable? BLEU counts words, whatever they mean;
a contrast asks about one rule (Sennrich, 2017, arXiv 1612.04629). The grammar of the
tiny corpus makes them, so every word of a wrong translation is a word of the corpus.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise

from nmt_lib.data.corpora import Contrast
from nmt_lib.data.pairs import Pair
from nmt_lib.data.tiny.grammar import statement
from nmt_lib.data.tiny.lexicon import (
    ADJECTIVES,
    NOUNS,
    VERBS,
    VOWELS,
    Adjective,
    fits,
)
from nmt_lib.data.tiny.phrases import NP, french_agreement
from nmt_lib.data.tokens import join_words, spacy_words


def make_contrasts(pairs: Sequence[Pair]) -> dict[str, list[Contrast]]:
    """Contrasts by what is wrong, at most one of each kind for a pair.

    Args:
        pairs: of the tiny corpus, English to French.

    Returns:
        Kind → contrasts: ``roles`` (subject and object change places), ``adjective
        place`` (on the wrong side of its noun), ``agreement`` (an adjective or
        participle in the wrong gender), ``pronoun`` (*it* or *they* in the wrong
        gender).
    """
    contrasts: dict[str, list[Contrast]] = {kind: [] for kind in CHANGES}
    for pair in pairs:
        words = spacy_words("fr")(pair.tgt)
        for kind, change in CHANGES.items():
            if mistake := change(pair.src, words):
                text = join_words(mistake, "fr")
                contrasts[kind].append(Contrast(pair.src, pair.tgt, text))
    return contrasts


# ------------------------------------------------------------ who does what to whom
_BEINGS = [name for name, noun in NOUNS.items() if fits(noun.kinds, "person,animal")]
# "is following" → ("following", whether in the past), of verbs with a person as object
_DEEDS = {
    form.replace("_", " "): (name, form == verb.en_past)
    for name, verb in VERBS.items()
    if fits(verb.objects, "person")
    for form in (verb.en, verb.en_past)
}
# Article; adjective, if any, and noun; in the singular
_BEING = r"(an?|the) ((?:(?:{}) )?(?:{}))".format(
    "|".join(ADJECTIVES), "|".join(_BEINGS)
)
_CLAUSE = re.compile(rf"{_BEING} ({'|'.join(_DEEDS)}) {_BEING}\.", re.IGNORECASE)


def _swap_roles(src: str, words: list[str]) -> list[str]:
    """ "Le chien suit la fille" → "La fille suit le chien"."""
    match = _CLAUSE.fullmatch(src)
    if not match:
        return []
    subject, obj = (
        NP.parse(f"{match[i].lower().removesuffix('n')} {match[i + 1]}") for i in (1, 4)
    )
    verb, past = _DEEDS[match[3]]
    return list(statement(obj, verb, subject, past=past).tokens["fr"])


# ------------------------------------------------------------ forms and their gender
def _forms(adjective: Adjective, plural: bool) -> tuple[str, str]:
    """Masculine and feminine."""
    return (
        french_agreement(adjective, NOUNS["man"], plural),
        french_agreement(adjective, NOUNS["woman"], plural),
    )


_NEVER = {"joli", "jolis", "bleus"}  # no sentence of the corpus needs these
_PARTICIPLES = {
    False: [("assis", "assise"), ("rentré", "rentrée")],
    True: [("assis", "assises"), ("rentrés", "rentrées")],
}


def _other_gender(plural: bool) -> dict[str, str]:
    """A word that shows its gender → the same in the other gender."""
    forms = [_forms(adjective, plural) for adjective in ADJECTIVES.values()]
    pairs = [pair for pair in forms + _PARTICIPLES[plural] if _NEVER.isdisjoint(pair)]
    couples = pairs + [(feminine, masculine) for masculine, feminine in pairs]
    return {form: opposite for form, opposite in couples if form != opposite}


OTHER_GENDER = {plural: _other_gender(plural) for plural in (False, True)}
# "Une gentille fille" and "une jolie fille" are good French, though not in the corpus.
_SIDES = {
    side: {
        form
        for name, adjective in ADJECTIVES.items()
        if adjective.fr_side == side and name not in ("kind", "pretty")
        for plural in (False, True)
        for form in _forms(adjective, plural)
    }
    for side in ("before", "after")
}
_NOUNS_FR = {
    form
    for noun in NOUNS.values()
    for form in (noun.fr, noun.fr_many)
    if not form.startswith(VOWELS)
}


def _move_adjective(src: str, words: list[str]) -> list[str]:
    """ "un chien noir" → "un noir chien".

    Not with "homme" or "orange", where the article may change too.
    """
    for i, (word, successor) in enumerate(pairwise(words)):
        if (word in _SIDES["before"] and successor in _NOUNS_FR) or (
            word in _NOUNS_FR and successor in _SIDES["after"]
        ):
            return [*words[:i], successor, word, *words[i + 2 :]]
    return []


def _break_agreement(src: str, words: list[str]) -> list[str]:
    """The last adjective or participle: "La femme est rentrée" → "… est rentré".

    Not where there is an "enfant", who may be a girl.
    """
    if "child" in src:
        return []
    for i in reversed(range(len(words))):
        opposites = {
            table[words[i]] for table in OTHER_GENDER.values() if words[i] in table
        }
        if len(opposites) == 1:  # "vieux" could become "vieille" or "vieilles"
            return [*words[:i], *opposites, *words[i + 1 :]]
    return []


def _wrong_pronoun(src: str, words: list[str]) -> list[str]:
    """ "La chaise …, elle est très lourde" → "La chaise …, il est très lourd"."""
    swap = {"il": "elle", "elle": "il", "ils": "elles", "elles": "ils"}
    # "Elle" at the start is another word.
    at = next((i for i, word in enumerate(words) if word in swap), 0)
    if not at or "child" in src or not re.search(r"\b(it|they) ", src):
        return []
    rest = [
        OTHER_GENDER[words[at].endswith("s")].get(word, word)
        for word in words[at + 1 :]
    ]
    return [*words[:at], swap[words[at]], *rest]


CHANGES: dict[str, Callable[[str, list[str]], list[str]]] = {
    "roles": _swap_roles,
    "adjective place": _move_adjective,
    "agreement": _break_agreement,
    "pronoun": _wrong_pronoun,
}
