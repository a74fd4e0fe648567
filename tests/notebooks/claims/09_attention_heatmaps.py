"""What chapter 09 says about heads, with room for another processor."""

from typing import Any

import torch


def test_the_last_layer_aligns_and_rows_off_by_one_spoil_it(chapter: Any) -> None:
    rates = chapter.rates  # (n_layers, H)
    assert rates.min() < 0.3 and rates[-1].mean() + 0.15 < rates[0].mean()
    assert chapter.shifted.min() > 0.6


def test_even_a_perfect_head_misses_second_links(chapter: Any) -> None:
    rates = []
    for pair in chapter.corpus.valid[:100]:
        targets = {target for _, target in pair.alignment}
        # It finds one link for each word that has any.
        n_found = 1 + max(targets)
        rates.append(1 - 2 * len(targets) / (n_found + len(pair.alignment)))
    assert 0.045 < sum(rates) / len(rates) < 0.055


def test_the_eight_sentences_have_their_pronoun(chapter: Any) -> None:
    for pronoun, several in chapter.scenes.items():
        assert all(pronoun in scene.text.split() for scene in several)


@torch.no_grad()
def test_two_paths_stand_in_for_each_other(chapter: Any) -> None:
    """The encoder's is not needed; without both others, one of the pronouns falls."""
    rows = [(), ("encoder",), ("cross-attention", "decoder")]
    nothing, encoder, both = chapter.check.means(
        chapter.probability, chapter.scenes, rows
    )
    assert nothing.min() > 0.9 and encoder.min() > 0.9
    assert both.min() < 0.6 < both.max()


@torch.no_grad()
def test_in_our_run_head_2_looks_at_the_noun_and_only_its_cut_harms(
    chapter: Any,
) -> None:
    assert chapter.looks.tolist() == [0, 0, 8, 0]
    alone = dict(zip(chapter.check.names(chapter.single), chapter.alone, strict=True))
    assert alone.pop("head 2")[0] < 0.7
    assert all(row.min() > 0.9 for row in alone.values())
    cross, decoder, both = chapter.together
    assert both[0] < cross[0] - 0.05 and decoder.min() > 0.9
    chosen = ("head 2", "adjective")
    row = chapter.check.means(chapter.probability, chapter.scenes, [chosen])[0]
    assert row[0] > chapter.alone[chapter.single.index(("head 2",))][0] + 0.1


def test_heads_find_half_of_the_words_in_a_nonsense_sentence(chapter: Any) -> None:
    assert sum(chapter.both) >= 0.4 * len(chapter.both) >= 1


def test_the_larger_model_aligns_in_its_last_layers(chapter: Any) -> None:
    shares = chapter.shares  # (n_layers, H + 1): the last column is the heads' mean
    assert 22 <= len(chapter.right) <= 31
    assert shares[-2:, -1].min() > 0.8 and shares[0].max() < 0.4
    assert (shares[-2:, -1] >= shares[-2:, :-1].max(-1).values).all()
    assert chapter.cook.text.endswith("Küche Gemüse.")
