"""A small grammar that writes picture captions in English, German and French, with gold word alignments.

A tiny Transformer learns this corpus in about a minute on a laptop, and because the grammar builds the three
sentences from one meaning, it also knows which word translates which. No download is needed.

How it works, on one example.  Every phrase is built three times, and each word carries the names of the
concepts it expresses, written after a slash:

    en   A/s.det old/s.adj man/s.noun is/v reading/v ./end
    de   Ein/s.det alter/s.adj Mann/s.noun liest/v ./end
    fr   Un/s.det vieil/s.adj homme/s.noun lit/v ./end

Two words are aligned when they share a concept, so "is" and "reading" are both aligned with "liest".
A word without a concept (the partitive "du" in "du lait", a comma that only German writes) stays unaligned.

The grammar keeps translation one-to-one: a sentence has exactly one counterpart in each other language.
English "is reading" is always German "liest" and French "lit"; English "read" is always "las" and "a lu".
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

LANGUAGES = ("en", "de", "fr")
Phrase = dict[str, str]  # language -> words with their concepts, such as "the/s.det man/s.noun"

# ---------------------------------------------------------------------------------------------- the lexicon
# In every table "_" stands for a space and "-" for "none".  The last columns hold kinds: they say which
# adjectives, verbs and places make sense together.

# English (one, many); German (one, many, gender); French (one, many, gender); kinds
NOUN_TABLE = """
man       men      Mann      Männer   m  homme      hommes      m  person,adult,male,young
woman     women    Frau      Frauen   f  femme      femmes      f  person,adult,female,lovely,young
lady      ladies   Dame      Damen    f  dame       dames       f  person,adult,female,lovely,young
father    fathers  Vater     Väter    m  père       pères       m  person,male,young
mother    mothers  Mutter    Mütter   f  mère       mères       f  person,female,young
baker     bakers   Bäcker    Bäcker   m  boulanger  boulangers  m  person,adult,male,young
boy       boys     Junge     Jungen   m  garçon     garçons     m  person,minor,male
girl      girls    Mädchen   Mädchen  n  fille      filles      f  person,minor,lovely,young
child     children Kind      Kinder   n  enfant     enfants     m  person,minor
dog       dogs     Hund      Hunde    m  chien      chiens      m  animal,pet,held,runs
cat       cats     Katze     Katzen   f  chat       chats       m  animal,pet,held,runs
horse     horses   Pferd     Pferde   n  cheval     chevaux     m  animal,runs
cow       cows     Kuh       Kühe     f  vache      vaches      f  animal
bird      birds    Vogel     Vögel    m  oiseau     oiseaux     m  animal
book      books    Buch      Bücher   n  livre      livres      m  aged,text,small,bought,sought,hand,lies
letter    -        Brief     -        m  lettre     -           f  aged,text,sought,opened,hand,lies
newspaper -        Zeitung   -        f  journal    -           m  aged,text,bought,sought,hand,lies
chair     -        Stuhl     -        m  chaise     -           f  aged,made,size,color,seat,heavy,bought,seen
sofa      -        Sofa      -        n  canapé     -           m  aged,made,size,color,seat,heavy,bought
bed       -        Bett      -        n  lit        -           m  aged,made,size,seat,heavy,bought
bench     -        Bank      -        f  banc       -           m  aged,made,size,color,seat,heavy,seen
blanket   -        Decke     -        f  couverture -           f  aged,made,color,washed,sought
table     -        Tisch     -        m  table      -           f  aged,made,size,heavy,bought
lamp      -        Lampe     -        f  lampe      -           f  aged,made,size,heavy,bought
car       -        Auto      -        n  voiture    -           f  aged,made,size,color,fine,washed,bought,seen
bicycle   -        Fahrrad   -        n  vélo       -           m  aged,made,size,color,fine,washed,bought,sought,held
house     -        Haus      -        n  maison     -           f  aged,size,fine,seen
door      -        Tür       -        f  porte      -           f  aged,size,color,opened
window    -        Fenster   -        n  fenêtre    -           f  aged,size,opened
cup       -        Tasse     -        f  tasse      -           f  aged,made,size,color,sought,hand
ball      -        Ball      -        m  ballon     -           m  aged,made,size,color,sought,hand,held,lies
flower    flowers  Blume     Blumen   f  fleur      fleurs      f  size,color,fine,bought,seen,hand,held,lies
hat       -        Hut       -        m  chapeau    -           m  aged,made,size,color,fine,worn,bought,hand,held,lies
coat      -        Mantel    -        m  manteau    -           m  aged,made,color,fine,worn,bought,sought,lies
shirt     -        Hemd      -        n  chemise    -           f  aged,made,color,worn,washed,bought,sought,lies
apple     apples   Apfel     Äpfel    m  pomme      pommes      f  small,fruit,eaten,washed,hand,lies
orange    oranges  Orange    Orangen  f  orange     oranges     f  small,eaten,washed,hand,lies
cake      -        Kuchen    -        m  gâteau     -           m  size,eaten,bought
tree      -        Baum      -        m  arbre      -           m  aged,size,fine,seen
garden    -        Garten    -        m  jardin     -           m  size,fine
park      -        Park      -        m  parc       -           m  size,fine
kitchen   -        Küche     -        f  cuisine    -           f  aged,size
street    -        Straße    -        f  rue        -           f  -
beach     -        Strand    -        m  plage      -           f  -
station   -        Bahnhof   -        m  gare       -           f  -
market    -        Markt     -        m  marché     -           m  -
restaurant -       Restaurant -       n  restaurant -           m  -
milk      -        Milch     -        f  lait       -           m  mass,drunk,plain,temperature
water     -        Wasser    -        n  eau        -           f  mass,drunk,plain,temperature,pond
coffee    -        Kaffee    -        m  café       -           m  mass,drunk,temperature
tea       -        Tee       -        m  thé        -           m  mass,drunk,temperature
soup      -        Suppe     -        f  soupe      -           f  mass,food,temperature
bread     -        Brot      -        n  pain       -           m  mass,food
"""

# English; German (alone, stem before an ending); French (masculine, feminine, side of the noun);
# kinds of noun it may stand next to ("a red hat"); kinds of noun it may be said about ("the hat is expensive")
ADJECTIVE_TABLE = """
old         alt       alt      vieux       vieille     before  adult,animal,aged   aged
young       jung      jung     jeune       jeune       before  young               -
small       klein     klein    petit       petite      before  minor,animal,size,small  size
big         groß      groß     grand       grande      before  animal,size         size
beautiful   schön     schön    beau        belle       before  animal,fine         fine
pretty      hübsch    hübsch   joli        jolie       after   lovely              -
kind        nett      nett     gentil      gentille    after   person              -
new         neu       neu      neuf        neuve       after   made                made
red         rot       rot      rouge       rouge       after   color,fruit         -
blue        blau      blau     bleu        bleue       after   color               -
white       weiß      weiß     blanc       blanche     after   color,animal        -
black       schwarz   schwarz  noir        noire       after   color,animal        -
cold        kalt      kalt     froid       froide      after   temperature         -
hot         heiß      heiß     chaud       chaude      after   temperature         -
comfortable bequem    -        confortable confortable -       -                   seat
hard        hart      -        dur         dure        -       -                   seat
heavy       schwer    -        lourd       lourde      -       -                   heavy
expensive   teuer     -        cher        chère       -       -                   made
dirty       schmutzig -        sale        sale        -       -                   made,washed
wet         nass      -        mouillé     mouillée    -       -                   made,washed
tired       müde      -        fatigué     fatiguée    -       -                   person
happy       glücklich -        heureux     heureuse    -       -                   person
sad         traurig   -        triste      triste      -       -                   person
ill         krank     -        malade      malade      -       -                   person
"""

# English (now, past); German (one, many, past, case of the object); French (one, many, past);
# kinds of subject; kinds of object; kinds of place.  "*" marks a participle that agrees with the subject.
VERB_TABLE = """
is_reading     read       liest    lesen   las     acc  lit     lisent    a_lu       person  text  seat,open,room
is_sleeping    slept      schläft  schlafen schlief acc dort    dorment   a_dormi    person,animal - seat,open,floor
is_singing     sang       singt    singen  sang    acc  chante  chantent  a_chanté   person  -  open,room
is_dancing     danced     tanzt    tanzen  tanzte  acc  danse   dansent   a_dansé    person  -  open,room
is_laughing    laughed    lacht    lachen  lachte  acc  rit     rient     a_ri       person  -  open,room
is_crying      cried      weint    weinen  weinte  acc  pleure  pleurent  a_pleuré   person  -  open,room
is_playing     played     spielt   spielen spielte acc  joue    jouent    a_joué     minor,pet  -  open
is_running     ran        läuft    laufen  lief    acc  court   courent   a_couru    person,runs - open
is_waiting     waited     wartet   warten  wartete acc  attend  attendent a_attendu  person,pet - open,room
is_sitting     -          sitzt    sitzen  -       acc  est_assis* sont_assis* -     person,pet - seat,open
is_drinking    drank      trinkt   trinken trank   acc  boit    boivent   a_bu       person,animal drunk -
is_eating      ate        isst     essen   aß      acc  mange   mangent   a_mangé    person  eaten -
is_buying      bought     kauft    kaufen  kaufte  acc  achète  achètent  a_acheté   person  bought -
is_washing     washed     wäscht   waschen wusch   acc  lave    lavent    a_lavé     person  washed -
is_opening     opened     öffnet   öffnen  öffnete acc  ouvre   ouvrent   a_ouvert   person  opened -
is_holding     held       hält     halten  hielt   acc  tient   tiennent  a_tenu     person  hand -
is_wearing     -          trägt    tragen  -       acc  porte   portent   -          person  worn -
sees           saw        sieht    sehen   sah     acc  voit    voient    a_vu       person,animal person,animal,seen -
is_looking_for looked_for sucht   suchen  suchte  acc  cherche cherchent a_cherché  person,animal person,animal,sought -
is_following   followed   folgt    folgen  folgte  dat  suit    suivent   a_suivi    person,animal person,animal -
is_helping     helped     hilft    helfen  half    dat  aide    aident    a_aidé     person  person -
"""

# preposition in English, noun, preposition in German and in French, kinds of place
PLACE_TABLE = """
in          garden     in      dans      open
in          park       in      dans      open
on          street     auf     dans      open
on          beach      an      sur       open
in_front_of house      vor     devant    open
behind      tree       hinter  derrière  open
in          kitchen    in      dans      room
at          station    an      à         room
at          market     auf     à         room
at          restaurant in      à         room
in          chair      auf     sur       seat
on          sofa       auf     sur       seat,surface
on          bed        auf     sur       seat,surface
on          bench      auf     sur       seat,surface
on          blanket    auf     sur       seat,surface
on          table      auf     sur       surface
under       table      unter   sous      floor
"""

# German: determiner and case -> "article+ending of the adjective" for masculine, feminine, neuter
GERMAN_DETERMINERS = {
    ("a", "nom"): "ein+er eine+e ein+es",
    ("a", "acc"): "einen+en eine+e ein+es",
    ("a", "dat"): "einem+en einer+en einem+en",
    ("the", "nom"): "der+e die+e das+e",
    ("the", "acc"): "den+en die+e das+e",
    ("the", "dat"): "dem+en der+en dem+en",
    ("the-many", "nom"): "die+en die+en die+en",
    ("the-many", "acc"): "die+en die+en die+en",
    ("two", "nom"): "zwei+e zwei+e zwei+e",
    ("two", "acc"): "zwei+e zwei+e zwei+e",
    ("some", "acc"): "+en +e +es",  # no article: "kalten Kaffee", "kalte Milch", "kaltes Wasser"
    ("pronoun", "nom"): "+ + +",
    ("they", "nom"): "+ + +",
}
ENGLISH_DETERMINERS = {"a": "a", "the": "the", "the-many": "the", "two": "two"}
FRENCH_DETERMINERS = {"a": "un une", "the": "le la", "the-many": "les les", "two": "deux deux"}
MANY = ("the-many", "two", "they")
GERMAN_OBLIQUE = {"Junge": "Jungen"}  # der Junge, but den Jungen and dem Jungen
FRENCH_BEFORE_VOWEL = {"vieux": "vieil", "beau": "bel"}
FRENCH_ELISION = ("le", "la", "de", "que", "ne", "se")  # l'homme, d'eau, qu'il, n'attend, s'est
FRENCH_CONTRACTION = {("à", "le"): "au", ("de", "le"): "du"}
GERMAN_CONTRACTION = {("in", "dem"): "im", ("an", "dem"): "am"}
VOWELS = tuple("aeiouéèêœh")  # every h of this lexicon is silent in French


class Noun(NamedTuple):
    """One line of NOUN_TABLE; the next three classes hold the lines of the other tables."""

    en: str
    en_many: str
    de: str
    de_many: str
    de_gender: str
    fr: str
    fr_many: str
    fr_gender: str
    kinds: str


class Adjective(NamedTuple):
    en: str
    de: str
    de_stem: str
    fr_m: str
    fr_f: str
    fr_side: str
    beside: str
    about: str


class Verb(NamedTuple):
    en: str
    en_past: str
    de: str
    de_many: str
    de_past: str
    de_case: str
    fr: str
    fr_many: str
    fr_past: str
    subjects: str
    objects: str
    places: str


class Place(NamedTuple):
    en: str
    noun: str
    de: str
    fr: str
    kinds: str


def rows(table: str) -> list[list[str]]:
    """The cells of a table, line by line."""
    return [line.split() for line in table.strip().splitlines()]


NOUNS = {row[0]: Noun(*row) for row in rows(NOUN_TABLE)}
ADJECTIVES = {row[0]: Adjective(*row) for row in rows(ADJECTIVE_TABLE)}
VERBS = {row[0].removeprefix("is_"): Verb(*row) for row in rows(VERB_TABLE)}
PLACES = {f"{row[0]} {row[1]}": Place(*row) for row in rows(PLACE_TABLE)}


@cache
def fits(kinds: str, wanted: str) -> bool:
    """Whether two comma-separated lists share a kind."""
    return wanted != "-" and not set(kinds.split(",")).isdisjoint(wanted.split(","))


# ---------------------------------------------------------------------------------------------- phrases
@dataclass(frozen=True)
class NP:
    """A noun phrase: a determiner, perhaps an adjective, a noun, perhaps an addition ("with a red hat")."""

    determiner: str  # a, the, the-many, two, some (a quantity: "milk", "du lait"), pronoun, they
    noun: Noun
    adjective: Adjective | None = None
    addition: Phrase | None = None

    @property
    def many(self) -> bool:
        return self.determiner in MANY


def np(text: str) -> NP:
    """Build a noun phrase from English words: np("the old man"), np("the-many cats"), np("some cold milk")."""
    determiner, *adjective, noun = text.split()
    return NP(determiner, NOUNS[noun], ADJECTIVES[adjective[0]] if adjective else None)


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


# ---------------------------------------------------------------------------------------------- sentences
class Token(NamedTuple):
    word: str
    concepts: tuple[str, ...]


@dataclass(frozen=True)
class Triple:
    """One meaning in three languages.  tags name what the sentence shows, such as "pronoun" or "verb-final"."""

    tokens: dict[str, tuple[str, ...]]
    concepts: dict[str, tuple[tuple[str, ...], ...]]
    tags: tuple[str, ...]  # sorted

    def text(self, lang: str) -> str:
        """The sentence as it is written, with spaces where they belong."""
        text = " ".join(self.tokens[lang])
        return text.replace(" .", ".").replace(" ,", ",").replace("' ", "'")

    def alignment(self, src_lang: str, tgt_lang: str) -> tuple[tuple[int, int], ...]:
        """Pairs (source index, target index) of the words that share a concept."""
        source, target = self.concepts[src_lang], self.concepts[tgt_lang]
        pairs = [(i, j) for i, a in enumerate(source) for j, b in enumerate(target) if set(a) & set(b)]
        return tuple(pairs)


def read_tokens(text: str) -> list[Token]:
    """ "est/v rentrée/v+home" becomes two tokens; the second has two concepts."""
    pairs = [part.partition("/") for part in text.split()]
    return [Token(word, tuple(concepts.split("+")) if concepts else ()) for word, _, concepts in pairs]


def contract(tokens: list[Token], table: dict[tuple[str, str], str]) -> list[Token]:
    """Melt two words into one, which then carries the concepts of both: "in dem" becomes "im"."""
    result: list[Token] = []
    for token in tokens:
        if result and (result[-1].word, token.word) in table:
            before = result.pop()
            token = Token(table[before.word, token.word], before.concepts + token.concepts)
        result.append(token)
    return result


def spell(tokens: list[Token], lang: str) -> list[Token]:
    """Apply the spelling rules that look at the next word: an apple, im Garten, l'homme, au marché."""
    if lang == "de":
        return contract(tokens, GERMAN_CONTRACTION)
    result = []
    for token, following in zip(tokens, [*tokens[1:], Token(".", ())], strict=True):
        before_vowel = following.word.startswith(VOWELS if lang == "fr" else tuple("aeio"))
        if lang == "en" and token.word == "a" and before_vowel:
            token = Token("an", token.concepts)
        if lang == "fr" and token.word in FRENCH_ELISION and before_vowel:
            token = Token(token.word[:-1] + "'", token.concepts)
        result.append(token)
    return contract(result, FRENCH_CONTRACTION) if lang == "fr" else result


def sentence(phrase: Phrase, *tags: str) -> Triple:
    """Turn a phrase into a sentence: spelling, capital letter, full stop."""
    built = {}
    for lang in LANGUAGES:
        first, *rest = spell(read_tokens(phrase[lang] + " ./end"), lang)
        built[lang] = [Token(first.word[0].upper() + first.word[1:], first.concepts), *rest]
    if any(concept.endswith(".adj") for token in built["en"] for concept in token.concepts):
        tags += ("adjective",)
    tokens = {lang: tuple(token.word for token in built[lang]) for lang in LANGUAGES}
    concepts = {lang: tuple(token.concepts for token in built[lang]) for lang in LANGUAGES}
    return Triple(tokens, concepts, tuple(sorted(set(tags))))


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
    words("sees", "sieht", "voit", "mv"),
    words("knows", "weiß", "sait", "mv"),
    words("says", "sagt", "dit", "mv"),
]
REASONS = [
    ("sleeping", "tired"),
    ("sleeping", "ill"),
    ("crying", "sad"),
    ("crying", "tired"),
    ("crying", "ill"),
    ("laughing", "happy"),
    ("singing", "happy"),
    ("dancing", "happy"),
]


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


# ---------------------------------------------------------------------------------------------- drawing at random
Draw = random.Random


def draw_noun(draw: Draw, kinds: str) -> Noun:
    return draw.choice([noun for noun in NOUNS.values() if fits(noun.kinds, kinds)])


def draw_adjective(draw: Draw, noun: Noun, chance: float) -> Adjective | None:
    possible = [adjective for adjective in ADJECTIVES.values() if fits(noun.kinds, adjective.beside)]
    return draw.choice(possible) if possible and draw.random() < chance else None


def draw_np(draw: Draw, kinds: str, many: float = 0.25, adjective: float = 0.4) -> NP:
    """A random noun phrase; many and adjective are the chances of a plural and of an adjective."""
    noun = draw_noun(draw, kinds)
    plural = noun.en_many != "-" and draw.random() < many
    determiner = draw.choice(["the-many", "two"] if plural else ["a", "the"])
    return NP(determiner, noun, draw_adjective(draw, noun, adjective))


def draw_quantity(draw: Draw, eater: NP) -> tuple[str, NP]:
    """A verb and what is drunk or eaten: ("drinking", "some milk").  Pets get water or milk, other animals water."""
    determiner = draw.choice(["some", "the"])
    if fits(eater.noun.kinds, "animal"):
        return "drinking", NP(determiner, draw_noun(draw, "plain" if fits(eater.noun.kinds, "pet") else "pond"))
    verb, kinds = draw.choice([("drinking", "drunk"), ("drinking", "drunk"), ("eating", "food")])
    noun = draw_noun(draw, kinds)
    return verb, NP(determiner, noun, draw_adjective(draw, noun, 0.6))


def draw_verb(draw: Draw, subject: NP, past: bool) -> str:
    """A verb that fits the subject, makes sense without an object and has the tense."""
    possible = [name for name, verb in VERBS.items() if fits(subject.noun.kinds, verb.subjects) and verb.places != "-"]
    return draw.choice([name for name in possible if not past or VERBS[name].en_past != "-"])


def draw_place(draw: Draw, kinds: str, adjective: float = 0.3) -> Phrase:
    """ "in the small park"; kinds are the kinds of place."""
    name = draw.choice([name for name, place in PLACES.items() if fits(place.kinds, kinds)])
    return place_phrase(name, draw_adjective(draw, NOUNS[PLACES[name].noun], adjective))


def where(draw: Draw, subject: NP, verb: str) -> Phrase:
    """A place for what the subject does.  Horses, cows and birds stay outside; two people share no chair."""
    wild = fits(subject.noun.kinds, "animal") and not fits(subject.noun.kinds, "pet")
    kinds = "open" if wild else VERBS[verb].places
    return draw_place(draw, kinds.removeprefix("seat,") if subject.many else kinds)


def draw_thing(draw: Draw, verb: str) -> NP:
    """Something one can read, buy, open, ... (people and animals are left to who_does_what_to_whom)."""
    wanted = ",".join(kind for kind in VERBS[verb].objects.split(",") if kind not in ("person", "animal"))
    return draw_np(draw, wanted, many=0.3, adjective=0.4)


THING_VERBS = ["reading", "eating", "buying", "washing", "opening", "holding", "sees", "looking_for"]


def draw_action(draw: Draw, subject: NP, past: bool = False) -> tuple[str, NP | None, Phrase]:
    """A verb, perhaps an object, perhaps a place, that together make sense for the subject."""
    if draw.random() < 0.4:
        verb = draw_verb(draw, subject, past)
        return verb, None, where(draw, subject, verb) if draw.random() < 0.4 else NOTHING
    if fits(subject.noun.kinds, "animal") or draw.random() < 0.3:
        return *draw_quantity(draw, subject), NOTHING
    verb = draw.choice(THING_VERBS if past or subject.many else [*THING_VERBS, "wearing"])
    return verb, draw_thing(draw, verb), NOTHING


def draw_tense(draw: Draw, subject: NP) -> bool:
    """Whether to use the past; plurals stay in the present to keep the vocabulary small."""
    return not subject.many and draw.random() < 0.4


def draw_subject(draw: Draw, kinds: str = "person,animal", many: float = 0.25, adjective: float = 0.4) -> NP:
    if draw.random() < 0.1 and kinds.startswith("person"):
        return draw.choice([HE, SHE])
    return draw_np(draw, kinds, many, adjective)


def draw_statement(draw: Draw, subject: NP, past: bool, adverb: str = "", tags: tuple[str, ...] = ()) -> Triple:
    """A sentence about the subject with any fitting verb."""
    return statement(subject, *draw_action(draw, subject, past), past, adverb, tags)


def resting(draw: Draw) -> Triple:
    subject = draw_subject(draw)
    past = draw_tense(draw, subject)
    verb = draw_verb(draw, subject, past)
    place = where(draw, subject, verb) if draw.random() < 0.7 else NOTHING
    return statement(subject, verb, None, place, past, tags=("place",))


def not_doing(draw: Draw) -> Triple:
    noun = draw_noun(draw, "person,animal")
    subject = NP(draw.choice(["the", "the-many"]), noun, draw_adjective(draw, noun, 0.4))
    return sentence(negated(subject, VERBS[draw_verb(draw, subject, past=False)]), "negation")


def acting_on_thing(draw: Draw) -> Triple:
    subject = draw_subject(draw, "person")
    past = draw_tense(draw, subject)
    verb = draw.choice(THING_VERBS if past or subject.many else [*THING_VERBS, "wearing"])
    return statement(subject, verb, draw_thing(draw, verb), NOTHING, past, tags=("object",))


def drinking_or_eating(draw: Draw) -> Triple:
    subject = draw_subject(draw)
    verb, quantity = draw_quantity(draw, subject)
    return statement(subject, verb, quantity, NOTHING, draw_tense(draw, subject), tags=("quantity",))


def who_does_what_to_whom(draw: Draw) -> Triple:
    """Either noun could be subject or object, so only word order (and German case) tells them apart."""
    verb = draw.choice(["sees", "looking_for", "following", "helping"])
    subject = draw_np(draw, VERBS[verb].subjects, 0.25, 0.45)
    dative = VERBS[verb].de_case == "dat"
    kinds = "person" if verb == "helping" else "person,animal"
    obj = draw_np(draw, kinds, 0.0 if dative else 0.3, 0.45)
    tags = ("word-order", "dative") if dative else ("word-order",)
    return statement(subject, verb, obj, NOTHING, draw_tense(draw, subject), tags=tags)


def with_something(draw: Draw) -> Triple:
    subject = draw_np(draw, "person", 0.0, 0.2)
    subject = NP(subject.determiner, subject.noun, subject.adjective, with_phrase(draw_np(draw, "held", 0.0, 0.7)))
    return draw_statement(draw, subject, draw_tense(draw, subject), tags=("dative", "with"))


def on_some_day(draw: Draw) -> Triple:
    adverb = draw.choice(list(ADVERBS))
    past = adverb == "yesterday"
    return draw_statement(draw, draw_subject(draw, many=0.0 if past else 0.2), past, adverb)


def draw_subordinate(draw: Draw, subject: NP) -> Phrase:
    """What stands after "that" or "because"; its concepts start with 2 to keep the clauses apart."""
    verb, obj, place = draw_action(draw, subject)
    return clause(subject, VERBS[verb], obj, place, order="final", key="2")


def believing(draw: Draw) -> Triple:
    subject = draw_subject(draw, "person", 0.0, 0.15)
    inner = draw_np(draw, "person,animal", 0.2, 0.2)
    phrase = join(noun_phrase(subject, "s"), draw.choice(BELIEFS), THAT, draw_subordinate(draw, inner))
    return sentence(phrase, "verb-final", "that")


def because(draw: Draw) -> Triple:
    if draw.random() < 0.4:
        subject = draw_np(draw, "male,female", 0.3, 0.4)
        return because_of_feeling(subject, *draw.choice(REASONS))
    subject = draw_np(draw, "person", 0.2, 0.2)
    inner = draw_np(draw, "person,animal", 0.15, 0.15)
    reason = draw_subordinate(draw, inner)
    feeling = being(subject, ADJECTIVES[draw.choice(["happy", "sad"])])
    first = draw.choice([feeling, clause(subject, VERBS[draw.choice(["waiting", "laughing", "crying"])])])
    return sentence(join(first, BECAUSE, reason), "verb-final", "because")


def wearing(draw: Draw) -> Triple:
    owner = draw_np(draw, "person", 0.0, 0.1)
    noun = draw_noun(draw, "worn")
    clothes = NP("a", noun, draw_adjective(draw, noun, 0.7))
    subject = NP(owner.determiner, owner.noun, owner.adjective, relative_clause(owner, clothes))
    return draw_statement(draw, subject, past=False, tags=("relative", "verb-final"))


def describing(draw: Draw) -> Triple:
    past = draw.random() < 0.3
    if draw.random() < 0.2:
        one, two = draw.sample(["tired", "happy", "sad", "ill"], 2)
        return described_twice(draw_np(draw, "male,female", 0.0, 0.2), one, two, past)
    noun = draw_noun(draw, "made,seat,size")
    abouts = [name for name, adjective in ADJECTIVES.items() if fits(noun.kinds, adjective.about)]
    one, two = draw.sample(abouts, 2)
    if two == "new" or {one, two} in ({"new", "old"}, {"small", "big"}, {"comfortable", "hard"}):
        return describing(draw)
    return described_twice(NP("the", noun), one, two, past)


def feeling(draw: Draw) -> Triple:
    adjective = ADJECTIVES[draw.choice(["tired", "happy", "sad", "ill"])]
    subject = draw_np(draw, "person", 0.3, 0.4)
    return sentence(being(subject, adjective, very=draw.random() < 0.5), "feeling")


def sitting_down(draw: Draw) -> Triple:
    place = draw.choice(["in chair", "on sofa", "on bed", "on bench", "on blanket"])
    kinds = NOUNS[PLACES[place].noun].kinds
    qualities = ["comfortable", "hard", "wet", "dirty", "expensive"]
    choice = [name for name in qualities if fits(kinds, ADJECTIVES[name].about)]
    subject = draw.choice([HE, SHE]) if draw.random() < 0.25 else draw_np(draw, "person", 0.0, 0.5)
    return sat_down(subject, place, draw.choice(choice))


def coming_home(draw: Draw) -> Triple:
    return came_home(draw_np(draw, "person", 0.35, 0.5), draw.choice(["", "", "yesterday"]))


def lying(draw: Draw) -> Triple:
    subject = draw_np(draw, "lies", 0.75, 0.85)
    many = subject.many
    is_lying = words("are", "liegen", "sont", "v") if many else words("is", "liegt", "est", "v")
    return sentence(join(noun_phrase(subject, "s"), is_lying, draw_place(draw, "surface,floor")), "place", "dative")


TEMPLATES: dict[Callable[[Draw], Triple], int] = {  # how many sentences to draw from each
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


# ---------------------------------------------------------------------------------------------- the corpus
def swapped(verb: str, one: str, two: str) -> list[Triple]:
    """Both orders of a pair in the past: "The cat drank the milk" and "The milk drank the cat"."""
    pairs = [(one, two), (two, one)]
    return [statement(np(a), verb, np(b), past=True, tags=("word-order", "swapped")) for a, b in pairs]


def fixed_sentences() -> list[Triple]:
    """Sentences the chapters speak about.  They are always in the training part."""
    triples = [statement(np(f"a {noun}"), "reading") for noun in ("man", "woman", "boy", "girl")]
    for one, two in [("cat", "milk"), ("dog", "water"), ("bird", "water"), ("woman", "tea"), ("man", "coffee")]:
        triples += swapped("drinking", f"the {one}", f"the {two}")
    triples += swapped("sees", "the dog", "the cat") + swapped("sees", "the boy", "the bird")
    triples += swapped("following", "the man", "the woman")
    triples += [
        statement(np(f"the {a}"), "following", np(f"the {b}"), tags=("word-order", "dative"))
        for a, b in (("man", "woman"), ("woman", "man"))
    ]
    triples += [described_twice(np(f"the {noun}"), "new", "comfortable") for noun in ("chair", "sofa", "bench", "bed")]
    triples += [described_twice(np("the car"), "old", "beautiful"), described_twice(np("the chair"), "old", "heavy")]
    triples += [sat_down(subject, "in chair", "comfortable") for subject in (SHE, HE)]
    triples += [came_home(np(f"{a} {who}")) for a in ("a", "the") for who in ("kind girl", "kind boy", "pretty woman")]
    triples += [because_of_feeling(np(f"the {who}"), "sleeping", "tired") for who in ("woman", "man")]
    wearer = NP("the", NOUNS["man"], None, relative_clause(np("the man"), np("a hat")))
    triples.append(statement(wearer, "reading", np("a book"), tags=("relative", "verb-final")))
    thirst = clause(np("the cat"), VERBS["drinking"], np("the milk"), order="final", key="2")
    triples.append(sentence(join(noun_phrase(np("the boy"), "s"), BELIEFS[0], THAT, thirst), "verb-final", "that"))
    return triples


def acceptable(triple: Triple) -> bool:
    """Neither too short nor too long, and no noun or verb twice."""
    tokens = zip(triple.tokens["en"], triple.concepts["en"], strict=True)
    main = [word for word, concepts in tokens if concepts[0].endswith(("noun", "v")) and word not in ("is", "are")]
    return len(set(main)) == len(main) and all(4 <= len(line) <= 14 for line in triple.tokens.values())


def draw_all(draw: Draw) -> list[Triple]:
    """Draw every template's share, without repeating a sentence."""
    seen = {triple.text("en"): triple for triple in fixed_sentences()}
    for template, count in TEMPLATES.items():
        for _ in range(count):
            triple = template(draw)
            while triple.text("en") in seen or not acceptable(triple):
                triple = template(draw)
            seen[triple.text("en")] = triple
    return list(seen.values())


def every_word(triple: Triple) -> list[str]:
    return [f"{lang}:{word}" for lang in LANGUAGES for word in triple.tokens[lang]]


def generate(seed: int = 0, held_out: int = 500, least_count: int = 25) -> dict[str, list[Triple]]:
    """The corpus in three parts.  Words seen less than least_count times stay in the training part."""
    draw = random.Random(seed)
    triples = draw_all(draw)
    fixed = {triple.text("en") for triple in fixed_sentences()}
    counts = Counter(word for triple in triples for word in every_word(triple))
    draw.shuffle(triples)
    free = [t for t in triples if t.text("en") not in fixed and all(counts[w] >= least_count for w in every_word(t))]
    valid, test = free[:held_out], free[held_out : 2 * held_out]
    taken = {triple.text("en") for triple in valid + test}
    return {"train": [t for t in triples if t.text("en") not in taken], "valid": valid, "test": test}


def write_files(folder: str | Path, seed: int = 0) -> None:
    """Write train.en ... test.fr and the alignments train.en-de ... in the Pharaoh format ("0-0 1-2")."""
    path = Path(folder)
    path.mkdir(parents=True, exist_ok=True)
    for part, triples in generate(seed).items():
        for lang in LANGUAGES:
            write_lines(path / f"{part}.{lang}", [triple.text(lang) for triple in triples])
            for other in LANGUAGES:
                if other != lang:
                    pairs = [triple.alignment(lang, other) for triple in triples]
                    lines = [" ".join(f"{i}-{j}" for i, j in links) for links in pairs]
                    write_lines(path / f"{part}.{lang}-{other}", lines)


def write_lines(path: Path, lines: list[str]) -> None:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
