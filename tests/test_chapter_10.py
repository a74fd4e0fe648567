"""What chapter 10 says about models that training made: its students and the trained one."""

from pathlib import Path
from typing import Any

import nbformat
import pytest

import nmt_lib as nmt

CELLS = nbformat.read(Path(__file__).resolve().parent.parent / "notebooks" / "10_evaluation.ipynb", as_version=4).cells


@pytest.fixture(scope="module")
def chapter() -> dict[str, Any]:
    """What its cells define that train the students, score them, and draw contrasts."""
    names: dict[str, Any] = {"nmt": nmt}
    exec("import math, torch\nfrom collections import Counter", names)
    for part in ("students = {}", "def reading_along(", "scored = {", "generate(seed=1)", "won = {"):
        (source,) = [cell.source for cell in CELLS if cell.cell_type == "code" and part in cell.source]
        exec(source, names)
    return names


def test_reading_along_flatters(chapter: dict[str, Any]) -> None:
    words, bleu, sentences = chapter["curves"].values()
    for word, score, sentence in list(zip(words, bleu, sentences, strict=True))[1:5]:
        assert word > score + 5 and word > sentence + 20
    assert bleu[0] < 2 and bleu[1] < 20 < 30 < words[1]
    assert min(words[-1], bleu[-1], sentences[-1]) > 95
    assert 75 < words[4] < 95 and 10 < sentences[4] < 60, "87 % of the words, a third of the sentences"


def test_order_is_learnt_before_gender(chapter: dict[str, Any]) -> None:
    kinds = list(chapter["contrasts"])
    first, last, trained = (dict(zip(kinds, shares, strict=True)) for shares in chapter["won"].values())
    assert all(len(some) == 120 for some in chapter["contrasts"].values())
    assert sum(first.values()) / 4 < 75 and min(trained.values()) >= 90
    assert min(last["roles"], last["adjective place"]) > 90
    assert max(last["agreement"], last["pronoun"]) < min(last["roles"], last["adjective place"])


def test_contrasts_are_equally_long(chapter: dict[str, Any]) -> None:
    encode = chapter["tokenizers"][1].encode
    for some in chapter["contrasts"].values():
        for contrast in some:
            right, wrong = encode(contrast.right), encode(contrast.wrong)
            assert len(right) == len(wrong) and nmt.UNK not in wrong


def test_each_sentence_from_an_article_wins_for_its_source(chapter: dict[str, Any]) -> None:
    (source,) = [cell.source for cell in CELLS if cell.source.startswith("asked = {")]
    exec(source.partition("\nfor ")[0], chapter)
    for src, texts in chapter["asked"].items():
        right, wrong = nmt.sentence_log_probs(chapter["trained"], [nmt.Pair(src, text) for text in texts])
        assert right > wrong + 1, src
