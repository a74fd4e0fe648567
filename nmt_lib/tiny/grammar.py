"""The grammar of the tiny corpus: noun phrases, clauses and sentences, built in three languages at once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from .lexicon import (
    ADJECTIVES, ENGLISH_DETERMINERS, FRENCH_BEFORE_VOWEL, FRENCH_DETERMINERS, GERMAN_DETERMINERS, GERMAN_OBLIQUE, MANY,
    NOUNS, PLACES, VERBS, VOWELS, Adjective, Noun, Verb, fits,
)  # fmt: skip
from .spelling import LANGUAGES, Phrase, Triple, sentence


# ---------------------------------------------------------------------------------------------- phrases
@dataclass(frozen=True)
class NP:
    """A noun phrase: a determiner, perhaps an adjective, a noun, perhaps an addition ("with a red hat")."""

    determiner: str  # a, the, the-many, two, some (a quantity: "milk", "du lait"), pronoun, they
    noun: Noun
    adjective: Adjective | None = None
    addition: Phrase | None = None

    @staticmethod
    def of(text: str) -> NP:
        """From English words: NP.of("the old man"), NP.of("the-many cat") (the cats), NP.of("some cold milk")."""
        determiner, *adjective, noun = text.split()
        return NP(determiner, NOUNS[noun], ADJECTIVES[adjective[0]] if adjective else None)

    @property
    def many(self) -> bool:
        return self.determiner in MANY


def person_pronoun(en: str, de: str, fr: str, gender: str) -> NP:
    return NP("they" if en == "they" else "pronoun", Noun(en, en, de, de, gender, fr, fr, gender, "person"))


SHE = person_pronoun("she", "sie", "elle", "f")
HE = person_pronoun("he", "er", "il", "m")


def pronoun_for(phrase: NP) -> NP:
    """The pronoun that takes up a noun phrase: the chair -> it, er (der Stuhl), elle (la chaise)."""
    noun = phrase.noun
    fr = "elle" if noun.fr_gender == "f" else "il"
    if phrase.many:
        return person_pronoun("they", "sie", fr + "s", noun.fr_gender)
    if fits(noun.kinds, "male,female"):
        return HE if noun.fr_gender == "m" else SHE
    de = {"m": "er", "f": "sie", "n": "es"}[noun.de_gender]
    return NP("pronoun", Noun("it", "it", de, de, noun.de_gender, fr, fr, noun.fr_gender, "thing"))


@cache
def mark(words: str, concept: str) -> str:
    """Write a concept after every word: mark("is_reading", "v") is "is/v reading/v"."""
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
    """Fill in "*": "est_assis*" becomes "est_assise" for a woman and "sont_assises" for two women."""
    stem = text.rstrip("*")
    if stem == text:
        return text
    ending = "e" if subject.noun.fr_gender == "f" else ""
    return stem + ending + ("s" if subject.many and not (stem + ending).endswith("s") else "")


def english_np(phrase: NP, key: str) -> str:
    noun, adjective = phrase.noun, phrase.adjective
    parts = [mark(ENGLISH_DETERMINERS.get(phrase.determiner, ""), f"{key}.det")]
    parts.append(mark(adjective.en, f"{key}.adj") if adjective else "")
    parts.append(mark(noun.en_many if phrase.many else noun.en, f"{key}.noun"))
    return " ".join(parts)


def german_np(phrase: NP, key: str, case: str) -> str:
    noun, adjective = phrase.noun, phrase.adjective
    forms = GERMAN_DETERMINERS[phrase.determiner, case].split()
    article, ending = forms["mfn".index(noun.de_gender)].split("+")
    word = noun.de_many if phrase.many else noun.de
    if case != "nom" and not phrase.many:
        word = GERMAN_OBLIQUE.get(word, word)
    parts = [mark(article, f"{key}.det"), mark(adjective.de_stem + ending, f"{key}.adj") if adjective else ""]
    return " ".join([*parts, mark(word, f"{key}.noun")])


def french_np(phrase: NP, key: str) -> str:
    noun, adjective = phrase.noun, phrase.adjective
    masculine_feminine = FRENCH_DETERMINERS.get(phrase.determiner, "_ _").split()
    article = mark(masculine_feminine["mf".index(noun.fr_gender)], f"{key}.det")
    if phrase.determiner == "some":  # the partitive has no counterpart: "du lait" is just "milk"
        article = "de le" if noun.fr_gender == "m" else "de la"
    word = noun.fr_many if phrase.many else noun.fr
    if adjective is None:
        return f"{article} {mark(word, f'{key}.noun')}"
    form = french_agreement(adjective, noun, phrase.many)
    if adjective.fr_side == "after":
        return f"{article} {mark(word, f'{key}.noun')} {mark(form, f'{key}.adj')}"
    if word.startswith(VOWELS) and not phrase.many:
        form = FRENCH_BEFORE_VOWEL.get(form, form)
    return f"{article} {mark(form, f'{key}.adj')} {mark(word, f'{key}.noun')}"


def noun_phrase(phrase: NP, key: str, case: str = "nom") -> Phrase:
    built = {"en": english_np(phrase, key), "de": german_np(phrase, key, case), "fr": french_np(phrase, key)}
    return join(built, phrase.addition) if phrase.addition else built


def place_phrase(name: str, adjective: Adjective | None = None, case: str = "dat") -> Phrase:
    place = PLACES[name]
    thing = noun_phrase(NP("the", NOUNS[place.noun], adjective), "p", case)
    return join(words(place.en, place.de, place.fr, "prep"), thing)


def with_phrase(thing: NP) -> Phrase:
    return join(words("with", "mit", "avec", "with"), noun_phrase(thing, "w", "dat"))


def relative_clause(owner: NP, clothes: NP) -> Phrase:
    """ "who is wearing a hat"; the German verb goes last and the clause stands between commas."""
    who = {"m": "der", "f": "die", "n": "das"}[owner.noun.de_gender]
    thing, verb = noun_phrase(clothes, "w", "acc"), VERBS["wearing"]
    return {
        "en": f"who/who {mark(verb.en, 'rv')} {thing['en']}",
        "de": f", {who}/who {thing['de']} {mark(verb.de, 'rv')} ,",
        "fr": f"qui/who {mark(verb.fr, 'rv')} {thing['fr']}",
    }


# ---------------------------------------------------------------------------------------------- clauses
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
    """A clause with a verb.  German puts the verb second ("main"), first after an adverb ("inverted") or last."""
    s, v = noun_phrase(subject, f"{key}s"), verb_forms(verb, subject, past, f"{key}v")
    o = noun_phrase(obj, f"{key}o", verb.de_case) if obj else NOTHING
    german = {"main": [s, v, o, place], "inverted": [v, s, o, place], "final": [s, o, place, v]}[order]
    return join(s, v, o, place) | {"de": join(*german)["de"]}


def negated(subject: NP, verb: Verb) -> Phrase:
    """ "The man is not reading", "Der Mann liest nicht", "L'homme ne lit pas"."""
    s, v = noun_phrase(subject, "s"), verb_forms(verb, subject, False, "v")
    be, *rest = v["en"].split()
    first, *others = v["fr"].split()
    return {
        "en": " ".join([s["en"], be, "not/neg", *rest]),
        "de": f"{s['de']} {v['de']} nicht/neg",
        "fr": " ".join([s["fr"], "ne/neg", first, "pas/neg", *others]),
    }


def being(
    subject: NP, adjective: Adjective, key: str = "", past: bool = False, very: bool = False, final: bool = False
) -> Phrase:
    """ "The chair is new"; with final=True the German verb goes last: "weil sie müde ist"."""
    s = noun_phrase(subject, f"{key}s")
    now = words("are", "sind", "sont", f"{key}be") if subject.many else words("is", "ist", "est", f"{key}be")
    be = words("was", "war", "était", f"{key}be") if past else now
    french = french_agreement(adjective, subject.noun, subject.many)
    how = words("very", "sehr", "très", f"{key}very") if very else NOTHING
    how = join(how, words(adjective.en, adjective.de, french, f"{key}adj"))
    return join(s, be, how) | ({"de": f"{s['de']} {how['de']} {be['de']}"} if final else {})


ADVERBS = {
    "today": {"en": "today/adv", "de": "heute/adv", "fr": "aujourd'hui/adv ,"},
    "now": {"en": "now/adv", "de": "jetzt/adv", "fr": "maintenant/adv ,"},
    "yesterday": {"en": "yesterday/adv", "de": "gestern/adv", "fr": "hier/adv ,"},
}
THAT = {"en": "that/that", "de": ", dass/that", "fr": "que/that"}
BECAUSE = {"en": "because/because", "de": ", weil/because", "fr": "parce/because que/because"}
AND = words("and", "und", "et", "and")
BUT = {"en": ",/comma but/but", "de": ",/comma aber/but", "fr": ",/comma mais/but"}
COMMA = words(",", ",", ",", "comma")
HOME = {"en": "home/home", "de": "nach/home Hause/home", "fr": ""}
GOOD = ("new", "beautiful", "comfortable", "happy")  # two opinions of one kind take "and", otherwise "but"
BELIEFS = [
    words(en, de, fr, "mv")
    for en, de, fr in (("sees", "sieht", "voit"), ("knows", "weiß", "sait"), ("says", "sagt", "dit"))
]
WHY = {"sleeping": "tired ill", "crying": "sad tired ill", **dict.fromkeys(("laughing", "singing", "dancing"), "happy")}
REASONS = [(verb, feeling) for verb, feelings in WHY.items() for feeling in feelings.split()]


def statement(
    subject: NP,
    verb: str,
    obj: NP | None = None,
    place: Phrase = NOTHING,
    past: bool = False,
    adverb: str = "",
    tags: tuple[str, ...] = (),
) -> Triple:
    """ "The man is reading a book", and with an adverb "Heute liest der Mann ein Buch"."""
    tags += ("past",) if past else ()
    if not adverb:
        return sentence(clause(subject, VERBS[verb], obj, place, past), *tags)
    inverted = clause(subject, VERBS[verb], obj, place, past, order="inverted")
    return sentence(join(ADVERBS[adverb], inverted), "inversion", *tags)


def came_home(subject: NP, adverb: str = "") -> Triple:
    """ "The woman came home", "Die Frau kam nach Hause", "La femme est rentrée" (the participle agrees)."""
    s = noun_phrase(subject, "s")
    french = participle("sont/v rentré*" if subject.many else "est/v rentré*", subject)
    came = {"en": "came/v", "de": "kamen/v" if subject.many else "kam/v", "fr": f"{french}/v+home"}
    phrase = join(s, came, HOME)
    if adverb:
        phrase = join(ADVERBS[adverb], phrase) | {"de": join(ADVERBS[adverb], came, s, HOME)["de"]}
    return sentence(phrase, "participle-agreement", "past", *(["inversion"] if adverb else []))


def sat_down(subject: NP, place: str, adjective: str) -> Triple:
    """ "She sat down in the chair, it was very comfortable." """
    seat = NP("the", NOUNS[PLACES[place].noun])
    sat = words("sat_down", "setzte_sich", participle("se_est_assis*", subject), "v")
    first = join(noun_phrase(subject, "s"), sat, place_phrase(place, case="acc"))
    second = being(pronoun_for(seat), ADJECTIVES[adjective], "2", past=True, very=True)
    return sentence(join(first, COMMA, second), "pronoun", "participle-agreement", "past")


def described_twice(thing: NP, one: str, two: str, past: bool = False) -> Triple:
    """ "The chair is new and it is very comfortable": "it" becomes er, sie or es and il or elle."""
    link = AND if (one in GOOD) == (two in GOOD) else BUT
    first = being(thing, ADJECTIVES[one], past=past)
    second = being(pronoun_for(thing), ADJECTIVES[two], "2", past=past, very=True)
    return sentence(join(first, link, second), "pronoun", *(["past"] if past else []))


def because_of_feeling(subject: NP, verb: str, adjective: str) -> Triple:
    """ "The woman is sleeping because she is tired", "..., weil sie müde ist"."""
    reason = being(pronoun_for(subject), ADJECTIVES[adjective], "2", final=True)
    return sentence(join(clause(subject, VERBS[verb]), BECAUSE, reason), "pronoun", "verb-final", "because")
