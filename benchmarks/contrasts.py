"""Does the model that comes along know the gender and the place of French words? Contrasts from real captions.

Rules turn validation references into wrong ones, one fault each; the model wins where it finds the right one likelier.
The rules are strict: a noun must stand in a list, its article or adjective must agree with it, and what could be right
in another reading is left out. Captions are printed (``--show``), never kept.
Run: ``NMT_DATA=… python benchmarks/contrasts.py [--show 20]``
"""

from __future__ import annotations

import argparse
import hashlib
import math
import random
import re
from collections.abc import Iterable, Sequence

from common import machine, write_table

import nmt_lib as nmt
from nmt_lib.translator import PRETRAINED

# Left out: nouns with two genders (enfant, élève, soldat, livre …), those spelt like a verb (porte), those in -s.
NOUNS = {
    "m": """homme garçon chien cheval taureau oiseau animal éléphant groupe père vendeur joueur ouvrier chanteur skieur
    coureur nageur bâtiment mur banc parc lac magasin restaurant bar marché trottoir chemin pont toit champ terrain
    ballon vélo bateau train camion avion tracteur chariot casque chapeau bonnet costume pantalon manteau maillot gilet
    pull short jean tablier chemisier uniforme débardeur sac seau bol verre couteau gâteau plateau panneau drapeau
    parapluie jouet tambour violon piano micro instrument match concert spectacle défilé chantier fauteuil canapé lit
    bureau rocher ruisseau arbre cheveu sourire kayak bâton marathon métro ciel sol sable polo tatouage collier caniche
    T-shirt poteau balai frisbee poney barbecue incendie""",
    "f": """femme fille dame mère mariée foule personne serveuse danseuse rue route ville plage piscine fontaine rivière
    montagne colline forêt falaise pente piste pelouse barrière rampe table chaise chambre maison cabane tente église
    statue voiture moto planche poussette chemise veste robe jupe casquette écharpe combinaison cape tenue ceinture
    chaussure lunette sandale botte couverture serviette guitare caméra photo peinture musique chanson scène balle
    corde pancarte banderole bannière boule machine bouteille fleur branche feuille neige boue fumée nourriture main
    tête jambe barbe fenêtre vitrine cuisine salle journée fête course compétition manifestation promenade équipe
    famille perche queue ombrelle visière paroi épée étendue lettre tache""",
}
COLOURS = [
    ("blanc", "blanche"),
    ("noir", "noire"),
    ("vert", "verte"),
    ("bleu", "bleue"),
    ("gris", "grise"),
    ("violet", "violette"),
    ("brun", "brune"),
    ("blond", "blonde"),
]
SIZES = [
    ("petit", "petite"),
    ("grand", "grande"),
    ("gros", "grosse"),
    ("long", "longue"),
]
FIXED = [
    (word, word) for word in ("rouge", "jaune", "rose")
]  # one form for both genders


def plural(word: str) -> str:
    if word.endswith("al"):
        return word.removesuffix("l") + "ux"
    return (
        word
        if word.endswith("s")
        else word + ("x" if word.endswith("eau") or word == "cheveu" else "s")
    )


def other_forms(
    adjectives: Iterable[tuple[str, str]],
) -> dict[tuple[str, bool, str], str]:
    """(gender, in the plural?, the form that agrees) → the same form in the other gender."""
    table = {}
    for masculine, feminine in adjectives:
        for many in (False, True):
            m, f = (
                (plural(masculine), plural(feminine)) if many else (masculine, feminine)
            )
            table |= {("m", many, m): f, ("f", many, f): m}
    return table


KINDS_OF = {
    form: (gender, many)
    for gender, nouns in NOUNS.items()
    for noun in nouns.split()
    for many in (False, True)
    for form in [plural(noun) if many else noun]
}
ARTICLES = {
    "un": ("m", "une"),
    "une": ("f", "un"),
    "le": ("m", "la"),
    "la": ("f", "le"),
}
AGREE = other_forms([*COLOURS, *SIZES])
PLACED = other_forms(
    [*COLOURS[:-1], *FIXED]
)  # "les blondes filles" is one way to say it
DETERMINER = (
    r"(?<![\w'’-])(?:une?|l[ea]s?|des|deux|trois|quatre|cinq|plusieurs|sa|ses|leurs?)"
    r"(?: (?:jeune|autre|petite?|grande?|gros|grosse|longue?)s?)?"
)
END = r"(?![\w'’-])"
HUES = "|".join(form for *_, form in other_forms(COLOURS + FIXED))
ALONE = rf"{END}(?!,? (?:et|ou|à|clair|foncé|marine|ciel|vif|pâle|turquoise|pomme|fluo|{HUES})\b)"
ARTICLE = re.compile(rf"(?<![\w'’-])(une?|l[ea]) ([\w-]+){END}", re.IGNORECASE)
AFTER = re.compile(
    rf"{DETERMINER} ([\w-]+) (\w+){ALONE}", re.IGNORECASE
)  # "un chien noir"
BEFORE = re.compile(
    rf"(?<![\w'’-])({'|'.join(form for *_, form in other_forms(SIZES))}) (\w+){END}"
)  # "petit chien"


def put(text: str, start: int, end: int, words: str) -> str:
    return text[:start] + words + text[end:]


def wrong_articles(text: str) -> list[str]:
    """ "Une femme" → "Un femme", where the article agrees with the noun directly behind it."""
    found = []
    for match in ARTICLE.finditer(text):
        gender, other = ARTICLES[match[1].lower()]
        if KINDS_OF.get(match[2]) == (gender, False):
            found.append(
                put(
                    text,
                    *match.span(1),
                    other.capitalize() if match[1][0].isupper() else other,
                )
            )
    return found


def wrong_agreements(text: str) -> list[str]:
    """ "une robe noire" → "une robe noir". A determiner must be near: in "une veste en cuir noir", what is black?"""
    places = [(match, 1, 2) for match in AFTER.finditer(text)] + [
        (match, 2, 1) for match in BEFORE.finditer(text)
    ]
    return [
        put(text, *match.span(adjective), AGREE[key])
        for match, noun, adjective in places
        if (key := (*KINDS_OF.get(match[noun], ("", False)), match[adjective])) in AGREE
    ]


def wrong_places(text: str) -> list[str]:
    """ "un chien noir" → "un noir chien"."""
    return [
        put(text, match.start(1), match.end(2), f"{match[2]} {match[1]}")
        for match in AFTER.finditer(text)
        if (*KINDS_OF.get(match[1], ("", False)), match[2]) in PLACED
    ]


NOTES = (
    "Model: `{model}`, weights {digest}. A contrast is won if the model finds the reference likelier than the same "
    "sentence with one fault. With another source: as translations of the next caption of the list, so what is won "
    "there is won by knowing French. Right and wrong have equally many pieces in {equal} of {all}. {machine}."
)
MODEL = "multi30k-en-fr"
RULES = {
    "article": wrong_articles,
    "agreement": wrong_agreements,
    "adjective place": wrong_places,
}


def contrasts(
    pairs: Sequence[nmt.Pair], seed: int = 0
) -> dict[str, list[nmt.Contrast]]:
    """Kind → at most one contrast a caption; where a rule applies in several places, one of them is drawn."""
    draw, found = random.Random(seed), {}
    for kind, rule in RULES.items():
        wrong = [(pair, rule(pair.tgt)) for pair in pairs]
        found[kind] = [
            nmt.Contrast(pair.src, pair.tgt, draw.choice(texts))
            for pair, texts in wrong
            if texts
        ]
    return found


def interval(won: int, n: int, z: float = 1.96) -> str:
    """Wilson's 95 % interval of a share; unlike mean ± z·deviation it stays within 0 and 1."""
    middle, wide = won + z * z / 2, z * math.sqrt(won * (n - won) / n + z * z / 4)
    return f"{(middle - wide) / (n + z * z):.1%} to {(middle + wide) / (n + z * z):.1%}"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument(
        "--show",
        type=int,
        default=0,
        help="print so many wrong sentences of each kind, and stop",
    )
    options = parser.parse_args()
    translator, rows, equal = nmt.Translator.load(MODEL, device="cpu"), [], []
    for kind, found in contrasts(nmt.load_corpus(translator.config.data).valid).items():
        if options.show:
            print(
                kind,
                *(
                    f"{c.right}\n   {c.wrong}"
                    for c in random.Random(1).sample(found, options.show)
                ),
                sep="\n",
            )
            continue
        others = [
            nmt.Contrast(d.src, c.right, c.wrong)
            for c, d in zip(found, found[1:] + found[:1], strict=True)
        ]
        counts = [
            round(nmt.contrastive_accuracy(translator, some) * len(some))
            for some in (found, others)
        ]
        own, other = (f"{won} ({won / len(found):.1%})" for won in counts)
        rows.append([kind, len(found), own, interval(counts[0], len(found)), other])
        equal += [
            len(
                {
                    len(translator.tgt_tokenizer.encode(text))
                    for text in (c.right, c.wrong)
                }
            )
            == 1
            for c in found
        ]
    if rows:
        digest = hashlib.sha256(
            (PRETRAINED / MODEL / "model.safetensors").read_bytes()
        ).hexdigest()[:12]
        notes = NOTES.format(
            model=MODEL,
            digest=digest,
            equal=sum(equal),
            all=len(equal),
            machine=machine(),
        )
        header = [
            "kind",
            "contrasts",
            "won",
            "95 % interval (Wilson)",
            "won with another source",
        ]
        write_table(
            "contrasts",
            "Contrasts from the Multi30k validation set, English to French",
            header,
            rows,
            notes,
        )


if __name__ == "__main__":
    main()
