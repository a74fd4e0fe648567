"""The words of the tiny corpus: their forms, and which of them go together."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

# In every table "_" stands for a space and "-" for "none". Kinds say which adjectives,
# verbs and places make sense together.

# English (one, many); German (one, many, gender); French (one, many, gender)
NOUN_TABLE = """
man        men      Mann       Männer  m homme      hommes     m
woman      women    Frau       Frauen  f femme      femmes     f
lady       ladies   Dame       Damen   f dame       dames      f
father     fathers  Vater      Väter   m père       pères      m
mother     mothers  Mutter     Mütter  f mère       mères      f
baker      bakers   Bäcker     Bäcker  m boulanger  boulangers m
boy        boys     Junge      Jungen  m garçon     garçons    m
girl       girls    Mädchen    Mädchen n fille      filles     f
child      children Kind       Kinder  n enfant     enfants    m
dog        dogs     Hund       Hunde   m chien      chiens     m
cat        cats     Katze      Katzen  f chat       chats      m
horse      horses   Pferd      Pferde  n cheval     chevaux    m
cow        cows     Kuh        Kühe    f vache      vaches     f
bird       birds    Vogel      Vögel   m oiseau     oiseaux    m
book       books    Buch       Bücher  n livre      livres     m
letter     -        Brief      -       m lettre     -          f
newspaper  -        Zeitung    -       f journal    -          m
chair      -        Stuhl      -       m chaise     -          f
sofa       -        Sofa       -       n canapé     -          m
bed        -        Bett       -       n lit        -          m
bench      -        Bank       -       f banc       -          m
blanket    -        Decke      -       f couverture -          f
table      -        Tisch      -       m table      -          f
lamp       -        Lampe      -       f lampe      -          f
car        -        Auto       -       n voiture    -          f
bicycle    -        Fahrrad    -       n vélo       -          m
house      -        Haus       -       n maison     -          f
door       -        Tür        -       f porte      -          f
window     -        Fenster    -       n fenêtre    -          f
cup        -        Tasse      -       f tasse      -          f
ball       -        Ball       -       m ballon     -          m
flower     flowers  Blume      Blumen  f fleur      fleurs     f
hat        -        Hut        -       m chapeau    -          m
coat       -        Mantel     -       m manteau    -          m
shirt      -        Hemd       -       n chemise    -          f
apple      apples   Apfel      Äpfel   m pomme      pommes     f
orange     oranges  Orange     Orangen f orange     oranges    f
cake       -        Kuchen     -       m gâteau     -          m
tree       -        Baum       -       m arbre      -          m
garden     -        Garten     -       m jardin     -          m
park       -        Park       -       m parc       -          m
kitchen    -        Küche      -       f cuisine    -          f
street     -        Straße     -       f rue        -          f
beach      -        Strand     -       m plage      -          f
station    -        Bahnhof    -       m gare       -          f
market     -        Markt      -       m marché     -          m
restaurant -        Restaurant -       n restaurant -          m
milk       -        Milch      -       f lait       -          m
water      -        Wasser     -       n eau        -          f
coffee     -        Kaffee     -       m café       -          m
tea        -        Tee        -       m thé        -          m
soup       -        Suppe      -       f soupe      -          f
bread      -        Brot       -       n pain       -          m
"""

# Of the same nouns.
NOUN_KINDS = """
man        person,adult,male,young
woman      person,adult,female,lovely,young
lady       person,adult,female,lovely,young
father     person,male,young
mother     person,female,young
baker      person,adult,male,young
boy        person,minor,male
girl       person,minor,lovely,young
child      person,minor
dog        animal,pet,held,runs
cat        animal,pet,held,runs
horse      animal,runs
cow        animal
bird       animal
book       aged,text,small,bought,sought,hand,lies
letter     aged,text,sought,opened,hand,lies
newspaper  aged,text,bought,sought,hand,lies
chair      aged,made,size,color,seat,heavy,bought,seen
sofa       aged,made,size,color,seat,heavy,bought
bed        aged,made,size,seat,heavy,bought
bench      aged,made,size,color,seat,heavy,seen
blanket    aged,made,color,washed,sought
table      aged,made,size,heavy,bought
lamp       aged,made,size,heavy,bought
car        aged,made,size,color,fine,washed,bought,seen
bicycle    aged,made,size,color,fine,washed,bought,sought,held
house      aged,size,fine,seen
door       aged,size,color,opened
window     aged,size,opened
cup        aged,made,size,color,sought,hand
ball       aged,made,size,color,sought,hand,held,lies
flower     size,color,fine,bought,seen,hand,held,lies
hat        aged,made,size,color,fine,worn,bought,hand,held,lies
coat       aged,made,color,fine,worn,bought,sought,lies
shirt      aged,made,color,worn,washed,bought,sought,lies
apple      small,fruit,eaten,washed,hand,lies
orange     small,eaten,washed,hand,lies
cake       size,eaten,bought
tree       aged,size,fine,seen
garden     size,fine
park       size,fine
kitchen    aged,size
street     -
beach      -
station    -
market     -
restaurant -
milk       mass,drunk,plain,temperature
water      mass,drunk,plain,temperature,pond
coffee     mass,drunk,temperature
tea        mass,drunk,temperature
soup       mass,food,temperature
bread      mass,food
"""

# English; German (alone, stem before an ending); French (masculine, feminine, side of
# the noun); kinds of noun beside it ("a red hat"); kinds of noun that it may be said
# about ("the hat is expensive")
ADJECTIVE_TABLE = """
old        alt       alt     vieux   vieille  before adult,animal,aged aged
young      jung      jung    jeune   jeune    before young             -
small      klein     klein   petit   petite   before minor,animal,size,small size
big        groß      groß    grand   grande   before animal,size       size
beautiful  schön     schön   beau    belle    before animal,fine       fine
pretty     hübsch    hübsch  joli    jolie    after  lovely            -
kind       nett      nett    gentil  gentille after  person            -
new        neu       neu     neuf    neuve    after  made              made
red        rot       rot     rouge   rouge    after  color,fruit       -
blue       blau      blau    bleu    bleue    after  color             -
white      weiß      weiß    blanc   blanche  after  color,animal      -
black      schwarz   schwarz noir    noire    after  color,animal      -
cold       kalt      kalt    froid   froide   after  temperature       -
hot        heiß      heiß    chaud   chaude   after  temperature       -
comfortable bequem    -       confortable confortable -      -                 seat
hard       hart      -       dur     dure     -      -                 seat
heavy      schwer    -       lourd   lourde   -      -                 heavy
expensive  teuer     -       cher    chère    -      -                 made
dirty      schmutzig -       sale    sale     -      -                 made,washed
wet        nass      -       mouillé mouillée -      -                 made,washed
tired      müde      -       fatigué fatiguée -      -                 person
happy      glücklich -       heureux heureuse -      -                 person
sad        traurig   -       triste  triste   -      -                 person
ill        krank     -       malade  malade   -      -                 person
"""

# English (now, past); German (one, many, past, case of the object); French (one, many,
# past). "*" marks a participle that agrees with the subject.
VERB_TABLE = """
is_reading     read       liest   lesen    las     acc lit        lisent      a_lu
is_sleeping    slept      schläft schlafen schlief acc dort       dorment     a_dormi
is_singing     sang       singt   singen   sang    acc chante     chantent    a_chanté
is_dancing     danced     tanzt   tanzen   tanzte  acc danse      dansent     a_dansé
is_laughing    laughed    lacht   lachen   lachte  acc rit        rient       a_ri
is_crying      cried      weint   weinen   weinte  acc pleure     pleurent    a_pleuré
is_playing     played     spielt  spielen  spielte acc joue       jouent      a_joué
is_running     ran        läuft   laufen   lief    acc court      courent     a_couru
is_waiting     waited     wartet  warten   wartete acc attend     attendent   a_attendu
is_sitting     -          sitzt   sitzen   -       acc est_assis* sont_assis* -
is_drinking    drank      trinkt  trinken  trank   acc boit       boivent     a_bu
is_eating      ate        isst    essen    aß      acc mange      mangent     a_mangé
is_buying      bought     kauft   kaufen   kaufte  acc achète     achètent    a_acheté
is_washing     washed     wäscht  waschen  wusch   acc lave       lavent      a_lavé
is_opening     opened     öffnet  öffnen   öffnete acc ouvre      ouvrent     a_ouvert
is_holding     held       hält    halten   hielt   acc tient      tiennent    a_tenu
is_wearing     -          trägt   tragen   -       acc porte      portent     -
sees           saw        sieht   sehen    sah     acc voit       voient      a_vu
is_looking_for looked_for sucht   suchen   suchte  acc cherche    cherchent   a_cherché
is_following   followed   folgt   folgen   folgte  dat suit       suivent     a_suivi
is_helping     helped     hilft   helfen   half    dat aide       aident      a_aidé
"""

# Of the same verbs: kinds of subject, of object and of place.
VERB_KINDS = """
is_reading     person        text                 seat,open,room
is_sleeping    person,animal -                    seat,open,floor
is_singing     person        -                    open,room
is_dancing     person        -                    open,room
is_laughing    person        -                    open,room
is_crying      person        -                    open,room
is_playing     minor,pet     -                    open
is_running     person,runs   -                    open
is_waiting     person,pet    -                    open,room
is_sitting     person,pet    -                    seat,open
is_drinking    person,animal drunk                -
is_eating      person        eaten                -
is_buying      person        bought               -
is_washing     person        washed               -
is_opening     person        opened               -
is_holding     person        hand                 -
is_wearing     person        worn                 -
sees           person,animal person,animal,seen   -
is_looking_for person,animal person,animal,sought -
is_following   person,animal person,animal        -
is_helping     person        person               -
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

# English; French (masculine, feminine)
DETERMINER_TABLE = """
a        a   un   une
the      the le   la
the-many the les  les
two      two deux deux
some     _   _    _
pronoun  _   _    _
they     _   _    _
"""

# Of the same determiners, in German: case; "article+ending of the adjective" for
# masculine, feminine and neuter. Some: no article, "kalten Kaffee", "kalte Milch".
GERMAN_DETERMINER_TABLE = """
a        nom ein+er   eine+e   ein+es
a        acc einen+en eine+e   ein+es
a        dat einem+en einer+en einem+en
the      nom der+e    die+e    das+e
the      acc den+en   die+e    das+e
the      dat dem+en   der+en   dem+en
the-many nom die+en   die+en   die+en
the-many acc die+en   die+en   die+en
two      nom zwei+e   zwei+e   zwei+e
two      acc zwei+e   zwei+e   zwei+e
some     acc +en      +e       +es
pronoun  nom +        +        +
they     nom +        +        +
"""
MANY = ("the-many", "two", "they")
GERMAN_OBLIQUE = {"Junge": "Jungen"}  # der Junge, but den Jungen and dem Jungen
FRENCH_BEFORE_VOWEL = {"vieux": "vieil", "beau": "bel"}
VOWELS = tuple("aeiouéèêœh")  # every h of this lexicon is silent in French


class Noun(NamedTuple):
    """A line of the tables of nouns; the next classes: of the others."""

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


def join_rows(forms: str, kinds: str) -> list[list[str]]:
    """The cells of a table of forms and of its table of kinds, line by line."""
    return [
        [*form, *kind]
        for form, (_, *kind) in zip(rows(forms), rows(kinds), strict=True)
    ]


NOUNS = {row[0]: Noun(*row) for row in join_rows(NOUN_TABLE, NOUN_KINDS)}
ADJECTIVES = {row[0]: Adjective(*row) for row in rows(ADJECTIVE_TABLE)}
VERBS = {
    row[0].removeprefix("is_"): Verb(*row) for row in join_rows(VERB_TABLE, VERB_KINDS)
}
DETERMINERS = {
    name: dict(zip(("en", "m", "f"), forms, strict=True))
    for name, *forms in rows(DETERMINER_TABLE)
}
GERMAN_DETERMINERS = {
    (name, case): {g: form.split("+") for g, form in zip("mfn", forms, strict=True)}
    for name, case, *forms in rows(GERMAN_DETERMINER_TABLE)
}
PLACES = {f"{row[0]} {row[1]}": Place(*row) for row in rows(PLACE_TABLE)}


@cache
def fits(kinds: str, wanted: str) -> bool:
    """Whether two comma-separated lists share a kind."""
    return wanted != "-" and not set(kinds.split(",")).isdisjoint(wanted.split(","))
