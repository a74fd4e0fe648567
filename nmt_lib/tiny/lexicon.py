"""The words of the tiny corpus: what each is called in three languages, how it bends, and what it goes with."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

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
    (
        "some",
        "acc",
    ): "+en +e +es",  # no article: "kalten Kaffee", "kalte Milch", "kaltes Wasser"
    ("pronoun", "nom"): "+ + +",
    ("they", "nom"): "+ + +",
}
ENGLISH_DETERMINERS = {"a": "a", "the": "the", "the-many": "the", "two": "two"}
FRENCH_DETERMINERS = {
    "a": "un une",
    "the": "le la",
    "the-many": "les les",
    "two": "deux deux",
}
MANY = ("the-many", "two", "they")
GERMAN_OBLIQUE = {"Junge": "Jungen"}  # der Junge, but den Jungen and dem Jungen
FRENCH_BEFORE_VOWEL = {"vieux": "vieil", "beau": "bel"}
FRENCH_ELISION = (
    "le",
    "la",
    "de",
    "que",
    "ne",
    "se",
)  # l'homme, d'eau, qu'il, n'attend, s'est
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
@cache
def fits(kinds: str, wanted: str) -> bool:
    """Whether two comma-separated lists share a kind."""
    return wanted != "-" and not set(kinds.split(",")).isdisjoint(wanted.split(","))
