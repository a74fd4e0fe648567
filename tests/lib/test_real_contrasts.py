"""The rules that turn French captions into wrong ones, on sentences of our own."""

from pathlib import Path

import pytest

import nmt_lib as nmt
from benchmarks import contrasts

RESULTS = Path(__file__).resolve().parents[2] / "benchmarks/results"
TABLE = (RESULTS / "contrasts.md").read_text(encoding="utf-8")

CASES = [  # rule, right, what it makes of it
    ("article", "Une rue, un mur.", "Un rue, un mur.|Une rue, une mur."),
    ("article", "Des gens dans la rue.", "Des gens dans le rue."),
    ("agreement", "Elle porte une robe noire.", "Elle porte une robe noir."),
    ("agreement", "Deux petites filles.", "Deux petits filles."),
    ("agreement", "Deux gros chiens.", "Deux grosses chiens."),
    ("agreement", "Un petit mur brun.", "Un petit mur brune.|Un petite mur brun."),
    ("agreement", "Il a des cheveux gris.", "Il a des cheveux grises."),
    ("place", "Un gros chien noir court.", "Un gros noir chien court."),
    ("place", "Elle lave des chemises rouges.", "Elle lave des rouges chemises."),
    # Both genders exist; the noun does not follow; a mistake of the reference; one
    # form for both genders; a compound.
    ("article", "Un enfant et une élève.", ""),
    ("article", "Une jeune femme.", ""),
    ("article", "Un rue.", ""),
    ("article", "Les femmes, des rues, l'homme.", ""),
    ("article", "Un homme-sandwich.", ""),
    # One form for both genders; "noire" is right, too; no agreement; agreement with
    # both nouns; a mistake of the reference.
    ("agreement", "Une robe rouge, un chien jaune.", ""),
    ("agreement", "Une veste en cuir noir.", ""),
    ("agreement", "Une robe bleu clair, une veste vert foncé.", ""),
    ("agreement", "Un chien noir et blanc.", ""),
    ("agreement", "Une chemise et un pantalon noirs.", ""),
    ("agreement", "Un pantalon blancs.", ""),
    # "Une blonde femme" may be said; these are before the noun; the article would
    # change, too.
    ("place", "Une femme blonde.", ""),
    ("place", "Un petit chien, une grande rue.", ""),
    ("place", "L'écharpe verte.", ""),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "right", "wrong"), CASES)
def test_what_a_rule_makes_and_what_it_leaves_alone(
    rule: str, right: str, wrong: str
) -> None:
    made = getattr(contrasts, f"wrong_{rule}s")(right)
    assert sorted(made) == sorted(filter(None, wrong.split("|")))


def test_the_draw_is_repeated_by_its_seed_and_changes_one_thing() -> None:
    starts = "Un homme noir", "Une fille brune", "Deux chevaux gris"
    ends = "un grand mur blanc", "la petite voiture rouge", "des oiseaux violets"
    texts = [f"{start} regarde {end}." for start in starts for end in ends]
    pairs = [nmt.Pair(str(i), text) for i, text in enumerate(texts)]
    made = contrasts.contrasts(pairs)
    assert made == contrasts.contrasts(pairs) != contrasts.contrasts(pairs, seed=1)
    for kind, some in made.items():
        assert some
        for one in some:
            assert one.right == texts[int(one.src)]
            words = zip(one.right[:-1].split(), one.wrong[:-1].split(), strict=True)
            differ = [pair for pair in words if len(set(pair)) == 2]
            assert len(differ) == (2 if kind == "adjective place" else 1)


def test_no_noun_has_two_genders() -> None:
    words = " ".join(contrasts.NOUNS.values()).split()
    assert len(words) == len(set(words))
    assert not {"enfant", "élève", "livre", "tour", "cycliste", "porte"} & set(words)


def test_wilson_interval() -> None:
    """Against published values, and at the ends, where mean ± deviation fails."""
    assert contrasts.interval(50, 100) == "40.4% to 59.6%"
    assert contrasts.interval(10, 10) == "72.2% to 100.0%"


def test_the_table_is_that_of_the_model_that_comes_along() -> None:
    model = nmt.Translator.load(contrasts.MODEL, device="cpu").model
    assert f"weights {contrasts.digest(model)}." in TABLE
    lines = [line for line in TABLE.splitlines() if line.startswith("| ")]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[2:]]
    assert [row[0] for row in rows] == list(contrasts.RULES)
    for _, n, won, interval, _ in rows:
        assert interval == contrasts.interval(int(won.split()[0]), int(n))
        assert float(interval.split("%")[0]) > 80, "much more than a coin wins"
