"""The clauses and sentences of the tiny corpus, in three languages at once."""

from __future__ import annotations

from .lexicon import ADJECTIVES, NOUNS, PLACES, VERBS, Adjective, Verb, rows
from .phrases import (
    NP,
    french_agreement,
    join,
    noun_phrase,
    participle,
    place_phrase,
    pronoun_for,
    words,
)
from .spelling import LANGUAGES, Phrase, Triple, sentence

NOTHING: Phrase = dict.fromkeys(LANGUAGES, "")


def verb_forms(verb: Verb, subject: NP, past: bool, key: str) -> Phrase:
    if past:
        return words(verb.en_past, verb.de_past, verb.fr_past, key)
    many = subject.many
    en = verb.en.replace("is_", "are_") if "_" in verb.en else verb.en.removesuffix("s")
    fr = participle(verb.fr_many if many else verb.fr, subject)
    return words(en if many else verb.en, verb.de_many if many else verb.de, fr, key)


def clause(
    subject: NP,
    verb: Verb,
    obj: NP | None = None,
    place: Phrase = NOTHING,
    past: bool = False,
    order: str = "main",
    key: str = "",
) -> Phrase:
    """A clause with a verb.

    German puts the verb second (``"main"``), before the subject after an adverb
    (``"inverted"``), or last (``"final"``).
    """
    s, v = noun_phrase(subject, f"{key}s"), verb_forms(verb, subject, past, f"{key}v")
    o = noun_phrase(obj, f"{key}o", verb.de_case) if obj else NOTHING
    german = {
        "main": [s, v, o, place],
        "inverted": [v, s, o, place],
        "final": [s, o, place, v],
    }[order]
    return join(s, v, o, place) | {"de": join(*german)["de"]}


def negated(subject: NP, verb: Verb) -> Phrase:
    """ "The man is not reading", "Der Mann liest nicht", "L'homme ne lit pas"."""
    s, v = noun_phrase(subject, "s"), verb_forms(verb, subject, False, "v")
    be, *rest = v["en"].split()
    verb_word, *other_words = v["fr"].split()
    return {
        "en": " ".join([s["en"], be, "not/neg", *rest]),
        "de": f"{s['de']} {v['de']} nicht/neg",
        "fr": " ".join([s["fr"], "ne/neg", verb_word, "pas/neg", *other_words]),
    }


def being(
    subject: NP,
    adjective: Adjective,
    key: str = "",
    past: bool = False,
    very: bool = False,
    final: bool = False,
) -> Phrase:
    """ "The chair is new"; ``final``: the German verb is last, "weil sie müde ist"."""
    s = noun_phrase(subject, f"{key}s")
    present = ("are", "sind", "sont") if subject.many else ("is", "ist", "est")
    be = words(*(("was", "war", "était") if past else present), f"{key}be")
    french = french_agreement(adjective, subject.noun, subject.many)
    how = words("very", "sehr", "très", f"{key}very") if very else NOTHING
    how = join(how, words(adjective.en, adjective.de, french, f"{key}adj"))
    return join(s, be, how) | (
        {"de": f"{s['de']} {how['de']} {be['de']}"} if final else {}
    )


ADVERB_TABLE = """
today     heute   aujourd'hui
now       jetzt   maintenant
yesterday gestern hier
"""
ADVERBS = {  # in French with a comma
    en: words(en, de, fr, "adv") | {"fr": f"{fr}/adv ,"}
    for en, de, fr in rows(ADVERB_TABLE)
}
THAT = {"en": "that/that", "de": ", dass/that", "fr": "que/that"}
BECAUSE = {
    "en": "because/because",
    "de": ", weil/because",
    "fr": "parce/because que/because",
}
AND = words("and", "und", "et", "and")
BUT = {"en": ",/comma but/but", "de": ",/comma aber/but", "fr": ",/comma mais/but"}
COMMA = words(",", ",", ",", "comma")
HOME = {"en": "home/home", "de": "nach/home Hause/home", "fr": ""}
# Two opinions of one kind take "and", others "but".
GOOD = ["new", "beautiful", "comfortable", "happy"]
BELIEFS = [
    words("sees", "sieht", "voit", "mv"),
    words("knows", "weiß", "sait", "mv"),
    words("says", "sagt", "dit", "mv"),
]
REASONS = rows("""
sleeping tired
sleeping ill
crying   sad
crying   tired
crying   ill
laughing happy
singing  happy
dancing  happy
""")


def statement(
    subject: NP,
    verb: str,
    obj: NP | None = None,
    place: Phrase = NOTHING,
    past: bool = False,
    adverb: str = "",
) -> Triple:
    """ "The man is reading a book"; with an adverb "Heute liest der Mann ein Buch"."""
    if not adverb:
        return sentence(clause(subject, VERBS[verb], obj, place, past))
    inverted = clause(subject, VERBS[verb], obj, place, past, order="inverted")
    return sentence(join(ADVERBS[adverb], inverted))


def came_home(subject: NP, adverb: str = "") -> Triple:
    """ "The woman came home", "Die Frau kam nach Hause", "La femme est rentrée"."""
    s = noun_phrase(subject, "s")
    french = participle("sont/v rentré*" if subject.many else "est/v rentré*", subject)
    came = {
        "en": "came/v",
        "de": "kamen/v" if subject.many else "kam/v",
        "fr": f"{french}/v+home",
    }
    phrase = join(s, came, HOME)
    if adverb:
        phrase = join(ADVERBS[adverb], phrase) | {
            "de": join(ADVERBS[adverb], came, s, HOME)["de"]
        }
    return sentence(phrase)


def sat_down(subject: NP, place: str, adjective: str) -> Triple:
    """ "She sat down in the chair, it was very comfortable." """
    seat = NP("the", NOUNS[PLACES[place].noun])
    sat = words("sat_down", "setzte_sich", participle("se_est_assis*", subject), "v")
    main = join(noun_phrase(subject, "s"), sat, place_phrase(place, case="acc"))
    comment = being(pronoun_for(seat), ADJECTIVES[adjective], "2", past=True, very=True)
    return sentence(join(main, COMMA, comment))


def described_twice(
    phrase: NP, quality: str, other_quality: str, past: bool = False
) -> Triple:
    """ "The chair is new and it is very comfortable": er, sie or es; il or elle."""
    link = AND if (quality in GOOD) == (other_quality in GOOD) else BUT
    main = being(phrase, ADJECTIVES[quality], past=past)
    comment = being(
        pronoun_for(phrase), ADJECTIVES[other_quality], "2", past=past, very=True
    )
    return sentence(join(main, link, comment))


def because_of_feeling(subject: NP, verb: str, adjective: str) -> Triple:
    """ "The woman is sleeping because she is tired", "..., weil sie müde ist"."""
    reason = being(pronoun_for(subject), ADJECTIVES[adjective], "2", final=True)
    return sentence(join(clause(subject, VERBS[verb]), BECAUSE, reason))
