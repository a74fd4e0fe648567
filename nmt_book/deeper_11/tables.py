"""Does the bundled model know the gender of French nouns and the position of
adjectives? Contrasts made from real captions.

Rules turn validation references into wrong ones with one mistake each; the model wins
where it gives the reference the higher probability. The rules are strict: a noun must
be in a list, its article or adjective must agree with it, and a change that could be
right in another reading is left out.
Run: ``NMT_DATA=… python -m nmt_book.deeper_11.tables``
"""

from __future__ import annotations

import hashlib
import math
import random
import re
from collections.abc import Sequence

import nmt_lib as nmt

from .. import benchmark

# Left out: nouns with two genders (enfant, élève, soldat, livre …), nouns spelt like a
# verb (porte), nouns in -s.
NOUNS = {
    "m": """homme garçon chien cheval taureau oiseau animal éléphant groupe père vendeur
    joueur ouvrier chanteur skieur coureur nageur bâtiment mur banc parc lac magasin
    restaurant bar marché trottoir chemin pont toit champ terrain ballon vélo bateau
    train camion avion tracteur chariot casque chapeau bonnet costume pantalon manteau
    maillot gilet pull short jean tablier chemisier uniforme débardeur sac seau bol
    verre couteau gâteau plateau panneau drapeau parapluie jouet tambour violon piano
    micro instrument match concert spectacle défilé chantier fauteuil canapé lit bureau
    rocher ruisseau arbre cheveu sourire kayak bâton marathon métro ciel sol sable polo
    tatouage collier caniche T-shirt poteau balai frisbee poney barbecue incendie""",
    "f": """femme fille dame mère mariée foule personne serveuse danseuse rue route
    ville plage piscine fontaine rivière montagne colline forêt falaise pente piste
    pelouse barrière rampe table chaise chambre maison cabane tente église statue
    voiture moto planche poussette chemise veste robe jupe casquette écharpe combinaison
    cape tenue ceinture chaussure lunette sandale botte couverture serviette guitare
    caméra photo peinture musique chanson scène balle corde pancarte banderole bannière
    boule machine bouteille fleur branche feuille neige boue fumée nourriture main tête
    jambe barbe fenêtre vitrine cuisine salle journée fête course compétition
    manifestation promenade équipe famille perche queue ombrelle visière paroi épée
    étendue lettre tache""",
}
# Masculine and feminine; a single word is the form for both.
COLOURS = "blanc/blanche noir/noire vert/verte bleu/bleue gris/grise violet/violette "
COLOURS += "brun/brune"
BLOND, FIXED = "blond/blonde", "rouge jaune rose"
SIZES = "petit/petite grand/grande gros/grosse long/longue"

Form = tuple[str, bool, str]  # gender, whether plural, the form that agrees


def plural(word: str) -> str:
    if word.endswith("al"):
        return word.removesuffix("l") + "ux"
    if word.endswith("s"):
        return word
    return word + ("x" if word.endswith("eau") or word == "cheveu" else "s")


def other_forms(*adjectives: str) -> dict[Form, str]:
    """Each form of the adjectives, and the same form in the other gender."""
    table: dict[Form, str] = {}
    for pair in " ".join(adjectives).split():
        masculine, _, feminine = pair.partition("/")
        for is_plural in (False, True):
            m, f = masculine, feminine or masculine
            if is_plural:
                m, f = plural(m), plural(f)
            table |= {("m", is_plural, m): f, ("f", is_plural, f): m}
    return table


# Form of a noun → its gender, and whether it is a plural.
KINDS_OF = {
    plural(noun) if is_plural else noun: (gender, is_plural)
    for gender, nouns in NOUNS.items()
    for noun in nouns.split()
    for is_plural in (False, True)
}
OTHER_ARTICLE = {"un": "une", "une": "un", "le": "la", "la": "le"}
AGREE = other_forms(COLOURS, BLOND, SIZES)
# Without "blond": "les blondes filles" is one way to say it.
PLACED = other_forms(COLOURS, FIXED)
DETERMINER = (
    r"(?<![\w'’-])(?:une?|l[ea]s?|des|deux|trois|quatre|cinq|plusieurs|sa|ses|leurs?)"
    r"(?: (?:jeune|autre|petite?|grande?|gros|grosse|longue?)s?)?"
)
END = r"(?![\w'’-])"
HUES = "|".join(form for *_, form in other_forms(COLOURS, BLOND, FIXED))
QUALIFIER = "et|ou|à|clair|foncé|marine|ciel|vif|pâle|turquoise|pomme|fluo"
ALONE = rf"{END}(?!,? (?:{QUALIFIER}|{HUES})\b)"
ARTICLE = re.compile(rf"(?<![\w'’-])(une?|l[ea]) ([\w-]+){END}", re.IGNORECASE)
# "un chien noir", "petit chien"
AFTER = re.compile(rf"{DETERMINER} ([\w-]+) (\w+){ALONE}", re.IGNORECASE)
BIG = "|".join(form for *_, form in other_forms(SIZES))
BEFORE = re.compile(rf"(?<![\w'’-])({BIG}) (\w+){END}")


def put(text: str, span: tuple[int, int], words: str) -> str:
    return text[: span[0]] + words + text[span[1] :]


def wrong_articles(text: str) -> list[str]:
    """ "Une femme" → "Un femme", where the article agrees with the noun after it."""
    sentences = []
    for match in ARTICLE.finditer(text):
        article = match[1].lower()
        gender = "f" if article in ("une", "la") else "m"
        if KINDS_OF.get(match[2]) == (gender, False):
            opposite = OTHER_ARTICLE[article]
            opposite = opposite.capitalize() if match[1][0].isupper() else opposite
            sentences.append(put(text, match.span(1), opposite))
    return sentences


def wrong_agreements(text: str) -> list[str]:
    """ "une robe noire" → "une robe noir".

    A determiner must be near: in "une veste en cuir noir", the jacket or the leather
    may be black.
    """
    matches = [(match, 1, 2) for match in AFTER.finditer(text)]
    matches += [(match, 2, 1) for match in BEFORE.finditer(text)]
    return [
        put(text, match.span(adjective), AGREE[key])
        for match, noun, adjective in matches
        if (key := (*KINDS_OF.get(match[noun], ("", False)), match[adjective])) in AGREE
    ]


def wrong_places(text: str) -> list[str]:
    """ "un chien noir" → "un noir chien"."""
    return [
        put(text, (match.start(1), match.end(2)), f"{match[2]} {match[1]}")
        for match in AFTER.finditer(text)
        if (*KINDS_OF.get(match[1], ("", False)), match[2]) in PLACED
    ]


MODEL = "multi30k-en-fr"
RULES = {
    "article": wrong_articles,
    "agreement": wrong_agreements,
    "adjective place": wrong_places,
}


def contrasts(pairs: Sequence[nmt.Pair]) -> dict[str, list[nmt.Contrast]]:
    """Kind → at most one contrast a caption, drawn where a rule applies twice."""
    draw, kinds = random.Random(0), {}
    for kind, rule in RULES.items():
        wrong = [(pair, rule(pair.tgt)) for pair in pairs]
        kinds[kind] = [
            nmt.Contrast(pair.src, pair.tgt, draw.choice(texts))
            for pair, texts in wrong
            if texts
        ]
    return kinds


def interval(won: int, n: int, z: float = 1.96) -> str:
    """Wilson's 95 % interval of a proportion; never below 0 or above 1."""
    middle, wide = won + z * z / 2, z * math.sqrt(won * (n - won) / n + z * z / 4)
    return f"{(middle - wide) / (n + z * z):.1%} to {(middle + wide) / (n + z * z):.1%}"


def digest(model: nmt.Transformer) -> str:
    """A digest of the weights, independent of the file format."""
    weights = sorted(model.named_parameters())
    data = b"".join(weight.detach().numpy().tobytes() for _, weight in weights)
    return hashlib.sha256(data).hexdigest()[:12]


def main() -> None:
    benchmark.parse()
    data = benchmark.load_config("multi30k", **{"data.tgt_lang": "fr"}).data
    kinds = contrasts(nmt.load_corpus(data).valid)
    translator, rows, equal = nmt.Translator.load(MODEL, device="cpu"), [], []
    encode = translator.tgt_tokenizer.encode
    for kind, group in kinds.items():
        n, sources = len(group), [c.src for c in group]
        couples = zip(sources[1:] + sources[:1], group, strict=True)
        controls = [nmt.Contrast(src, c.right, c.wrong) for src, c in couples]
        wins, control_wins = (
            round(nmt.contrastive_accuracy(translator, sort) * n)
            for sort in (group, controls)
        )
        shares = [f"{won} ({won / n:.1%})" for won in (wins, control_wins)]
        rows.append([kind, n, shares[0], interval(wins, n), shares[1]])
        equal += [len(encode(c.right)) == len(encode(c.wrong)) for c in group]
    benchmark.write_table(
        "contrasts",
        "Contrasts from the Multi30k validation set, English to French",
        "kind | contrasts | won | 95 % interval (Wilson) | won with another source",
        rows,
        f"Model: `{MODEL}`, weights {digest(translator.model)}. A contrast is won if "
        "the model gives the reference a higher probability than the same sentence "
        "with one mistake. With another source: as translations of the next caption of "
        "the list, so what is won there is won by knowing French. Right and wrong have "
        f"equally many subwords in {sum(equal)} of {len(equal)}.",
    )


if __name__ == "__main__":
    main()
