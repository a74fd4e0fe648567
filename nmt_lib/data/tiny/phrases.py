"""The noun phrases of the tiny corpus, in three languages at once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from .lexicon import (
    ADJECTIVES,
    DETERMINERS,
    FRENCH_BEFORE_VOWEL,
    GERMAN_DETERMINERS,
    GERMAN_OBLIQUE,
    MANY,
    NOUNS,
    PLACES,
    VERBS,
    VOWELS,
    Adjective,
    Noun,
    fits,
)
from .spelling import LANGUAGES, Phrase


@dataclass(frozen=True)
class NP:
    """A noun with a determiner, and perhaps an adjective and an addition.

    The determiner is ``a``, ``the``, ``the-many``, ``two``, ``some`` (a quantity:
    "milk", "du lait"), ``pronoun`` or ``they``; an addition is "with a red hat".
    """

    determiner: str
    noun: Noun
    adjective: Adjective | None = None
    addition: Phrase | None = None

    @staticmethod
    def parse(text: str) -> NP:
        """From English: "the old man", "the-many cat" (the cats), "some cold milk"."""
        determiner, *adjective, noun = text.split()
        return NP(
            determiner, NOUNS[noun], ADJECTIVES[adjective[0]] if adjective else None
        )

    @property
    def many(self) -> bool:
        return self.determiner in MANY


def pronoun_np(en: str, de: str, fr: str, gender: str, de_gender: str = "") -> NP:
    kind = "thing" if en == "it" else "person"
    return NP(
        "they" if en == "they" else "pronoun",
        Noun(en, en, de, de, de_gender or gender, fr, fr, gender, kind),
    )


SHE = pronoun_np("she", "sie", "elle", "f")
HE = pronoun_np("he", "er", "il", "m")


def pronoun_for(phrase: NP) -> NP:
    """The pronoun for a noun phrase: it; er for der Stuhl; elle for la chaise."""
    noun = phrase.noun
    fr = "elle" if noun.fr_gender == "f" else "il"
    if phrase.many:
        return pronoun_np("they", "sie", fr + "s", noun.fr_gender)
    if fits(noun.kinds, "male,female"):
        return HE if noun.fr_gender == "m" else SHE
    de = {"m": "er", "f": "sie", "n": "es"}[noun.de_gender]
    return pronoun_np("it", de, fr, noun.fr_gender, noun.de_gender)


@cache
def mark(words: str, concept: str) -> str:
    """A concept after every word: ``mark("is_reading", "v")`` is "is/v reading/v"."""
    return " ".join(f"{word}/{concept}" for word in words.split("_") if word)


def join(*phrases: Phrase) -> Phrase:
    return {lang: " ".join(phrase[lang] for phrase in phrases) for lang in LANGUAGES}


def words(en: str, de: str, fr: str, concept: str) -> Phrase:
    """The same few words in three languages, all linked to each other."""
    return {"en": mark(en, concept), "de": mark(de, concept), "fr": mark(fr, concept)}


def french_agreement(adjective: Adjective, noun: Noun, many: bool) -> str:
    form = adjective.fr_m if noun.fr_gender == "m" else adjective.fr_f
    if not many or form[-1] in "sx":
        return form
    return form + ("x" if form.endswith("eau") else "s")


def participle(text: str, subject: NP) -> str:
    """Fills in "*": "est_assis*" is "est_assise" for a woman."""
    stem = text.rstrip("*")
    if stem == text:
        return text
    form = stem + "e" * (subject.noun.fr_gender == "f")
    return form + "s" * (subject.many and not form.endswith("s"))


def noun_phrase(phrase: NP, key: str, case: str = "nom") -> Phrase:
    """ "the old man"; its concepts begin with ``key``, and German has the case."""
    noun, adjective, many = phrase.noun, phrase.adjective, phrase.many
    det, adj, name = f"{key}.det", f"{key}.adj", f"{key}.noun"
    determiner = DETERMINERS[phrase.determiner]
    article, ending = GERMAN_DETERMINERS[phrase.determiner, case][noun.de_gender]
    english = noun.en_many if many else noun.en
    german = noun.de_many if many else noun.de
    if case != "nom" and not many:
        german = GERMAN_OBLIQUE.get(german, german)
    french = noun.fr_many if many else noun.fr
    parts = {
        "en": [mark(determiner["en"], det), mark(english, name)],
        "de": [mark(article, det), mark(german, name)],
        "fr": [mark(determiner[noun.fr_gender], det), mark(french, name)],
    }
    if phrase.determiner == "some":  # aligned with nothing: "du lait" is just "milk"
        parts["fr"][0] = "de le" if noun.fr_gender == "m" else "de la"
    if adjective:
        form = french_agreement(adjective, noun, many)
        is_after = adjective.fr_side == "after"
        if not is_after and french.startswith(VOWELS) and not many:
            form = FRENCH_BEFORE_VOWEL.get(form, form)
        parts["en"].insert(1, mark(adjective.en, adj))
        parts["de"].insert(1, mark(adjective.de_stem + ending, adj))
        parts["fr"].insert(1 + is_after, mark(form, adj))
    texts = {lang: " ".join(words) for lang, words in parts.items()}
    return join(texts, phrase.addition) if phrase.addition else texts


def place_phrase(
    name: str, adjective: Adjective | None = None, case: str = "dat"
) -> Phrase:
    place = PLACES[name]
    noun = noun_phrase(NP("the", NOUNS[place.noun], adjective), "p", case)
    return join(words(place.en, place.de, place.fr, "prep"), noun)


def with_phrase(phrase: NP) -> Phrase:
    return join(words("with", "mit", "avec", "with"), noun_phrase(phrase, "w", "dat"))


def relative_clause(owner: NP, clothes: NP) -> Phrase:
    """ "who is wearing a hat"; in German between commas, with the verb at the end."""
    article = {"m": "der", "f": "die", "n": "das"}[owner.noun.de_gender]
    object_phrase, verb = noun_phrase(clothes, "w", "acc"), VERBS["wearing"]
    return {
        "en": f"who/who {mark(verb.en, 'rv')} {object_phrase['en']}",
        "de": f", {article}/who {object_phrase['de']} {mark(verb.de, 'rv')} ,",
        "fr": f"qui/who {mark(verb.fr, 'rv')} {object_phrase['fr']}",
    }
