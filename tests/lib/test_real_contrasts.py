"""The rules that turn French captions into wrong ones, on sentences of our own: one fault each, and really a fault."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import nmt_lib as nmt
from nmt_lib.translator import PRETRAINED

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))
import contrasts  # noqa: E402

ARTICLE, AGREEMENT, PLACE = (
    contrasts.wrong_articles,
    contrasts.wrong_agreements,
    contrasts.wrong_places,
)
WRONG: list[tuple[Callable[[str], list[str]], str, list[str]]] = [
    (
        ARTICLE,
        "Une femme lit sur un banc.",
        ["Un femme lit sur un banc.", "Une femme lit sur une banc."],
    ),
    (ARTICLE, "Des gens dans la rue.", ["Des gens dans le rue."]),
    (ARTICLE, "Il lave un T-shirt.", ["Il lave une T-shirt."]),
    (AGREEMENT, "Elle porte une robe noire.", ["Elle porte une robe noir."]),
    (AGREEMENT, "Deux petites filles.", ["Deux petits filles."]),
    (AGREEMENT, "Deux gros chiens.", ["Deux grosses chiens."]),
    (
        AGREEMENT,
        "Un petit chien brun dort.",
        ["Un petit chien brune dort.", "Un petite chien brun dort."],
    ),
    (AGREEMENT, "Il a des cheveux gris.", ["Il a des cheveux grises."]),
    (AGREEMENT, "Elle a les cheveux blancs.", ["Elle a les cheveux blanches."]),
    (PLACE, "Un chien noir court.", ["Un noir chien court."]),
    (PLACE, "Un gros chien noir court.", ["Un gros noir chien court."]),
    (PLACE, "Elle lave des chemises rouges.", ["Elle lave des rouges chemises."]),
]
LEFT_ALONE = [
    (ARTICLE, "Un enfant et une élève."),  # both genders exist
    (ARTICLE, "Une jeune femme."),  # the noun does not follow
    (ARTICLE, "Un rue."),  # a reference with a fault of its own
    (ARTICLE, "Les femmes, des rues, l'homme."),  # one form for both genders
    (ARTICLE, "Un homme-sandwich."),
    (AGREEMENT, "Une robe rouge, un chien jaune."),  # one form for both genders
    (AGREEMENT, "Une veste en cuir noir."),  # "noire" is right, too
    (AGREEMENT, "Une robe bleu clair, une veste vert foncé."),  # does not agree
    (AGREEMENT, "Un chien noir et blanc."),
    (AGREEMENT, "Une chemise et un pantalon noirs."),  # agrees with both
    (AGREEMENT, "Un pantalon blancs."),  # a reference with a fault of its own
    (AGREEMENT, "Un petit enfant, une photo en noir."),
    (PLACE, "Une femme blonde."),  # "une blonde femme" may be said
    (PLACE, "Un petit chien, une grande rue."),  # these stand in front
    (PLACE, "Un drapeau rouge, blanc et bleu."),
    (PLACE, "L'écharpe verte."),  # the article would change, too
]


@pytest.mark.parametrize(("rule", "right", "wrong"), WRONG)
def test_what_a_rule_makes(
    rule: Callable[[str], list[str]], right: str, wrong: list[str]
) -> None:
    assert sorted(rule(right)) == sorted(wrong)


@pytest.mark.parametrize(("rule", "text"), LEFT_ALONE)
def test_what_a_rule_leaves_alone(rule: Callable[[str], list[str]], text: str) -> None:
    assert rule(text) == []


STARTS = [
    "Un homme noir",
    "Une fille brune",
    "Deux chevaux gris",
    "Trois filles blondes",
]
ENDS = [
    "un grand mur blanc",
    "la petite voiture rouge",
    "le bateau",
    "des oiseaux violets",
]
CAPTIONS = [f"{start} regarde {end}." for start in STARTS for end in ENDS]


def changed(right: str, wrong: str) -> list[tuple[int, str, str]]:
    """Where words differ, before and after."""
    a, b = (text.replace(".", " .").split() for text in (right, wrong))
    return [
        (i, *pair)
        for i, pair in enumerate(zip(a, b, strict=True))
        if pair[0] != pair[1]
    ]


def test_a_wrong_caption_differs_as_promised_and_in_nothing_else() -> None:
    found = contrasts.contrasts(
        [nmt.Pair(f"caption {i}", text) for i, text in enumerate(CAPTIONS)]
    )
    assert {kind: len(some) for kind, some in found.items()} == {
        "article": 10,
        "agreement": 16,
        "adjective place": 15,
    }
    articles = {
        ("un", "une"),
        ("une", "un"),
        ("le", "la"),
        ("la", "le"),
        ("Un", "Une"),
        ("Une", "Un"),
    }
    forms = {(form, other) for (_, _, form), other in contrasts.AGREE.items()}
    for kind, some in found.items():
        for contrast in some:
            assert contrast.right == CAPTIONS[int(contrast.src.split()[1])]
            (first, before, after), *rest = changed(contrast.right, contrast.wrong)
            if kind == "adjective place":  # two neighbours change places
                assert rest == [(first + 1, after, before)]
            else:
                assert not rest and (before, after) in (
                    articles if kind == "article" else forms
                )


def test_the_draw_is_repeated_by_its_seed() -> None:
    pairs = [nmt.Pair("", text) for text in CAPTIONS]
    assert (
        contrasts.contrasts(pairs)
        == contrasts.contrasts(pairs)
        != contrasts.contrasts(pairs, seed=1)
    )


def test_no_noun_has_two_genders_and_every_form_has_another() -> None:
    masculine, feminine = (
        {f for f, (g, _) in contrasts.KINDS_OF.items() if g == gender}
        for gender in "mf"
    )
    words = " ".join(contrasts.NOUNS.values()).split()
    assert len(words) == len(set(words)) and not masculine & feminine
    assert not {"enfant", "élève", "livre", "tour", "cycliste", "porte"} & set(words)
    assert {"chevaux", "animaux", "bateaux", "cheveux", "robes"} <= set(
        contrasts.KINDS_OF
    )
    assert all(form != other for (_, _, form), other in contrasts.AGREE.items())


def test_wilson_interval() -> None:
    """Against published values, and at the ends, where mean ± deviation fails."""
    assert contrasts.interval(50, 100) == "40.4% to 59.6%"
    assert contrasts.interval(10, 10) == "72.2% to 100.0%"
    assert contrasts.interval(0, 10) == "0.0% to 27.8%"


def test_the_table_is_that_of_the_model_that_comes_along() -> None:
    text = (ROOT / "benchmarks/results/contrasts.md").read_text(encoding="utf-8")
    weights = (PRETRAINED / contrasts.MODEL / "model.safetensors").read_bytes()
    assert f"weights {hashlib.sha256(weights).hexdigest()[:12]}." in text


def test_all_of_the_table_is_won_by_more_than_a_coin() -> None:
    lines = (
        (ROOT / "benchmarks/results/contrasts.md")
        .read_text(encoding="utf-8")
        .splitlines()
    )
    rows = [
        [cell.strip() for cell in line.split("|")[1:-1]]
        for line in lines
        if line.startswith("| ")
    ][2:]
    assert [row[0] for row in rows] == list(contrasts.RULES)
    for _, n, won, interval, _ in rows:
        assert (
            interval == contrasts.interval(int(won.split()[0]), int(n))
            and float(interval.split("%")[0]) > 80
        )
