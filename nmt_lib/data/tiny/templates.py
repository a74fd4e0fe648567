"""The kinds of sentences of the tiny corpus: each draws words that make sense together.

``TEMPLATES`` lists them all, with how many the corpus holds of each.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from functools import cache

from .grammar import (
    ADVERBS,
    BECAUSE,
    BELIEFS,
    NOTHING,
    REASONS,
    THAT,
    because_of_feeling,
    being,
    came_home,
    clause,
    described_twice,
    negated,
    sat_down,
    statement,
)
from .lexicon import ADJECTIVES, NOUNS, PLACES, VERBS, Adjective, Noun, fits
from .phrases import (
    HE,
    NP,
    SHE,
    join,
    noun_phrase,
    place_phrase,
    relative_clause,
    with_phrase,
    words,
)
from .spelling import Phrase, Triple, sentence

Draw = random.Random


@cache
def nouns(kinds: str) -> list[Noun]:
    return [noun for noun in NOUNS.values() if fits(noun.kinds, kinds)]


def draw_noun(draw: Draw, kinds: str) -> Noun:
    return draw.choice(nouns(kinds))


def draw_adjective(draw: Draw, noun: Noun, chance: float) -> Adjective | None:
    possible = [
        adjective
        for adjective in ADJECTIVES.values()
        if fits(noun.kinds, adjective.beside)
    ]
    return draw.choice(possible) if possible and draw.random() < chance else None


def draw_np(draw: Draw, kinds: str, many: float = 0.25, adjective: float = 0.4) -> NP:
    """A noun phrase; ``many`` and ``adjective`` are the chances of having them."""
    noun = draw_noun(draw, kinds)
    plural = noun.en_many != "-" and draw.random() < many
    determiner = draw.choice(["the-many", "two"] if plural else ["a", "the"])
    return NP(determiner, noun, draw_adjective(draw, noun, adjective))


def draw_quantity(draw: Draw, eater: NP) -> tuple[str, NP]:
    """A verb and what is drunk or eaten, such as ("drinking", "some milk").

    Pets get water or milk, other animals water.
    """
    determiner = draw.choice(["some", "the"])
    if fits(eater.noun.kinds, "animal"):
        return "drinking", NP(
            determiner,
            draw_noun(draw, "plain" if fits(eater.noun.kinds, "pet") else "pond"),
        )
    verb, kinds = draw.choice(
        [("drinking", "drunk"), ("drinking", "drunk"), ("eating", "food")]
    )
    noun = draw_noun(draw, kinds)
    return verb, NP(determiner, noun, draw_adjective(draw, noun, 0.6))


def draw_verb(draw: Draw, subject: NP, past: bool) -> str:
    """A verb that fits the subject, makes sense without an object and has the tense."""
    possible = [
        name
        for name, verb in VERBS.items()
        if fits(subject.noun.kinds, verb.subjects)
        and "-" not in (verb.places, verb.en_past if past else "")
    ]
    return draw.choice(possible)


def draw_place(draw: Draw, kinds: str) -> Phrase:
    """ "in the small park"; kinds are the kinds of place."""
    name = draw.choice(
        [name for name, place in PLACES.items() if fits(place.kinds, kinds)]
    )
    return place_phrase(name, draw_adjective(draw, NOUNS[PLACES[name].noun], 0.3))


def where(draw: Draw, subject: NP, verb: str) -> Phrase:
    """A place for what the subject does.

    Horses, cows and birds are outside; two people do not share a chair.
    """
    wild = fits(subject.noun.kinds, "animal") and not fits(subject.noun.kinds, "pet")
    kinds = "open" if wild else VERBS[verb].places
    return draw_place(draw, kinds.removeprefix("seat,") if subject.many else kinds)


THING_VERBS = [
    "reading",
    "eating",
    "buying",
    "washing",
    "opening",
    "holding",
    "sees",
    "looking_for",
]


def draw_thing(draw: Draw, subject: NP, past: bool) -> tuple[str, NP]:
    """Reading, buying, opening … something, neither a person nor an animal."""
    singular_only = [] if past or subject.many else ["wearing"]
    verb = draw.choice(THING_VERBS + singular_only)
    kinds = VERBS[verb].objects.split(",")
    thing_kinds = ",".join(kind for kind in kinds if kind not in ("person", "animal"))
    return verb, draw_np(draw, thing_kinds, many=0.3, adjective=0.4)


def draw_action(
    draw: Draw, subject: NP, past: bool = False
) -> tuple[str, NP | None, Phrase]:
    """A verb, perhaps an object or a place, that make sense for the subject."""
    if draw.random() < 0.4:
        verb = draw_verb(draw, subject, past)
        place = where(draw, subject, verb) if draw.random() < 0.4 else NOTHING
        return verb, None, place
    if fits(subject.noun.kinds, "animal") or draw.random() < 0.3:
        return *draw_quantity(draw, subject), NOTHING
    return *draw_thing(draw, subject, past), NOTHING


def draw_tense(draw: Draw, subject: NP) -> bool:
    """Whether to use the past; not for plurals, to keep the vocabulary small."""
    return not subject.many and draw.random() < 0.4


def draw_subject(
    draw: Draw,
    kinds: str = "person,animal",
    many: float = 0.25,
    adjective: float = 0.4,
    pronoun: float = 0.1,
) -> NP:
    if draw.random() < pronoun and kinds.startswith("person"):
        return draw.choice([HE, SHE])
    return draw_np(draw, kinds, many, adjective)


def draw_statement(draw: Draw, subject: NP, past: bool, adverb: str = "") -> Triple:
    """A sentence about the subject with any fitting verb."""
    return statement(subject, *draw_action(draw, subject, past), past, adverb)


def resting(draw: Draw) -> Triple:
    subject = draw_subject(draw)
    past = draw_tense(draw, subject)
    verb = draw_verb(draw, subject, past)
    place = where(draw, subject, verb) if draw.random() < 0.7 else NOTHING
    return statement(subject, verb, None, place, past)


def not_doing(draw: Draw) -> Triple:
    noun = draw_noun(draw, "person,animal")
    subject = NP(
        draw.choice(["the", "the-many"]), noun, draw_adjective(draw, noun, 0.4)
    )
    return sentence(negated(subject, VERBS[draw_verb(draw, subject, past=False)]))


def acting_on_thing(draw: Draw) -> Triple:
    subject = draw_subject(draw, "person")
    past = draw_tense(draw, subject)
    return statement(subject, *draw_thing(draw, subject, past), NOTHING, past)


def drinking_or_eating(draw: Draw) -> Triple:
    subject = draw_subject(draw)
    verb, quantity = draw_quantity(draw, subject)
    return statement(subject, verb, quantity, NOTHING, draw_tense(draw, subject))


def who_does_what_to_whom(draw: Draw) -> Triple:
    """Either noun could be the subject: only word order and German case tell."""
    verb = draw.choice(["sees", "looking_for", "following", "helping"])
    subject = draw_np(draw, VERBS[verb].subjects, 0.25, 0.45)
    dative = VERBS[verb].de_case == "dat"
    kinds = "person" if verb == "helping" else "person,animal"
    obj = draw_np(draw, kinds, 0.0 if dative else 0.3, 0.45)
    return statement(subject, verb, obj, NOTHING, draw_tense(draw, subject))


def with_something(draw: Draw) -> Triple:
    subject = draw_np(draw, "person", 0.0, 0.2)
    belonging = draw_np(draw, "held", 0.0, 0.7)
    subject = replace(subject, addition=with_phrase(belonging))
    return draw_statement(draw, subject, draw_tense(draw, subject))


def on_some_day(draw: Draw) -> Triple:
    adverb = draw.choice(list(ADVERBS))
    past = adverb == "yesterday"
    return draw_statement(
        draw, draw_subject(draw, many=0.0 if past else 0.2), past, adverb
    )


def draw_subordinate(draw: Draw, subject: NP) -> Phrase:
    """What follows "that" or "because"; its concepts start with 2."""
    verb, obj, place = draw_action(draw, subject)
    return clause(subject, VERBS[verb], obj, place, order="final", key="2")


def believing(draw: Draw) -> Triple:
    subject = draw_subject(draw, "person", 0.0, 0.15)
    inner = draw_np(draw, "person,animal", 0.2, 0.2)
    belief = join(noun_phrase(subject, "s"), draw.choice(BELIEFS), THAT)
    return sentence(join(belief, draw_subordinate(draw, inner)))


def because(draw: Draw) -> Triple:
    if draw.random() < 0.4:
        subject = draw_np(draw, "male,female", 0.3, 0.4)
        return because_of_feeling(subject, *draw.choice(REASONS))
    subject = draw_np(draw, "person", 0.2, 0.2)
    inner = draw_np(draw, "person,animal", 0.15, 0.15)
    reason = draw_subordinate(draw, inner)
    feeling = being(subject, ADJECTIVES[draw.choice(["happy", "sad"])])
    main = draw.choice(
        [
            feeling,
            clause(subject, VERBS[draw.choice(["waiting", "laughing", "crying"])]),
        ]
    )
    return sentence(join(main, BECAUSE, reason))


def wearing(draw: Draw) -> Triple:
    owner = draw_np(draw, "person", 0.0, 0.1)
    noun = draw_noun(draw, "worn")
    clothes = NP("a", noun, draw_adjective(draw, noun, 0.7))
    subject = replace(owner, addition=relative_clause(owner, clothes))
    return draw_statement(draw, subject, past=False)


FEELINGS = ["tired", "happy", "sad", "ill"]
CLASHES = (  # no noun is both
    {"happy", "sad"},
    {"new", "old"},
    {"small", "big"},
    {"comfortable", "hard"},
)


def describing(draw: Draw) -> Triple:
    past = draw.random() < 0.3
    if draw.random() < 0.2:
        quality, other = draw.sample(FEELINGS, 2)
        if {quality, other} in CLASHES:
            return describing(draw)
        person = draw_np(draw, "male,female", 0.0, 0.2)
        return described_twice(person, quality, other, past)
    noun = draw_noun(draw, "made,seat,size")
    names = [n for n, entry in ADJECTIVES.items() if fits(noun.kinds, entry.about)]
    quality, other = draw.sample(names, 2)
    if other == "new" or {quality, other} in CLASHES:
        return describing(draw)
    return described_twice(NP("the", noun), quality, other, past)


def feeling(draw: Draw) -> Triple:
    adjective = ADJECTIVES[draw.choice(FEELINGS)]
    subject = draw_np(draw, "person", 0.3, 0.4)
    return sentence(being(subject, adjective, very=draw.random() < 0.5))


def sitting_down(draw: Draw) -> Triple:
    place = draw.choice(["in chair", "on sofa", "on bed", "on bench", "on blanket"])
    kinds = NOUNS[PLACES[place].noun].kinds
    qualities = ["comfortable", "hard", "wet", "dirty", "expensive"]
    choice = [name for name in qualities if fits(kinds, ADJECTIVES[name].about)]
    subject = draw_subject(draw, "person", 0.0, 0.5, pronoun=0.25)
    return sat_down(subject, place, draw.choice(choice))


def coming_home(draw: Draw) -> Triple:
    return came_home(
        draw_np(draw, "person", 0.35, 0.5), draw.choice(["", "", "yesterday"])
    )


def lying(draw: Draw) -> Triple:
    subject = draw_np(draw, "lies", 0.75, 0.85)
    verb = ("are", "liegen", "sont") if subject.many else ("is", "liegt", "est")
    place = draw_place(draw, "surface,floor")
    return sentence(join(noun_phrase(subject, "s"), words(*verb, "v"), place))


# How many sentences are drawn from each.
TEMPLATES: dict[Callable[[Draw], Triple], int] = {
    resting: 800,
    not_doing: 300,
    acting_on_thing: 1000,
    drinking_or_eating: 550,
    who_does_what_to_whom: 1000,
    with_something: 500,
    on_some_day: 600,
    believing: 700,
    because: 500,
    wearing: 500,
    describing: 450,
    feeling: 250,
    sitting_down: 250,
    coming_home: 250,
    lying: 800,
}
