"""What the page "Real French" says of the model that comes along, of its table and of its corpus."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import nbformat
import pytest

import nmt_lib as nmt

ROOT = Path(__file__).resolve().parents[2]
CELLS = nbformat.read(
    ROOT / "notebooks" / "deeper" / "11_real_french.ipynb", as_version=4
).cells


@pytest.fixture(scope="module")
def page() -> dict[str, Any]:
    """The names that its code cells define, run from the first to the last."""
    names: dict[str, Any] = {"nmt": nmt}
    for i, cell in enumerate(CELLS):
        if cell.cell_type == "code" and i != 2:  # without the set-up cell
            exec(compile(cell.source, f"cell {i}", "exec"), names)
    return names


def table(text: str) -> list[list[str]]:
    return [
        [field.strip() for field in line.split("|")[1:-1]]
        for line in text.splitlines()
        if line.startswith("|")
    ]


def prose(part: str) -> str:
    (source,) = [
        cell.source
        for cell in CELLS
        if cell.cell_type == "markdown" and part in cell.source
    ]
    return str(source)


def test_each_model_is_at_home_in_its_own_language(page: dict[str, Any]) -> None:
    cat, woman, chair = (page["real"](text).text for text in page["promised"])
    assert page["tiny"](page["promised"][0]).text == "Le chat a bu le lait." != cat
    assert woman != "La femme jolie est rentrée." and not chair.startswith(
        "Elle s'est assise sur la chaise, elle"
    )
    dogs = page["captions"][0]
    assert (
        page["real"](dogs).text
        == "Deux chiens jouent dans la neige."
        != page["tiny"](dogs).text
    )


def test_attention_crosses_where_adjective_and_noun_do(page: dict[str, Any]) -> None:
    for translation, links, words in zip(
        page["dogs"], page["links"], ("un chien noir", "un petit chien"), strict=True
    ):
        assert translation.text.lower().startswith(words)
        weights = translation.attention.cross[page["layer"]][0].mean(0)  # (T, S)
        assert nmt.alignment_error_rate(weights[:3], links) <= 1 / 3 + 1e-6, (
            "two of three words, at least"
        )


def test_the_dozen_is_nearly_all_won_and_place_by_the_widest_margin(
    page: dict[str, Any],
) -> None:
    real, dozen = page["real"], page["dozen"]
    assert len(dozen) == 12 and all(
        c.right != c.wrong and "[" not in c.right + c.wrong for c in dozen
    )
    assert nmt.contrastive_accuracy(real, dozen) >= 10 / 12
    article, agreement, place = page["mean"]["its own source"]
    assert place > max(article, agreement) + 1 and min(article, agreement) > 1


def test_most_is_won_with_another_source(page: dict[str, Any]) -> None:
    assert all(
        a.src != b.src and a.right == b.right
        for a, b in zip(page["dozen"], page["shuffled"], strict=True)
    )
    assert nmt.contrastive_accuracy(page["real"], page["shuffled"]) >= 9 / 12


def test_couples_share_their_french_or_swap_their_pronoun(page: dict[str, Any]) -> None:
    made = [page["contrast"](*pair) for pair in page["couples"].items()]
    for a, b in zip(made[:4:2], made[1:4:2], strict=True):
        assert (a.right, a.wrong) == (b.wrong, b.right) and a.src != b.src
    for a, b in zip(made[4::2], made[5::2], strict=True):
        assert (
            " elle " in a.right
            and " il " in a.wrong
            and " il " in b.right
            and " elle " in b.wrong
        )
    for c in made:
        assert sorted(
            c.right.lower().replace("elle", "il").strip(".").split()
        ) == sorted(c.wrong.lower().replace("elle", "il").strip(".").split())


def test_who_does_what_is_read_and_the_pronoun_is_a_fixed_taste(
    page: dict[str, Any],
) -> None:
    cat, milk, man, woman, chair, sofa, tent, boat = page["in_couples"]
    assert (
        min(cat, milk, man, woman) > 2 and min(sofa, boat) > 1 and max(chair, tent) < -1
    )


def test_the_check_of_the_exercise_knows_right_and_wrong(page: dict[str, Any]) -> None:
    answer = re.search(
        r"```python\n(.*?)```",
        prose("<details><summary>Answer</summary>\n\n```python"),
        re.DOTALL,
    )
    assert answer
    tries = {
        answer[1]: "right; ",
        "def couples_won(m): return sum(x > 0 for x in m)": "as a whole",
        "def couples_won(m): return sum(x > 0 for x in m) / 2": "as a whole",
        "def couples_won(m): return sum(max(p) > 0 for p in zip(m[::2], m[1::2]))": "it is only half",
        "def couples_won(m): return sum(min(p) > 0 for p in zip(m, m[1:]))": "different couples",
        "def couples_won(m): return sum(min(p) >= 0 for p in zip(m[::2], m[1::2]))": "no win",
    }
    for source, says in tries.items():
        names = dict(page)
        exec(source, names)
        exec(
            next(
                cell.source
                for cell in CELLS
                if cell.source.startswith("def check_couples")
            ),
            names,
        )
        assert says in names["check_couples"](), source


def test_the_table_is_that_of_the_benchmark() -> None:
    stored = (ROOT / "benchmarks" / "results" / "contrasts.md").read_text(
        encoding="utf-8"
    )
    assert table(prose("| kind |"))[2:] == table(stored)[2:]


def test_counts_of_words_in_the_training_captions(real_data: Path) -> None:
    texts = [
        (real_data / "multi30k" / f"train.{lang}").read_text(encoding="utf-8").lower()
        for lang in ("en", "fr")
    ]
    words, _, counts = table(prose("| word |"))
    for word, count in list(zip(words, counts, strict=True))[1:]:
        found = re.findall(rf"\b{word.strip('*')}\b", texts[word.startswith("*")])
        assert len(found) == int(count.replace(",", "")), word
    assert len(re.findall(r"\bit is\b", texts[0])) == 20 and not re.findall(
        r"\bit was\b", texts[0]
    )
    assert len(re.findall(r"\bjolie femme\b", texts[1])) == 8 and not re.findall(
        r"\bfemme jolie\b", texts[1]
    )
