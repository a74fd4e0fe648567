"""What chapter 09 says about heads; the weights differ between processors, so every claim has a margin."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
import torch

import nmt_lib as nmt

CHAPTER = (
    Path(__file__).resolve().parents[2] / "notebooks" / "09_attention_heatmaps.ipynb"
)


@pytest.fixture(scope="module")
def chapter() -> dict[str, Any]:
    """The functions and tables that the chapter defines, from its own cells."""
    translator = nmt.load_or_train("tiny")
    names: dict[str, Any] = {
        "nmt": nmt,
        "torch": torch,
        "translator": translator,
        "model": translator.model,
        "config": translator.config,
        "corpus": nmt.load_corpus(translator.config.data),
        "real": nmt.Translator.load("multi30k-en-de", device="cpu"),
    }
    cells = [
        cell.source
        for cell in nbformat.read(CHAPTER, as_version=4).cells
        if cell.cell_type == "code"
    ]
    for start in (
        "def error_rates",
        "nouns = ",
        "def find",
        "looks = ",
        "def probability",
        "captions = ",
        "shares = ",
    ):
        (source,) = [source for source in cells if source.startswith(start)]
        with torch.no_grad():
            exec(re.sub(r"(?m)^(print|nmt\.plot).*$", "", source), names)
    return names


def test_the_last_layer_aligns_and_rows_off_by_one_spoil_it(
    chapter: dict[str, Any],
) -> None:
    rates = chapter["rates"]  # (n_layers, H)
    assert rates.min() < 0.3 and rates[-1].mean() + 0.15 < rates[0].mean()
    assert chapter["error_rates"](chapter["corpus"].valid[:100], shift=1).min() > 0.6


def test_even_a_perfect_head_misses_second_links(chapter: dict[str, Any]) -> None:
    def floor(links: tuple[tuple[int, int], ...]) -> float:
        right = len(
            {target for _, target in links}
        )  # a link for each word that has one
        return 1 - 2 * right / (1 + max(target for _, target in links) + len(links))

    pairs = chapter["corpus"].valid[:100]
    assert sum(floor(pair.alignment) for pair in pairs) / len(pairs) == pytest.approx(
        0.05, abs=0.005
    )


def test_the_pronoun_follows_the_noun(chapter: dict[str, Any]) -> None:
    for pronoun, nouns in chapter["nouns"].items():
        assert all(pronoun in chapter["read"](noun)[0].tokens for noun in nouns)


def test_closing_some_way_harms_the_pronoun_and_closing_others_does_not(
    chapter: dict[str, Any],
) -> None:
    """Which one differs from training to training: a head of cross-attention, or the decoder."""
    nouns = [noun for group in chapter["nouns"].values() for noun in group]
    closed = [
        "encoder",
        "decoder",
        *(f"head {h}" for h in range(len(chapter["looks"]))),
    ]

    def lowest(way: str) -> float:
        """The smallest probability of a right pronoun."""
        with torch.no_grad():
            return min(chapter["probability"](noun, way) for noun in nouns)

    assert lowest("nothing") > 0.8
    after = [lowest(way) for way in closed]
    assert (
        min(after) < lowest("nothing") - 0.15 and max(after) > lowest("nothing") - 0.05
    )


def test_the_larger_model_aligns_in_its_last_layers(chapter: dict[str, Any]) -> None:
    shares = chapter[
        "shares"
    ]  # (n_layers, H + 1): the last column is the mean of the heads
    assert 22 <= len(chapter["right"]) <= 31
    assert shares[-2:, -1].min() > 0.8 and shares[0].max() < 0.4
    assert (shares[-2:, -1] >= shares[-2:, :-1].max(-1).values).all()
