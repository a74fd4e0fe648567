"""What the page "Real French" says of its model, its table and its corpus."""

import re
from pathlib import Path
from typing import Any

import nbformat
import pytest

import nmt_lib as nmt

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "notebooks/deeper/11_real_french.ipynb"
CELLS = nbformat.read(PAGE, as_version=4).cells
TEXT = "\n\n".join(cell.source for cell in CELLS if cell.cell_type == "markdown")


@pytest.fixture(scope="module")
def page() -> dict[str, Any]:
    """The names that its code cells define, run from the first to the last."""
    names: dict[str, Any] = {"nmt": nmt}
    for cell in CELLS:
        if cell.cell_type == "code" and "%pip" not in cell.source:
            exec(cell.source, names)
    return names


def table(text: str, first: str) -> list[list[str]]:
    """The lines of the table that begins with these words, without its head."""
    lines = text[text.index(first) :].split("\n\n")[0].splitlines()
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[2:]]


def test_each_model_is_at_home_in_its_own_language(page: dict[str, Any]) -> None:
    cat, woman, chair = (page["real"](text).text for text in page["promised"])
    assert page["tiny"](page["promised"][0]).text == "Le chat a bu le lait." != cat
    assert woman != "La femme jolie est rentrée."
    assert not chair.startswith("Elle s'est assise sur la chaise, elle")
    dogs = page["captions"][0]
    expected = "Deux chiens jouent dans la neige."
    assert page["real"](dogs).text == expected != page["tiny"](dogs).text


def test_attention_crosses_where_adjective_and_noun_do(page: dict[str, Any]) -> None:
    words = "un chien noir", "un petit chien"
    for dog, links, said in zip(page["dogs"], page["links"], words, strict=True):
        assert dog.text.lower().startswith(said)
        weights = dog.attention.cross[page["layer"]][0].mean(0)  # (T, S)
        assert nmt.alignment_error_rate(weights[:3], links) < 0.34, "two of three words"


def test_the_dozen_is_nearly_all_won_and_most_with_another_source(
    page: dict[str, Any],
) -> None:
    assert len(page["dozen"]) == 12
    assert nmt.contrastive_accuracy(page["real"], page["dozen"]) >= 10 / 12
    article, agreement, place = page["mean"]["its own source"]
    assert place > max(article, agreement) + 1 and min(article, agreement) > 1
    for a, b in zip(page["dozen"], page["shuffled"], strict=True):
        assert a.src != b.src and (a.right, a.wrong) == (b.right, b.wrong)
    assert nmt.contrastive_accuracy(page["real"], page["shuffled"]) >= 9 / 12


def test_couples_share_their_french_or_swap_their_pronoun(page: dict[str, Any]) -> None:
    made = [page["contrast"](*pair) for pair in page["couples"].items()]
    for i, (a, b) in enumerate(zip(made[::2], made[1::2], strict=True)):
        if i < 2:
            assert (a.right, a.wrong) == (b.wrong, b.right) and a.src != b.src
        else:
            assert " elle " in a.right and " il " in a.wrong
            assert " il " in b.right and " elle " in b.wrong
    cat, milk, man, woman, chair, sofa, tent, boat = page["in_couples"]
    assert min(cat, milk, man, woman) > 2, "who does what is read"
    assert min(sofa, boat) > 1 and max(chair, tent) < -1, "the pronoun is a fixed taste"


def test_the_table_is_that_of_the_benchmark() -> None:
    results = ROOT / "benchmarks/results/contrasts.md"
    stored = results.read_text(encoding="utf-8")
    assert table(TEXT, "| kind |") == table(stored, "| kind |")


def test_counts_of_words_in_the_training_captions(real_data: Path) -> None:
    english, french = (
        (real_data / f"multi30k/train.{lang}").read_text(encoding="utf-8").lower()
        for lang in ("en", "fr")
    )
    start = TEXT.index("| word |")
    words, _, counts = [
        [cell.strip() for cell in line.split("|")[2:-1]]
        for line in TEXT[start:].split("\n\n")[0].splitlines()
    ]
    expected = {
        "it is": 20,
        "it was": 0,
        "*jolie femme*": 8,
        "*femme jolie*": 0,
        **{
            word: int(n.replace(",", "")) for word, n in zip(words, counts, strict=True)
        },
    }
    for word, count in expected.items():
        text = french if word.startswith("*") else english
        assert len(re.findall(rf"\b{word.strip('*')}\b", text)) == count, word


def test_couples_by_source_cannot_be_won_blind_and_pronouns_are_a_taste(
    page: dict[str, Any],
) -> None:
    without = page["without"]
    for first, second in zip(without[:4:2], without[1:4:2], strict=True):
        assert first == pytest.approx(-second, abs=0.01), "the same two sentences"
    assert max(without[4::2]) < -1 and min(without[5::2]) > 1, "il, as with its own"
    singing = [
        nmt.Contrast("A woman is singing.", c.right, c.wrong) for c in page["pairs"]
    ]
    chair, sofa = page["margins"](page["real"], singing)[4:6]
    assert chair > 1 and sofa < -1, "elle for both"
    museum, hand, school = page["trapped"]
    assert min(museum, hand) > 2 and school < -2
